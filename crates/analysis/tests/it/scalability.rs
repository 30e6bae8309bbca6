//! The Universal Scalability Law of made-up closed loops: what is known of its parameters, and whether it describes a service at all.

use loadline_analysis::result::Scalability;
use loadline_analysis::{RunData, analyse};
use loadline_model::experiment::{Experiment, LoadSpec};
use loadline_model::load::Load;
use loadline_stats::Usl;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use crate::made_up::MadeUp;
use crate::made_up::noise::normal;

const CONNECTIONS: [usize; 6] = [1, 2, 4, 8, 16, 32];
pub const LAW: Usl = Usl { one: 1_000.0, contention: 0.05, crosstalk: 0.001 };
/// One parameter is at its least, which the fit keeps it from going below.
pub const WITHOUT_CROSSTALK: Usl = Usl { crosstalk: 0.0, ..LAW };
/// By how much the throughput of a deployment differs from that of the next.
const APART: f64 = 0.02;

fn closed_loops(experiment: &mut Experiment) {
    experiment.loads = CONNECTIONS.map(|n| LoadSpec::new(Load::Closed { think: None }, n)).to_vec();
    experiment.plan.twin = false;
    let all = Experiment { cells: Vec::new(), contrasts: Vec::new(), ..experiment.clone() };
    *experiment = all.with_every_cell();
}

/// A run of a service that answers so many requests a second, by its connections.
fn data(seed: u64, rounds: u32, change: fn(&mut Experiment), throughput: impl Fn(f64) -> f64) -> RunData {
    let mut data = MadeUp { seed, rounds, blocks: 1, change, ..MadeUp::default() }.data();
    let mut random = Pcg64::seed_from_u64(seed);
    for slice in &mut data.slices {
        let load = data.run.experiment.load(data.run.plan.load_of(slice.cell));
        let apart = (APART * normal(&mut random)).exp();
        slice.answered_in_time = (throughput(load.connections as f64) * apart * slice.duration_s) as u64;
    }
    data
}

/// The law of the first platform.
fn law(data: &RunData) -> Option<Scalability> {
    analyse(data).scalability.into_iter().next()
}

/// In how many of so many runs of six deployments the intervals hold the law's throughput of one, contention and crosstalk.
pub fn held(truth: Usl, runs: u64) -> [usize; 3] {
    let mut held = [0; 3];
    for seed in 0..runs {
        let found = law(&data(seed, 6, closed_loops, |n| truth.throughput(n))).expect("a law");
        assert!(found.holds, "{found:?}");
        let fitted = [found.one_per_second, found.contention, found.crosstalk];
        for ((held, fitted), truth) in
            held.iter_mut().zip(fitted).zip([truth.one, truth.contention, truth.crosstalk])
        {
            let [low, high] = fitted.interval.expect("six deployments");
            assert!(low <= fitted.value && fitted.value <= high, "{fitted:?}");
            *held += usize::from((low..=high).contains(&truth));
        }
    }
    held
}

#[test]
fn intervals_over_deployments_hold_the_parameters_of_the_law() {
    for truth in [LAW, WITHOUT_CROSSTALK] {
        let held = held(truth, 20);
        println!("{truth:?}: {held:?} of 20");
        // Of 20 with 95 % each, fewer than 16 is one case in 400.
        assert!(held.iter().all(|held| *held >= 16), "{truth:?}: {held:?}");
    }
}

#[test]
fn a_law_has_a_peak_where_its_crosstalk_says() {
    let found = law(&data(1, 6, closed_loops, |n| LAW.throughput(n))).expect("a law");
    let peak = found.peak.expect("crosstalk");
    assert!((peak / LAW.peak().expect("crosstalk") - 1.0).abs() < 0.15, "{peak}");
    let points: Vec<f64> = found.points.iter().map(|(connections, _)| *connections).collect();
    assert_eq!(points, CONNECTIONS.map(|n| n as f64));
}

#[test]
fn a_service_that_follows_no_law_is_said_not_to() {
    // Three workers, and what they wait for together.
    let steps = |n: f64| if n < 4.0 { 1_000.0 * n } else { 1_500.0 + 20.0 * n };
    let found = law(&data(1, 6, closed_loops, steps)).expect("a law");
    assert!(!found.holds && found.worst_error > 0.1, "{found:?}");
}

#[test]
fn one_deployment_has_no_interval_and_open_or_few_loops_have_no_law() {
    let throughput = |n: f64| LAW.throughput(n);
    let alone = law(&data(1, 1, closed_loops, throughput)).expect("a law");
    assert_eq!(alone.crosstalk.interval, None);
    let few = |experiment: &mut Experiment| {
        closed_loops(experiment);
        experiment.loads.truncate(3);
        let all = Experiment { cells: Vec::new(), contrasts: Vec::new(), ..experiment.clone() };
        *experiment = all.with_every_cell();
    };
    assert_eq!(law(&data(1, 6, few, throughput)), None);
    assert_eq!(law(&data(1, 6, |_| (), throughput)), None, "an open loop");
}
