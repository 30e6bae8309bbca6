//! A known cost at a pod's link.

use aya::{
    programs::loaded_programs,
    sys::{Stats, enable_stats},
};
use loadline_bpf::{BpfError, MAX_SPIN_LOOPS, attach_spin, spin_ns_per_packet};

use crate::topology::{POD, POD_LINK, Topology};

#[test]
fn ten_times_the_loops_take_several_times_as_long() {
    let [few, many] = [5_000, 50_000].map(|loops| spin_ns_per_packet(loops).unwrap());
    assert!(many > 3.0 * few, "{few} ns, then {many} ns");
}

#[test]
fn each_request_is_delayed_once_and_answered() {
    let topology = Topology::new(true);
    let port = topology.pod.echo();
    let attached = topology.node.run(|| attach_spin(POD_LINK, 10_000)).unwrap();
    // (runs, nanoseconds)
    let statistics = || {
        let ours = |id| attached.program_ids() == [id];
        let program = loaded_programs().map(Result::unwrap).find(|program| ours(program.id())).unwrap();
        (program.run_count(), program.run_time().as_nanos() as f64)
    };
    let _counting = enable_stats(Stats::RunTime).unwrap();
    let before = statistics();
    assert!(topology.client.can_talk_to(POD, port, 500));
    let after = statistics();
    assert!(after.0 >= before.0 + 500, "{before:?} {after:?}");
    // A delayed packet costs a thousand times as much as another one, so the time shows how many were delayed.
    let held = (after.1 - before.1) / spin_ns_per_packet(10_000).unwrap();
    assert!(held > 250.0, "{held} of 500 packets were held");
}

#[test]
fn more_loops_than_the_kernel_allows_are_rejected() {
    let error = spin_ns_per_packet(MAX_SPIN_LOOPS + 1).unwrap_err();
    assert!(matches!(error, BpfError::TooManyLoops { .. }), "{error}");
    assert!(spin_ns_per_packet(0).unwrap() < spin_ns_per_packet(MAX_SPIN_LOOPS).unwrap());
}

#[test]
fn a_missing_link_is_named() {
    let topology = Topology::new(false);
    let error = topology.node.run(|| attach_spin("pod9", 1)).unwrap_err();
    assert!(error.to_string().contains("there is no link `pod9`"), "{error}");
}
