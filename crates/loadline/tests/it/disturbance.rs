//! What decides about measuring again is the machine, not the service: a real service that stalls, beside one that does not, and a program
//! that takes the service's CPU.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::result::{RunResult, Slice};
use loadline_test_support::CpuTaker;
use rusqlite::Connection;

use crate::support::place::Place;

const EXPERIMENT: &str = "
name: stalls
services:
  - {name: steady, builtin: hello}
  - {name: stalling, builtin: hello, args: [--stall, 50ms/250ms]}
platforms: [host]
loads:
  - {rate: 1000/s, connections: 8}
plan: {slice: 250ms, blocks: 4, deployments: 2, repeats: 2, warmup: 1s}
";

/// A gate of the machine, as a slice says that it failed.
fn is_disturbed(slice: &Slice) -> bool {
    let of_the_machine = ["load CPUs paused", "stolen CPU", "other programs"];
    slice.failed_gates.iter().any(|failed| of_the_machine.iter().any(|words| failed.text.starts_with(words)))
}

/// Of a run of two services and a twin: a block is measured again for the machine alone, and whole.
pub fn assert_repeats_are_of_the_machine(result: &RunResult) {
    for slice in result.slices.iter().filter(|slice| slice.attempt > 0) {
        let is_of_the_attempt_before = |other: &&Slice| {
            (other.round, other.block, other.attempt) == (slice.round, slice.block, slice.attempt - 1)
        };
        let before: Vec<&Slice> = result.slices.iter().filter(is_of_the_attempt_before).collect();
        assert!(before.iter().any(|slice| is_disturbed(slice)), "measured again for the machine alone");
        assert_eq!(before.len(), 3, "both services and the twin");
    }
}

fn of_service<'a>(result: &'a RunResult, service: &'a str) -> impl Iterator<Item = &'a Slice> {
    result.slices.iter().filter(move |slice| result.cells[slice.cell].service == service)
}

#[test]
fn a_service_that_stalls_is_not_measured_again_for_it() {
    let place = Place::alone();
    place.write("stalls.yaml", EXPERIMENT);
    let ended = place.run(["run", "stalls.yaml", "--json", "-"]);
    let result: RunResult = ended.result();

    let stalled: Vec<&Slice> = of_service(&result, "stalling").collect();
    assert!(stalled.len() >= 8, "{}", ended.stderr);
    let with_a_stall: Vec<&Slice> =
        stalled.iter().copied().filter(|slice| slice.response.max > 40_000_000).collect();
    assert!(
        with_a_stall.len() * 10 > stalled.len() * 8,
        "nearly every slice has its stall: {} of {}",
        with_a_stall.len(),
        stalled.len()
    );

    // If stalls were taken for pauses, each of these slices would have 40 ms of them. A busy machine pauses in some.
    let paused_ms: Vec<f64> = with_a_stall
        .iter()
        .map(|slice| slice.observations.get("load.paused.over_1ms").expect("watched") / 1e6)
        .collect();
    assert!(paused_ms.iter().any(|paused| *paused < 10.0), "{paused_ms:?}");

    assert_repeats_are_of_the_machine(&result);
    assert!(!result.trust.repeats.loads.is_empty());
}

#[test]
fn the_machine_is_watched_while_requests_are_due_however_late_a_response_is() {
    let place = Place::alone();
    // Two slices of five end in a stall.
    let services = ["compare", "--service", "hello --stall 400ms/1s", "--on", "host", "--rate", "1000/s"];
    let plan = ["--slice", "200ms", "--blocks", "12", "--deployments", "2", "--warmup", "1s"];
    place.run(services.into_iter().chain(plan)).assert_measured();

    let store = Connection::open(place.path("loadline.db")).expect("a store");
    let lengths = "SELECT json_extract(observations, '$.wall_ns') / 1000000, \
        json_extract(cpu_use, '$.most_stolen.whole_ns') / 1000000 FROM slice";
    let mut lengths = store.prepare(lengths).expect("SQL");
    let lengths = lengths.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("slices");
    let lengths: Vec<(u64, u64)> = lengths.map(|row| row.expect("two lengths")).collect();
    let mut watched_ms: Vec<u64> =
        lengths.iter().filter(|(whole, _)| *whole > 350).map(|(_, watched)| *watched).collect();
    watched_ms.sort_unstable();
    let median = watched_ms.get(watched_ms.len() / 2).unwrap_or_else(|| panic!("none is late: {lengths:?}"));
    // 200 ms of requests and 10 ms more; on a busy machine, the reading itself comes later.
    assert!((200..300).contains(median), "{lengths:?}");
}

#[test]
fn what_others_take_of_the_services_cpu_is_seen_there_and_measured_again() {
    let place = Place::alone();
    let _taker = CpuTaker::start(0, Duration::from_millis(8), Duration::from_millis(300));
    let cpus = ["--service-cpus", "0", "--load-cpus", "1"];
    let plan =
        ["--rate", "1000/s", "--slice", "100ms", "--blocks", "20", "--deployments", "2", "--json", "-"];
    let services = ["compare", "--service", "orders", "--service", "hello", "--on", "host"];
    let ended = place.run(services.into_iter().chain(cpus).chain(plan));
    ended.assert_measured();
    let result: RunResult = ended.result();

    let taken_ms = |slice: &Slice| slice.observations.get("cpu.taken").expect("the kernel tells it") / 1e6;
    let (taken, measured) = result.slices.iter().fold((0.0, 0.0), |(taken, measured), slice| {
        (taken + taken_ms(slice), measured + 1e3 * slice.duration_s)
    });
    assert!(taken > 0.013 * measured, "half of what the program takes: {taken} of {measured} ms");

    // Whatever else the machine does meanwhile: disturbed is what is far above the latest slices of the same cell.
    let mut latest: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut disturbed = 0;
    for slice in &result.slices {
        let (per_second, before) =
            (taken_ms(slice) / slice.duration_s, latest.entry(slice.cell.0).or_default());
        let mut usual = before[before.len().saturating_sub(20)..].to_vec();
        usual.sort_by(f64::total_cmp);
        let is_far_above =
            usual.len() >= 4 && per_second > 2.0 * usual[usual.len() / 2] + 10.0 && taken_ms(slice) > 2.0;
        let words = "other programs ran on the service's CPUs";
        assert_eq!(slice.failed_gates.iter().any(|failed| failed.text.starts_with(words)), is_far_above);
        disturbed += usize::from(is_far_above);
        before.push(per_second);
    }
    let repeats = result.slices.iter().filter(|slice| slice.attempt > 0).count();
    assert!(disturbed == 0 || repeats > 0, "{disturbed} disturbed, none measured again");
}
