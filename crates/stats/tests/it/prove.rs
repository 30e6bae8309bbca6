//! The simulations of `coverage` and `sequential` with thousands of runs (`make prove`).

use crate::coverage::{self, CLUSTERED, Extent, NORMAL, SKEWED};
use crate::proof::prove;
use crate::runs::Model;
use crate::sequential;

const THOUSANDS: Extent = Extent { runs: 4_000, slack: 0.0 };
const STOPPED_RUNS: u32 = 40_000;

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn from_to([low, high]: [f64; 2]) -> String {
    format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high)
}

/// Two standard errors of a share of so many runs.
fn of_runs(share: f64, runs: f64) -> String {
    format!("± {:.1} %, {runs} runs", 200.0 * (share * (1.0 - share) / runs).sqrt())
}

fn intervals_cover(model: &Model, seed: u64) {
    let shares = coverage::intervals_cover(model, seed, THOUSANDS);
    let what = format!("95 % intervals, {} data, 5 designs × mean, p50, p90: covered", model.name);
    let holds = (0.93..=0.97).contains(&shares[0]) && (0.93..=0.97).contains(&shares[1]);
    prove(&what, "93 to 97 %", &from_to(shares), &of_runs(0.95, THOUSANDS.runs as f64), holds);
}

#[test]
fn intervals_cover_for_normal_data() {
    intervals_cover(&NORMAL, 1_000);
}

#[test]
fn intervals_cover_for_skewed_data() {
    intervals_cover(&SKEWED, 2_000);
}

#[test]
fn intervals_cover_for_deployment_clustered_data() {
    intervals_cover(&CLUSTERED, 3_000);
}

#[test]
fn an_upper_quantile_far_apart_is_covered_less_often() {
    let share = coverage::upper_quantile_far_apart(THOUSANDS);
    let what = "95 % intervals of p90, deployments five times as far apart: covered (a limit)";
    prove(what, "87 to 93 %", &percent(share), &of_runs(share, THOUSANDS.runs as f64), true);
}

#[test]
fn a_difference_that_is_not_there_is_seldom_found() {
    let share = coverage::found_without_a_difference(THOUSANDS);
    let what = "no difference, no margin: any of three statistics claimed one, worst of 4 designs";
    prove(what, "≤ 5 %", &percent(share), &of_runs(share, THOUSANDS.runs as f64), share <= 0.05);
}

#[test]
fn other_methods_do_worse() {
    let plain = coverage::percentile_intervals(THOUSANDS);
    let runs = THOUSANDS.runs as f64;
    prove(
        "instead: plain percentile intervals: covered",
        "< 93 %",
        &from_to(plain),
        &of_runs(plain[0], runs),
        true,
    );
    let both = coverage::both_levels_resampled(THOUSANDS);
    prove(
        "instead: blocks resampled within deployments: covered",
        "> 98 %",
        &percent(both),
        &of_runs(both, runs),
        true,
    );
    let one = coverage::of_one_deployment(THOUSANDS);
    prove(
        "instead: one deployment taken for all: covered",
        "< 50 %",
        &percent(one),
        &of_runs(one, runs),
        true,
    );
}

#[test]
fn running_until_narrow_enough_keeps_the_level() {
    let missed = sequential::with_a_confidence_sequence(STOPPED_RUNS);
    let runs = f64::from(STOPPED_RUNS);
    let what = "`--until`: truth missed at any look, worst of 4 widths";
    prove(what, "≤ 5 %", &percent(missed), &of_runs(missed, runs), missed <= 0.05);
    let naive = sequential::with_a_naive_interval(STOPPED_RUNS);
    let what = "instead: a 95 % interval after every deployment: missed at the end";
    prove(what, "> 6 %", &percent(naive), &of_runs(naive, runs), naive > 0.06);
}
