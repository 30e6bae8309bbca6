//! Why the slowest requests were slow: of a service that its CPU limit holds back, and of one that nothing does; and who else than the load
//! asks a service.

use loadline_model::result::{Cell, TailCause};
use loadline_model::tails::Cause;

use crate::support::cluster::cluster;
use crate::support::leftovers;
use crate::support::place::{Place, ended};

const EXPERIMENT: &str = "
services:
  - {name: held back, builtin: cpu, requests: [GET /cpu?n=22], limits: {cpu: 0.1}}
  - {name: free, builtin: cpu, requests: [GET /cpu?n=22]}
platforms: [host]
loads: [{closed: true, connections: 2}]
plan: {slice: 300ms, blocks: 1, deployments: 2, warmup: 1s, repeats: 0, twin: false, tails: 2s}
";

/// The kubelet asks one of two pods, every five seconds, for what takes a while.
const PROBED: &str = "
service: {builtin: cpu, requests: [GET /cpu?n=10], limits: {cpu: 0.5}, ready: {http: '/cpu?n=32'}}
platforms:
  - {name: probed, kubernetes: {expose: podIP, probes: default}}
  - {name: left alone, kubernetes: {expose: podIP}}
loads: [{rate: 200/s, connections: 50}]
plan: {slice: 300ms, blocks: 1, deployments: 1, warmup: 1s, repeats: 0, twin: false, tails: 8s}
";

/// What a cause did to the slowest requests of a cell; nothing if it never occurred.
fn met(cell: &Cell, cause: Cause) -> Option<&TailCause> {
    let tail = cell.tail.as_ref().unwrap_or_else(|| panic!("{} was not watched", cell.label));
    assert!(tail.requests > 0 && tail.from_ns > 0, "{tail:?}");
    tail.causes.iter().find(|seen| seen.cause == cause && seen.touched > 0.0)
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
    let throttled = met(held_back, Cause::Throttled).expect("a quota that is used up");
    // Nearly all, unless others take the CPUs and make some requests slow themselves.
    assert!(throttled.touched > 0.5 && throttled.time_share > 0.05, "{throttled:?}");
    assert_eq!(met(free, Cause::Throttled), None);
}

/// How likely a request met another client than the load by chance: zero where there was none.
fn other_client_by_chance(cell: &Cell) -> f64 {
    let causes = &cell.tail.as_ref().unwrap_or_else(|| panic!("{} was not watched", cell.label)).causes;
    let found = causes.iter().find(|seen| seen.cause == Cause::OtherClient);
    found
        .unwrap_or_else(|| panic!("other clients of {} were not looked for: {causes:?}", cell.label))
        .by_chance
}

#[test]
fn a_probe_of_the_kubelet_is_seen_and_a_pod_without_probes_has_no_other_client() {
    let (cluster, place) = (&cluster(), Place::shared());
    place.write("experiment.yaml", PROBED);
    let mut command = place.command(["run", "experiment.yaml", "--json", "-"]);
    let ended = ended(command.env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = ended.result();
    // Which requests were slowest depends on who else has the machine's CPUs meanwhile.
    let [probed, left_alone] = result.cells.as_slice() else { panic!("{:?}", result.cells) };
    assert!(other_client_by_chance(probed) > 0.0);
    assert_eq!(other_client_by_chance(left_alone), 0.0);
}
