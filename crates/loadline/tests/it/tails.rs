//! Why the slowest requests were slow: of a service that its CPU limit holds back, and of one that nothing does.

use loadline_model::result::{Cell, TailCause};
use loadline_model::tails::Cause;

use crate::support::leftovers;
use crate::support::place::Place;

const EXPERIMENT: &str = "
services:
  - {name: held back, builtin: cpu, requests: [GET /cpu?n=22], limits: {cpu: 0.1}}
  - {name: free, builtin: cpu, requests: [GET /cpu?n=22]}
platforms: [host]
loads: [{closed: true, connections: 2}]
plan: {slice: 300ms, blocks: 1, deployments: 2, warmup: 1s, repeats: 0, twin: false, tails: 2s}
";

/// What throttling did to the slowest requests of a cell; nothing if it was never throttled.
fn throttling(cell: &Cell) -> Option<&TailCause> {
    let tail = cell.tail.as_ref().unwrap_or_else(|| panic!("{} was not watched", cell.label));
    assert!(tail.requests > 0 && tail.from_ns > 0, "{tail:?}");
    tail.causes.iter().find(|cause| cause.cause == Cause::Throttled && cause.touched > 0.0)
}

#[test]
fn the_slowest_requests_of_a_service_above_its_quota_met_it_and_those_of_another_did_not() {
    let place = Place::alone();
    place.write("experiment.yaml", EXPERIMENT);
    let ended = place.run(["run", "experiment.yaml", "--json", "-"]);
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = ended.result();
    let [held_back, free] = result.cells.as_slice() else { panic!("{:?}", result.cells) };
    let met = throttling(held_back).expect("a quota that is used up");
    // Nearly all, unless others take the CPUs and make some requests slow themselves.
    assert!(met.touched > 0.5 && met.time_share > 0.05, "{met:?}");
    assert_eq!(throttling(free), None);
}
