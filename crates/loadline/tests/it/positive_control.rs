//! The positive control: a known delay is seen. That it is found as long as it is, and that the twin shows none, takes several runs to be
//! sure of: `prove`.

use crate::support::leftovers;
use crate::support::place::Place;
use loadline_analysis::result::{Contrast, Row, Verdict};

/// What others do to the CPUs may hide the delay from a run that says that it can't be trusted or that it claims nothing, but hardly from so
/// many in a row.
const RUNS: u32 = 3;

#[test]
fn a_delay_of_200_us_more_is_seen() {
    let place = Place::alone();
    let mut unseen = Vec::new();
    for seed in 1..=RUNS {
        // Where others take the CPUs now and then, some short slices are undisturbed and hardly any long one is.
        let plan =
            ["--slice", "50ms", "--blocks", "8", "--deployments", "4", "--warmup", "5s", "--repeats", "2"];
        let found = measure(&place, seed, &plan);
        if found.delayed.verdict == Verdict::Slower {
            return;
        }
        // A run that can be trusted may still claim nothing of the median, if it says why; but it finds the delay.
        let Row { interval, note, difference, .. } = &found.delayed;
        let is_silent = interval.is_none() && note.is_some() && (150e3..250e3).contains(difference);
        assert!(!found.trusted || is_silent, "{:?}", found.delayed);
        unseen.push(found.delayed);
    }
    panic!("{unseen:#?}");
}

/// What a run found at the median.
pub struct Found {
    pub trusted: bool,
    /// The delayed service against the other.
    pub delayed: Row,
    /// The other against itself.
    pub twin: Row,
}

/// Compares a service with itself, delayed by 200 µs more. Both wait for a timer: a service that does answers some microseconds later than its
/// delay alone explains, since its CPU was idle meanwhile.
pub fn measure(place: &Place, seed: u32, plan: &[&str]) -> Found {
    let seed = seed.to_string();
    let services =
        ["compare", "--service", "orders --delay 200us", "--service", "orders --delay 400us", "--on", "host"];
    // A request every millisecond is over before the next begins. At random times delayed requests would meet more often than
    // others, on the one CPU of the service, and their waiting for each other would be a difference too.
    let load = ["--rate", "1000/s", "--arrivals", "uniform", "--seed", &seed, "--json", "-"];
    let ended = place.run(services.into_iter().chain(load).chain(plan.iter().copied()));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = ended.result();
    Found {
        trusted: ended.code == Some(0),
        delayed: median(&result.contrasts[0]),
        twin: median(&result.noise[0]),
    }
}

fn median(contrast: &Contrast) -> Row {
    contrast.rows.iter().find(|row| row.metric == "response.p50").expect("a median").clone()
}
