//! The interval of a real search holds what a real service carries whose queue is known: it works on four requests at once, two milliseconds
//! each, on the host and behind a pod's path. So does that of the difference between the two, which carry nearly the same: none is claimed.

use loadline_model::experiment::{Bound, Capacity, Objective};
use loadline_model::result::Verdict;
use rand::RngExt;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::median;
use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::Place;

/// So many searches are made, whatever they find.
const RUNS: usize = 20;
/// Of 20 intervals that each hold the truth with a chance of 95 %, more than two miss it in one of 13 cases.
const MOST_MISSED: usize = 2;
/// Of 20 differences that are each claimed with a chance of 2 %, more than two are in one of 140 cases.
const MOST_CLAIMED: usize = 2;
/// What the platforms carry differs by less: a claim would be of a difference that is not there.
const ALIKE: f64 = 0.02;
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
    let service = SERVICE.join(" ");
    let what = ["--service", &service, "--on", PLATFORMS[0], "--on", PLATFORMS[1]];
    let precision = format!("{}%", 100.0 * PRECISION);
    let mut seen = PLATFORMS.map(|_| Seen::default());
    let mut differences = Differences::default();
    for seed in 1..=RUNS {
        let truths = carried(&place, &what).map(half_fail);
        let seed = seed.to_string();
        let how = ["--rate", "500/s", "-c", CONNECTIONS, "--objective", OBJECTIVE, "--precision", &precision];
        let ended = place
            .run(["capacity"].into_iter().chain(what).chain(how).chain(["--seed", &seed, "--json", "-"]));
        ended.assert_measured();
        leftovers::assert_none(&place.store().label());
        let capacities = ended.result().capacities.expect("capacities");
        for ((seen, found), truth) in seen.iter_mut().zip(&capacities.cells).zip(truths) {
            println!("{truth:.0}/s: {:?} {:?} {:?}", found.rate_per_second, found.interval, found.findings);
            seen.truths.push(truth);
            seen.found.extend(found.rate_per_second);
            seen.held += usize::from(found.interval.is_some_and(|[low, high]| low <= truth && truth <= high));
        }
        let truth = truths[1] / truths[0] - 1.0;
        differences.truths.push(truth);
        for found in &capacities.differences {
            let [low, high] = found.interval;
            differences.held += usize::from(low <= truth && truth <= high);
            differences.claimed += usize::from(found.verdict != Verdict::Unresolved);
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
    let rows = PLATFORMS.into_iter().zip(&seen).map(row).chain(differences.rows());
    prove(&rows.collect::<Vec<Row>>());
}

/// What the searches found on a platform.
#[derive(Default)]
struct Seen {
    truths: Vec<f64>,
    found: Vec<f64>,
    /// Searches whose interval holds the truth.
    held: usize,
}

/// What the searches said of the pod's capacity against the host's.
#[derive(Default)]
struct Differences {
    truths: Vec<f64>,
    /// Intervals that hold the truth.
    held: usize,
    /// Verdicts that there is a difference.
    claimed: usize,
}

impl Differences {
    fn rows(&self) -> [Row; 2] {
        let truth = median(&self.truths);
        let row = |what: &str, expected: String, found: usize, holds: bool| Row {
            what: format!("capacity of four at once, 2 ms each, pod against host: {what}"),
            expected,
            found: format!("in {found}"),
            interval: format!("{RUNS} searches"),
            holds,
        };
        let holds = format!("{:+.1} %; in {} of {RUNS}", 100.0 * truth, RUNS - MOST_MISSED);
        let claims = format!("less than {:.0} % apart; in at most {MOST_CLAIMED} of {RUNS}", 100.0 * ALIKE);
        let is_alike = truth.abs() < ALIKE;
        [
            row("the interval of the difference holds it", holds, self.held, self.held + MOST_MISSED >= RUNS),
            row("a difference is claimed", claims, self.claimed, is_alike && self.claimed <= MOST_CLAIMED),
        ]
    }
}

/// What the service answers a second on each platform when more requests wait than it works on: a timer's delay, and what its answer and the
/// path add, differ from one platform to the other.
fn carried(place: &Place, what: &[&str]) -> [f64; PLATFORMS.len()] {
    let load =
        ["--closed", "-c", "64", "--no-twin", "--slice", "500ms", "--blocks", "8", "--deployments", "1"];
    let words = ["compare"].into_iter().chain(what.iter().copied()).chain(load).chain(["--json", "-"]);
    let ended = place.run(words);
    ended.assert_measured();
    let result = ended.result();
    PLATFORMS.map(|platform| {
        let cell = result.cells.iter().find(|cell| cell.platform == platform).expect("a cell");
        assert!(cell.errors.is_empty(), "{:?}", cell.errors);
        let rate = cell.figures.iter().find(|figure| figure.metric == "rate.achieved");
        rate.expect("a rate").value
    })
}

/// The rate at which half of the trials fail their objective, requests a second, where so many are answered a second at most.
fn half_fail(carried: f64) -> f64 {
    let mut random = Pcg64::seed_from_u64(1);
    let request_s = AT_ONCE as f64 / carried;
    let objective = Objective {
        text: OBJECTIVE.to_owned(),
        metric: "response.p99".to_owned(),
        bound: Bound::AtMost(WITHIN_S * 1e9),
        unit: None,
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
