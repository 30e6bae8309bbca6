//! The interval of a real search holds what a real service carries whose queue is known: it works on four requests at once, two milliseconds
//! each, on the host and behind a pod's path.

use loadline_model::experiment::{Bound, Capacity, Objective};
use rand::RngExt;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::median;
use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::loaded::Loaded;
use crate::support::place::Place;
use crate::support::programs::Served;

/// So many searches are made, whatever they find.
const RUNS: usize = 20;
/// Of 20 intervals that each hold the truth with a chance of 95 %, more than two miss it in one of 13 cases.
const MOST_MISSED: usize = 2;
const PLATFORMS: [&str; 2] = ["host", "pod"];

const AT_ONCE: usize = 4;
const SERVICE: [&str; 5] = ["orders", "--delay", "2ms", "--at-once", "4"];
/// Twice as many as wait where half of the slices fail: no request waits for a connection.
const CONNECTIONS: &str = "256";
const OBJECTIVE: &str = "p99 <= 20ms";
const WITHIN_S: f64 = 0.02;
const PRECISION: f64 = 0.05;
/// Simulated trials at each step towards the rate at which half of them fail.
const TRIALS: usize = 1_000;

#[test]
fn intervals_of_searches_hold_the_capacity_of_a_real_queue() {
    let place = Place::alone();
    let mut seen = PLATFORMS.map(|_| Seen::default());
    for seed in 1..=RUNS {
        let truth = half_fail(request_s(&place));
        let seed = seed.to_string();
        let service = SERVICE.join(" ");
        let what = ["capacity", "--service", &service, "--on", PLATFORMS[0], "--on", PLATFORMS[1]];
        let precision = format!("{}%", 100.0 * PRECISION);
        let how = ["--rate", "500/s", "-c", CONNECTIONS, "--objective", OBJECTIVE, "--precision", &precision];
        let ended = place.run(what.into_iter().chain(how).chain(["--seed", &seed, "--json", "-"]));
        ended.assert_measured();
        leftovers::assert_none(&place.store().label());
        let capacities = ended.result().capacities.expect("capacities");
        for (seen, found) in seen.iter_mut().zip(&capacities.cells) {
            println!("{truth:.0}/s: {:?} {:?} {:?}", found.rate_per_second, found.interval, found.findings);
            seen.truths.push(truth);
            seen.found.extend(found.rate_per_second);
            seen.held += usize::from(found.interval.is_some_and(|[low, high]| low <= truth && truth <= high));
        }
    }
    let row = |(platform, seen): (&str, &Seen)| Row {
        what: format!("capacity of four at once, 2 ms each, on {platform}: the interval holds it"),
        expected: format!("{:.0}/s; in {} of {RUNS}", median(&seen.truths), RUNS - MOST_MISSED),
        found: match seen.found.is_empty() {
            true => "none".to_owned(),
            false => format!("{:.0}/s, in {}", median(&seen.found), seen.held),
        },
        interval: format!("{RUNS} searches"),
        holds: seen.held + MOST_MISSED >= RUNS,
    };
    prove(&PLATFORMS.into_iter().zip(&seen).map(row).collect::<Vec<Row>>());
}

/// What the searches found on a platform.
#[derive(Default)]
struct Seen {
    truths: Vec<f64>,
    found: Vec<f64>,
    /// Searches whose interval holds the truth.
    held: usize,
}

/// How long the service works on a request, s: the delay, and what a timer and its answer add. Told by how many it answers when more wait than it
/// works on.
fn request_s(place: &Place) -> f64 {
    let served = Served::start(&SERVICE);
    let url = served.url("/api/orders");
    let loaded = Loaded::run(place, &[&url, "--closed", "-c", "64", "--for", "3s"]);
    loaded.assert_all_answered();
    AT_ONCE as f64 * loaded.number("duration_ns") as f64 / 1e9 / loaded.number("counts.answered") as f64
}

/// The rate at which half of the trials fail their objective, requests a second.
fn half_fail(request_s: f64) -> f64 {
    let mut random = Pcg64::seed_from_u64(1);
    let carried = AT_ONCE as f64 / request_s;
    let objective = Objective {
        text: OBJECTIVE.to_owned(),
        metric: "response.p99".to_owned(),
        bound: Bound::AtMost(WITHIN_S * 1e9),
    };
    let capacity = Capacity { objectives: vec![objective], precision: PRECISION, most: None };
    let (mut low, mut high) = (0.8 * carried, 1.2 * carried);
    for _ in 0..10 {
        let rate = f64::midpoint(low, high);
        let slice_s = capacity.slice_s(rate);
        let passed = (0..TRIALS).filter(|_| p99_s(rate, slice_s, request_s, &mut random) <= WITHIN_S).count();
        if 2 * passed >= TRIALS { low = rate } else { high = rate }
    }
    f64::midpoint(low, high)
}

/// The 99th percentile of the response times of a slice: Poisson arrivals, first come, first served.
fn p99_s(rate: f64, slice_s: f64, request_s: f64, random: &mut Pcg64) -> f64 {
    let (mut now, mut answered, mut responses) = (0.0, Vec::new(), Vec::new());
    loop {
        now -= (1.0 - random.random::<f64>()).ln() / rate;
        if now > slice_s {
            break;
        }
        let free = answered.len().checked_sub(AT_ONCE).map_or(0.0, |at| answered[at]);
        answered.push(now.max(free) + request_s);
        responses.push(answered[answered.len() - 1] - now);
    }
    responses.sort_by(f64::total_cmp);
    responses[responses.len() * 99 / 100]
}
