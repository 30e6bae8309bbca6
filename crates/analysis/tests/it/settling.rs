//! How long it takes to settle what a run left open, by the wall clock.

use std::time::Duration;

use crate::made_up::MadeUp;
use loadline_analysis::result::SecondsToSettle;
use loadline_analysis::{RunData, analyse};

const ROUNDS: u32 = 8;
/// Host, its twin and the pod in three blocks of slices of 1 s.
const MEASURED_S: f64 = 9.0;
const STARTING_S: f64 = 13.0;

/// A noisy run whose deployments take long to start.
fn run(within: Option<Duration>) -> RunData {
    let run = MadeUp { deployment_noise_us: 60.0, rounds: ROUNDS, ..MadeUp::default() };
    let mut data = run.data();
    data.run.experiment.plan.within = within;
    let starts = |round: u32| STARTING_S * f64::from(round);
    data.deployments.iter_mut().for_each(|row| row.at_s += starts(row.round));
    data.slices.iter_mut().for_each(|row| row.at_s += starts(row.round + 1));
    data
}

fn settle(within: Option<Duration>) -> SecondsToSettle {
    analyse(&run(within)).plan.seconds_to_settle.expect("something is left open")
}

#[test]
fn starting_the_deployments_takes_part_of_the_time() {
    let settle = settle(None);
    assert!(settle.deployments > ROUNDS, "{settle:?}");
    let each = MEASURED_S + STARTING_S;
    assert!((settle.run_seconds - each * f64::from(settle.deployments)).abs() < 1e-6, "{settle:?}");
    assert!((settle.run_seconds - settle.seconds - each * f64::from(ROUNDS)).abs() < 1e-6, "{settle:?}");
    assert!(!settle.needs_more_time);
}

#[test]
fn a_time_limit_that_would_end_it_before_is_told() {
    let needed = settle(None).run_seconds;
    let within = |seconds: f64| settle(Some(Duration::from_secs_f64(seconds))).needs_more_time;
    assert!(within(needed - 1.0));
    assert!(!within(needed + 1.0));
}
