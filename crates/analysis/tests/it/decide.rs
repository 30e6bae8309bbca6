//! What is decided from capacities and prices, in figures that are easily checked by hand.

use loadline_analysis::result::{Capacities, CellCapacity, Role, RunResult};
use loadline_analysis::{analyse, decide};
use loadline_model::CellId;
use loadline_model::decision::{CostOption, DayProfile, Decision, PlatformPrices, Prices, Turn};
use loadline_model::platform::Limits;

use crate::made_up::MadeUp;

/// Hours of a month.
const MONTH: f64 = 24.0 * 30.4;

/// A run of `host`, which carries 100/s, and `pod`, which carries 50/s.
fn searched() -> RunResult {
    let mut result = analyse(&MadeUp::default().data());
    let capacity = |platform: &str, rate: f64, interval| CellCapacity {
        cell: CellId(
            result
                .cells
                .iter()
                .position(|cell| cell.platform == platform && cell.role != Role::Twin)
                .expect("a cell"),
        ),
        rate_per_second: Some(rate),
        interval: Some(interval),
        lower_bound: None,
        upper_bound: None,
        conditional_throughput: None,
        for_longer: None,
        carried_per_second: Some(interval[0]),
        slice_s: None,
        knee: None,
        limited_by: None,
        generator_limit: None,
        trials: 10,
        findings: Vec::new(),
        curve: Vec::new(),
    };
    let cells = vec![capacity("host", 100.0, [90.0, 110.0]), capacity("pod", 50.0, [49.0, 51.0])];
    result.capacities = Some(Capacities {
        objectives: Vec::new(),
        precision: 0.1,
        cells,
        differences: Vec::new(),
        at_the_same_rate: Vec::new(),
        at_their_own: Vec::new(),
    });
    result
}

fn price(name: &str, cpu_hour: f64, cluster_hour: f64) -> PlatformPrices {
    let replica = Limits { cpus: Some(1.0), memory_bytes: None };
    PlatformPrices {
        name: name.to_owned(),
        cpu_hour,
        gib_hour: 0.0,
        replica,
        cluster_hour,
        engineer_hours: 0.0,
    }
}

fn decided(per_second: f64, spare: u32, platforms: [PlatformPrices; 2]) -> Decision {
    let prices = Prices {
        currency: "EUR".to_owned(),
        headroom: 0.2,
        spare,
        engineer_hour: 0.0,
        platforms: platforms.to_vec(),
    };
    decide(&searched(), &DayProfile { per_second: vec![per_second; 24] }, &prices)
        .expect("capacities and prices")
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-3 * expected.abs(), "{found}, not {expected}");
}

#[test]
fn replicas_cost_and_headroom_are_those_of_the_arithmetic() {
    let decision = decided(80.0, 0, [price("host", 1.0, 0.0), price("pod", 0.25, 0.0)]);
    let [pod, host] = &decision.options[..] else { panic!("{:?}", decision.options) };
    assert_eq!([&*pod.platform, &*host.platform], ["pod", "host"], "the cheapest first");
    // 80/s with a fifth of each replica free: one of 100/s, two of 50/s.
    assert_eq!((host.replicas.clone(), pod.replicas.clone()), (vec![1; 24], vec![2; 24]));
    assert_near(host.monthly_cost, MONTH);
    assert_near(pod.monthly_cost, 2.0 * 0.25 * MONTH);
    // A replica that carries 90/s does not have a fifth free.
    assert_eq!(host.monthly_interval.map(|cost| (cost / MONTH).round()), [1.0, 2.0]);
    assert_near(pod.headroom, 0.2);
    assert_near(pod.headroom_one_lost, 1.0 - 80.0 / 50.0);
    assert_eq!(host.headroom_one_lost, -1.0, "nothing is left");
}

#[test]
fn spare_replicas_are_kept_beside_what_the_load_needs() {
    let decision = decided(80.0, 1, [price("host", 1.0, 0.0), price("pod", 0.25, 0.0)]);
    let most = |option: &CostOption| option.replicas[0];
    let mut replicas: Vec<u32> = decision.options.iter().map(most).collect();
    replicas.sort_unstable();
    assert_eq!(replicas, [2, 3]);
}

#[test]
fn the_load_at_which_another_platform_costs_least_is_found_above_and_below() {
    // A cluster that costs something by itself, and half as much for each request.
    let prices = || [price("host", 0.2, 0.0), price("pod", 0.05, 0.28)];
    let large = decided(800.0, 0, prices());
    assert_eq!(large.options[0].platform, "pod");
    // At 160/s: two of host for 0.40 an hour, four of pod for 0.20 and the cluster for 0.28; above, three of host for 0.60, five of pod for 0.53.
    let below = large.turns.iter().find_map(|turn| match turn {
        Turn::LessLoad { label, times } if label.contains("host") => Some(*times),
        _ => None,
    });
    assert_near(below.expect("host costs least at a low load"), 160.0 / 800.0);
    let small = decided(80.0, 0, prices());
    assert_eq!(small.options[0].platform, "host");
    let above = small.turns.iter().find_map(|turn| match turn {
        Turn::Load { label, times } if label.contains("pod") => Some(*times),
        _ => None,
    });
    assert_near(above.expect("pod costs least at a high load"), 160.0 / 80.0);
}
