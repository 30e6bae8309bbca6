//! A server that stands still must show in the response time as arithmetic says, at any rate and with any number of connections: every
//! request that was due meanwhile waits for the end of the stall and for those before it.

use std::time::Duration;

use crate::stalling::{PACE_NS, Stalling};
use crate::support::{alone, options, slice};
use loadline_engine::{Engine, Options, Record};

const SECONDS: f64 = 2.0;
/// After the start of the slice. At 10,000/s its backlog takes 0.9 s to work off.
const STALL_NS: std::ops::Range<u64> = 300_000_000..900_000_000;

/// Response times, ns, sorted: what arithmetic says, and what the server noted.
struct Expected {
    arithmetic: Vec<u64>,
    noted: Vec<u64>,
}

/// Requests are due `gap` apart from 0 on and are answered in that order: none within the stall, then one every `PACE_NS` while any
/// waits.
fn arithmetic(requests: usize, gap: f64) -> Vec<u64> {
    let mut free_at = 0.0;
    let response = |number| {
        let due = number as f64 * gap;
        let begun = f64::max(due, free_at);
        let stalled = (STALL_NS.start as f64..STALL_NS.end as f64).contains(&begun);
        free_at = if stalled { STALL_NS.end as f64 } else { begun } + PACE_NS as f64;
        (free_at - due) as u64
    };
    (0..requests).map(response).collect()
}

fn drive(rate: u32, connections: usize) -> (Record, Expected) {
    let requests = (f64::from(rate) * SECONDS) as usize;
    let server = Stalling::start(connections, requests);
    let options = Options { timeout: Duration::from_secs(60), ..options(server.address, connections) };
    let mut engine = Engine::start(&options).unwrap();
    engine.prepare().unwrap();
    let start = Engine::next_start();
    server.stall(start + STALL_NS.start..start + STALL_NS.end);
    engine.begin(slice(&format!("{rate}/s"), SECONDS), start).unwrap();
    let record = engine.finish().unwrap();

    let gap = 1e9 / f64::from(rate);
    let answers = server.answered_at().into_iter().enumerate();
    // Whichever connection it took, the nth answer was to the nth request that was due.
    let response = |(number, at): (usize, u64)| at.saturating_sub(start + (number as f64 * gap) as u64);
    let mut noted: Vec<u64> = answers.map(response).collect();
    let mut arithmetic = arithmetic(requests, gap);
    assert_eq!(noted.len(), requests);
    noted.sort_unstable();
    arithmetic.sort_unstable();
    (record, Expected { arithmetic, noted })
}

/// The largest deviations of a quantile within the stalled part, as shares.
#[derive(Clone, Copy, Debug, Default)]
struct Deviation {
    from_arithmetic: f64,
    from_notes: f64,
    of_notes_from_arithmetic: f64,
}

fn deviation(record: &Record, expected: &Expected) -> Deviation {
    let requests = expected.arithmetic.len();
    // Well inside: a fraction of a small wait would be less than what a response takes anyway.
    let shortest = expected.arithmetic[requests - 1] * 2 / 5;
    let first = expected.arithmetic.partition_point(|time| *time < shortest);
    let mut largest = Deviation::default();
    for rank in (first..requests).step_by((requests - first).div_ceil(8)) {
        // In the middle of its step, where the rounding of a quantile can't take its neighbour.
        let quantile = (rank as f64 + 0.5) / requests as f64;
        let seen = record.response.value_at_quantile(quantile) as f64;
        let (computed, noted) = (expected.arithmetic[rank] as f64, expected.noted[rank] as f64);
        println!(
            "  q{quantile:.4}: {:.4} s, {:+.2} % of arithmetic, {:+.2} % of the server's notes",
            seen / 1e9,
            100.0 * (seen / computed - 1.0),
            100.0 * (seen / noted - 1.0)
        );
        for (largest, share) in [
            (&mut largest.from_arithmetic, seen / computed),
            (&mut largest.from_notes, seen / noted),
            (&mut largest.of_notes_from_arithmetic, noted / computed),
        ] {
            *largest = largest.max((share - 1.0).abs());
        }
    }
    largest
}

/// How near is right.
const NEAR: f64 = 0.02;

/// A machine that was busy with something else, so that the server could not do as arithmetic presumes, is given another chance; what
/// the engine does wrong it does every time. On one where the server never can, at 60 us an answer, its notes alone decide.
fn a_stall_shows_as_it_should(rate: u32, connections: usize) {
    let _alone = alone();
    let mut deviations = Vec::new();
    for _ in 0..6 {
        println!("{rate}/s, {connections} connections");
        let (record, expected) = drive(rate, connections);
        let requests = expected.arithmetic.len() as u64;
        assert_eq!((record.due, record.answered, record.errors.total()), (requests, requests, 0));
        let deviation = deviation(&record, &expected);
        if deviation.from_notes < NEAR {
            // Service time does not contain the waiting: only what was under way at the beginning of the stall saw it.
            let waited_in_service = record.service.count_between(STALL_NS.start, STALL_NS.end);
            assert!(waited_in_service <= connections as u64, "{waited_in_service}");
            if deviation.from_arithmetic < NEAR {
                return;
            }
        }
        deviations.push(deviation);
    }
    let is_as_noted = deviations.iter().any(|deviation| deviation.from_notes < NEAR);
    let server_never_could =
        deviations.iter().all(|deviation| deviation.of_notes_from_arithmetic > NEAR / 2.0);
    assert!(
        is_as_noted && server_never_could,
        "never as arithmetic and the server's notes say: {deviations:?}"
    );
}

#[test]
fn at_100_a_second_with_one_connection() {
    a_stall_shows_as_it_should(100, 1);
}

#[test]
fn at_100_a_second_with_64_connections() {
    a_stall_shows_as_it_should(100, 64);
}

#[test]
fn at_1000_a_second_with_one_connection() {
    a_stall_shows_as_it_should(1000, 1);
}

#[test]
fn at_1000_a_second_with_64_connections() {
    a_stall_shows_as_it_should(1000, 64);
}

#[test]
fn at_10000_a_second_with_one_connection() {
    a_stall_shows_as_it_should(10_000, 1);
}

#[test]
fn at_10000_a_second_with_64_connections() {
    a_stall_shows_as_it_should(10_000, 64);
}

#[test]
fn a_slice_is_not_over_before_its_late_responses() {
    let _alone = alone();
    let requests = (100.0 * SECONDS) as usize;
    let server = Stalling::start(4, requests);
    let options = Options { timeout: Duration::from_secs(60), ..options(server.address, 4) };
    let mut engine = Engine::start(&options).unwrap();
    engine.prepare().unwrap();
    let (start, end_ns) = (Engine::next_start(), (SECONDS * 1e9) as u64);
    server.stall(start + end_ns - 100_000_000..start + end_ns + 500_000_000);
    engine.begin(slice("100/s", SECONDS), start).unwrap();
    assert!(!engine.wait(start + end_ns));
    assert!(engine.wait(u64::MAX));
    assert_eq!(engine.finish().unwrap().answered, requests as u64);
}
