//! What is decided from capacities and prices, in figures that are easily checked by hand.

use loadline_analysis::result::{Capacities, Cell, CellCapacity, Role, RunResult};
use loadline_analysis::{Undecidable, analyse, decide};
use loadline_model::CellId;
use loadline_model::decision::{
    Alternatives, CostOption, DayProfile, PlatformPrices, Prices, TurnOf, WhyLeftOut,
};
use loadline_model::platform::Limits;

use crate::made_up::MadeUp;

/// Hours of a month.
const MONTH: f64 = 24.0 * 30.4;

/// A run of `host`, which carries 100/s, and `pod`, which carries 50/s.
fn searched() -> RunResult {
    let mut result = analyse(&MadeUp::default().data());
    let capacity = |platform: &str, rate: f64, interval: [f64; 2]| {
        let is_asked = |cell: &&Cell| cell.platform == platform && cell.role != Role::Twin;
        CellCapacity {
            cell: result.cells.iter().find(is_asked).expect("a cell").id,
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
        }
    };
    let cells = vec![capacity("host", 110.0, [100.0, 120.0]), capacity("pod", 55.0, [50.0, 60.0])];
    result.capacities = Some(Capacities {
        objectives: vec!["p99 <= 50ms".to_owned()],
        bounds: Vec::new(),
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

fn prices(spare: u32, platforms: [PlatformPrices; 2]) -> Prices {
    let (currency, platforms) = ("EUR".to_owned(), platforms.to_vec());
    Prices { currency, headroom: 0.2, spare, engineer_hour: 0.0, platforms }
}

fn at_all_hours(per_second: f64) -> DayProfile {
    DayProfile { per_second: vec![per_second; 24] }
}

fn decided(per_second: f64, spare: u32, platforms: [PlatformPrices; 2]) -> Alternatives {
    let decision = decide(&searched(), &at_all_hours(per_second), &prices(spare, platforms));
    let groups = decision.expect("capacities and prices").groups;
    groups.into_iter().next().expect("a service")
}

/// What would have to be different for a platform to cost least.
fn turn(of: &Alternatives, platform: &str, pick: fn(TurnOf) -> Option<f64>) -> Option<f64> {
    of.turns.iter().filter(|turn| turn.label == platform).find_map(|turn| pick(turn.what))
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
    // Replicas that carry 60/s have a fifth free with two as well.
    assert_eq!(pod.monthly_interval.map(|cost| (4.0 * cost / MONTH).round()), [2.0, 2.0]);
    assert_near(pod.headroom, 0.2);
    assert_near(pod.headroom_one_lost[0], 1.0 - 80.0 / 50.0);
    assert_eq!(host.headroom_one_lost, [-1.0; 24], "nothing is left");
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
    let load = |of: TurnOf| if let TurnOf::Load(times) = of { Some(times) } else { None };
    let below = turn(&large, "host", load);
    assert_near(below.expect("host costs least at a low load"), 160.0 / 800.0);
    let small = decided(80.0, 0, prices());
    assert_eq!(small.options[0].platform, "host");
    let above = turn(&small, "pod", load);
    assert_near(above.expect("pod costs least at a high load"), 160.0 / 80.0);
}

#[test]
fn a_platform_that_costs_least_in_a_range_of_loads_alone_is_named() {
    // At 60/s one of host costs 1 an hour, two of pod 1.22; up to 40/s one of pod costs 0.71; from 80/s to 120/s two of host cost 2, three of pod
    // 1.73. At high loads host costs least, 1 for each 80/s, against 1.02.
    let found = decided(60.0, 0, [price("host", 1.0, 0.0), price("pod", 0.51, 0.2)]);
    assert_eq!(found.options[0].platform, "host");
    let loads: Vec<f64> = found
        .turns
        .iter()
        .filter_map(|turn| if let TurnOf::Load(times) = turn.what { Some(times) } else { None })
        .collect();
    let [above, below] = &loads[..] else { panic!("{loads:?}") };
    assert_near(*above, 80.0 / 60.0);
    assert_near(*below, 40.0 / 60.0);
    let far = decided(60_000.0, 0, [price("host", 1.0, 0.0), price("pod", 0.51, 0.2)]);
    assert_eq!(far.options[0].platform, "host", "pod does not cost least at all higher loads");
}

#[test]
fn the_prices_and_the_headroom_at_which_another_platform_costs_least_are_found() {
    // At 80/s one of host for 1 an hour; two of pod for 1.20.
    let found = decided(80.0, 0, [price("host", 1.0, 0.0), price("pod", 0.6, 0.0)]);
    let cpu = turn(&found, "pod", |of| if let TurnOf::CpuHour(price) = of { Some(price) } else { None });
    assert_near(cpu.expect("a price"), 0.5);
    // With more than a fifth free two of host are needed, and three of pod for 1.80.
    let headroom =
        turn(&found, "pod", |of| if let TurnOf::Headroom(share) = of { Some(share) } else { None });
    assert_near(headroom.expect("a headroom"), 0.21);
    assert!(found.turns.iter().all(|turn| !matches!(turn.what, TurnOf::GibHour(_))), "it has no memory");
}

#[test]
fn what_one_lost_replica_means_is_known_of_each_hour() {
    let profile = DayProfile { per_second: (0..24).map(|hour| if hour < 8 { 35.0 } else { 70.0 }).collect() };
    let prices = prices(0, [price("host", 1.0, 0.0), price("pod", 0.25, 0.0)]);
    let groups = decide(&searched(), &profile, &prices).expect("capacities and prices").groups;
    let pod = groups[0].options.iter().find(|option| option.platform == "pod").expect("pod");
    // One replica at night, two by day.
    assert_eq!((pod.replicas[0], pod.replicas[8]), (1, 2));
    assert_eq!(pod.headroom_one_lost[0], -1.0);
    assert_near(pod.headroom_one_lost[8], 1.0 - 70.0 / 50.0);
    assert_near(pod.headroom, 0.3);
}

#[test]
fn an_idle_hour_has_a_replica_and_nothing_to_lose() {
    let profile = DayProfile { per_second: (0..24).map(|hour| if hour < 8 { 0.0 } else { 70.0 }).collect() };
    let prices = prices(0, [price("host", 1.0, 0.0), price("pod", 0.25, 0.0)]);
    let groups = decide(&searched(), &profile, &prices).expect("capacities and prices").groups;
    let host = groups[0].options.iter().find(|option| option.platform == "host").expect("host");
    assert_eq!(host.replicas, [1; 24]);
    assert_eq!((host.headroom_one_lost[0], host.headroom_one_lost[8]), (1.0, -1.0));
}

#[test]
fn replicas_are_as_many_as_what_holds_for_longer_needs() {
    let mut result = searched();
    let found = result.capacities.as_mut().expect("capacities");
    found.cells[0].carried_per_second = Some(60.0);
    let prices = prices(0, [price("host", 1.0, 0.0), price("pod", 2.0, 0.0)]);
    let decision = decide(&result, &at_all_hours(80.0), &prices).expect("capacities and prices");
    let host = &decision.groups[0].options[0];
    assert_eq!((host.platform.as_str(), host.carries, host.replicas[0]), ("host", 60.0, 2));
    assert_eq!(decision.objectives, ["p99 <= 50ms"]);
}

#[test]
fn what_has_no_cost_is_left_out_with_the_reason() {
    let why = |change: fn(&mut CellCapacity), platforms: [PlatformPrices; 2]| {
        let mut result = searched();
        change(&mut result.capacities.as_mut().expect("capacities").cells[1]);
        let decision = decide(&result, &at_all_hours(80.0), &prices(0, platforms)).expect("a cost of host");
        let left_out = decision.groups[0].left_out.iter();
        left_out.map(|left| (left.label.clone(), left.why)).collect::<Vec<_>>()
    };
    let both = || [price("host", 1.0, 0.0), price("pod", 1.0, 0.0)];
    assert!(why(|_| (), both()).is_empty());
    let pod = |why| vec![("pod".to_owned(), why)];
    assert_eq!(why(|pod| pod.rate_per_second = None, both()), pod(WhyLeftOut::NoCapacity));
    assert_eq!(why(|pod| pod.carried_per_second = None, both()), pod(WhyLeftOut::NotForLonger));
    let memory = PlatformPrices { gib_hour: 0.01, ..price("pod", 1.0, 0.0) };
    assert_eq!(why(|_| (), [price("host", 1.0, 0.0), memory.clone()]), pod(WhyLeftOut::NoSize));
    let cpu = PlatformPrices { replica: Limits::default(), ..price("pod", 1.0, 0.0) };
    assert_eq!(why(|_| (), [price("host", 1.0, 0.0), cpu]), pod(WhyLeftOut::NoSize));
    let sized = Limits { cpus: Some(1.0), memory_bytes: Some(1 << 30) };
    assert!(why(|_| (), [price("host", 1.0, 0.0), PlatformPrices { replica: sized, ..memory }]).is_empty());
    let other = [price("host", 1.0, 0.0), price("vm", 1.0, 0.0)];
    let missing = ("vm".to_owned(), WhyLeftOut::NotMeasured);
    assert_eq!(why(|_| (), other), [pod(WhyLeftOut::NoPrice), vec![missing]].concat());
    let neither = prices(0, [price("a", 1.0, 0.0), price("b", 1.0, 0.0)]);
    let refused = decide(&searched(), &at_all_hours(80.0), &neither).expect_err("no prices");
    assert!(matches!(refused, Undecidable::NothingInCommon { .. }), "{refused}");
}

#[test]
fn a_replica_is_as_large_as_the_run_limited_it_unless_its_prices_say_otherwise() {
    let without_size = |name: &str| PlatformPrices { replica: Limits::default(), ..price(name, 1.0, 0.0) };
    let prices = prices(0, [without_size("host"), without_size("pod")]);
    let refused = decide(&searched(), &at_all_hours(80.0), &prices).expect_err("no size");
    assert_eq!(refused, Undecidable::NoSize("host, pod".to_owned()));
    let mut limited = searched();
    for cell in &mut limited.cells {
        cell.limits.cpus = Some(2.0);
    }
    let decision = decide(&limited, &at_all_hours(80.0), &prices).expect("capacities and prices");
    assert_near(decision.groups[0].options[0].monthly_cost, 2.0 * MONTH);
}

#[test]
fn only_platforms_of_the_same_service_under_the_same_load_are_alternatives() {
    // An endpoint that is easy, on the same platforms; and the twin of a host, which is none.
    let mut result = searched();
    let found = result.capacities.as_mut().expect("capacities");
    for at in [0, 1] {
        let mut easy = found.cells[at].clone();
        let id = CellId(result.cells.len());
        result.cells.push(Cell { id, service: "easy".to_owned(), ..result.cells[easy.cell].clone() });
        (easy.cell, easy.carried_per_second) = (id, Some(1_000.0));
        found.cells.push(easy);
    }
    let twin = result.cells.iter().find(|cell| cell.role == Role::Twin).expect("a twin").id;
    found.cells.push(CellCapacity { cell: twin, ..found.cells[0].clone() });
    let prices = prices(0, [price("host", 1.0, 0.0), price("pod", 1.0, 0.0)]);
    let decision = decide(&result, &at_all_hours(400.0), &prices).expect("capacities and prices");
    let replicas: Vec<(&str, Vec<u32>)> = decision
        .groups
        .iter()
        .map(|group| (&*group.service, group.options.iter().map(|option| option.replicas[0]).collect()))
        .collect();
    assert_eq!(replicas, [("orders", vec![5, 10]), ("easy", vec![1, 1])]);
}
