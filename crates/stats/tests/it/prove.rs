//! The simulations of `coverage` and `sequential` with thousands of runs (`make prove`).

use crate::coverage::{self, CLUSTERED, Extent, NORMAL, SKEWED};
use crate::proof::{Row, prove};
use crate::runs::Model;
use crate::{change_points, power, sequential};

const THOUSANDS: Extent = Extent { runs: 4_000, slack: 0.0 };
const STOPPED_RUNS: u32 = 40_000;

/// A row of shares, of which the least and the largest are shown, with the largest of their errors. What doesn't hold has failed where it was computed.
fn row(what: &str, expected: &str, shares: &[f64], runs: f64) -> Row {
    let [least, most] = [f64::min, f64::max].map(|end| shares.iter().copied().reduce(end).expect("a share"));
    let found = if shares.len() == 1 {
        format!("{:.1} %", 100.0 * least)
    } else {
        format!("{:.1} to {:.1} %", 100.0 * least, 100.0 * most)
    };
    let error = |share: &f64| (share * (1.0 - share) / runs).sqrt();
    let two_errors = 200.0 * shares.iter().map(error).fold(0.0, f64::max);
    let interval = format!("± {two_errors:.1} %, {runs} runs each");
    Row { what: what.to_owned(), expected: expected.to_owned(), found, interval, holds: true }
}

fn prove_shares(what: &str, expected: &str, shares: &[f64]) {
    prove(&[row(what, expected, shares, THOUSANDS.runs as f64)]);
}

fn intervals_cover(model: &Model, seed: u64) {
    let shares = coverage::intervals_cover(model, seed, THOUSANDS);
    let what = format!("95 % intervals, {} data, mean, p50 and p90 of 5 designs: covered", model.name);
    prove_shares(&what, "93 to 97 %", &shares);
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
    prove_shares(
        "a limit: p90 where deployments lie five times as far apart: covered",
        "87 to 93 %",
        &[share],
    );
}

#[test]
fn a_difference_that_is_not_there_is_seldom_found() {
    let share = coverage::found_without_a_difference(THOUSANDS);
    prove_shares(
        "no difference and no margin: claimed in any of mean, p50, p90; worst of 4 designs",
        "≤ 2.5 %",
        &[share],
    );
}

#[test]
fn other_methods_do_worse() {
    let plain = coverage::percentile_intervals(THOUSANDS);
    prove_shares("instead, plain percentile intervals: covered", "< 93 %", &plain);
    let both = coverage::both_levels_resampled(THOUSANDS);
    prove_shares("instead, blocks resampled within deployments: covered", "> 98 %", &[both]);
    let one = coverage::of_one_deployment(THOUSANDS);
    prove_shares("instead, one deployment taken for all: covered", "< 50 %", &[one]);
}

#[test]
fn running_until_narrow_enough_keeps_the_level() {
    let runs = f64::from(STOPPED_RUNS);
    let covered = sequential::at_look_confidence(STOPPED_RUNS);
    let what =
        "`--until`: the last interval covers; worst of 6 widths, 2 first looks, quiet and with loud spells";
    assert!(covered >= 0.94, "{covered}");
    prove(&[row(what, "≥ 94 %", &[covered], runs)]);
    let plain = sequential::at_plain_confidence(STOPPED_RUNS);
    assert!(plain < 0.94, "{plain}");
    prove(&[row("instead, 95 % intervals at the same looks: cover", "< 94 %", &[plain], runs)]);
}

#[test]
fn the_resolution_is_found_and_the_margin_is_not_equivalent() {
    let extent = power::Extent { runs: 20_000, slack: 0.0, resamples: 1_000 };
    let runs = extent.runs as f64;
    let found = power::found_at_the_resolution(extent);
    let what = "a difference as large as the printed resolution, 5 to 12 deployments: found";
    prove(&[row(what, "93 to 97 %", &found, runs)]);
    let wrong = power::equivalent_at_the_margin(extent);
    let what = "a difference as large as the margin of 1 to 6 standard errors: called equivalent";
    prove(&[row(what, "≤ 5 %", &wrong, runs)]);
}

#[test]
fn changes_of_three_percent_are_found_in_histories_and_seldom_one_that_is_not_there() {
    const SERIES: u64 = 200;
    const WITHOUT: u64 = 1_000;
    let found = change_points::found(SERIES);
    let alarms = change_points::false_alarms(WITHOUT);
    prove(&[
        Row {
            what:
                "`history`: a change of 3 % in 40 runs that vary by 1 %: found within two runs of where it is"
                    .to_owned(),
            expected: "in at least 95 %".to_owned(),
            found: format!("in {found}"),
            interval: format!("{SERIES} series"),
            holds: found as f64 >= 0.95 * SERIES as f64,
        },
        Row {
            what: "`history`: 40 runs without a change: one is found".to_owned(),
            expected: "in at most one of 50".to_owned(),
            found: format!("in {alarms}"),
            interval: format!("{WITHOUT} series"),
            holds: alarms as u64 <= WITHOUT / 50,
        },
    ]);
}
