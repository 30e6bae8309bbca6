//! What decides about measuring again is the machine, not the service: a real service that stalls, beside one that does not.

use loadline_model::result::{RunResult, Slice};

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

    for slice in result.slices.iter().filter(|slice| slice.attempt > 0) {
        let is_of_the_attempt_before = |other: &&Slice| {
            (other.round, other.block, other.attempt) == (slice.round, slice.block, slice.attempt - 1)
        };
        let before: Vec<&Slice> = result.slices.iter().filter(is_of_the_attempt_before).collect();
        assert!(before.iter().any(|slice| is_disturbed(slice)), "measured again for the machine alone");
        assert_eq!(before.len(), 3, "both services and the twin");
    }
    assert!(!result.trust.repeats.loads.is_empty());
}
