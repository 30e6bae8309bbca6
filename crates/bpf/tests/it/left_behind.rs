//! What remains after the programs are dropped.

use std::{
    thread,
    time::{Duration, Instant},
};

use aya::programs::loaded_programs;
use loadline_bpf::{attach_datapath, attach_spin};

use crate::topology::{POD, POD_LINK, POD_MAC, Topology, WIRE};

/// Which of these programs the kernel still has.
fn loaded(ids: &[u32]) -> Vec<u32> {
    // A program may be unloaded while they are listed.
    let ids_now: Vec<u32> = loaded_programs().filter_map(|program| Some(program.ok()?.id())).collect();
    ids.iter().copied().filter(|id| ids_now.contains(id)).collect()
}

#[test]
fn no_program_remains_in_the_kernel_after_a_drop_in_any_namespace() {
    let topology = Topology::new(false);
    let attached = topology.node.run(|| {
        [
            attach_datapath(WIRE, POD_LINK, POD, POD_MAC).unwrap(),
            attach_spin(POD_LINK, 1000).unwrap(),
            attach_spin(POD_LINK, 2000).unwrap(),
        ]
    });
    let ids = attached.each_ref().map(|programs| programs.program_ids()).concat();
    assert_eq!(ids.len(), 4);
    assert_eq!(loaded(&ids), ids);
    // This is another network namespace than the links'.
    drop(attached);
    for filters in ["wire ingress", "pod0 ingress", "pod0 egress"] {
        assert_eq!(topology.node.command(&format!("tc filter show dev {filters}")), "", "{filters}");
    }
    // The kernel frees them when no CPU can be running them any more.
    let limit = Instant::now() + Duration::from_secs(20);
    while !loaded(&ids).is_empty() {
        assert!(Instant::now() < limit, "still loaded: {:?}", loaded(&ids));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_namespace_takes_its_programs_with_it() {
    let topology = Topology::new(false);
    let attached = topology.node.run(|| attach_spin(POD_LINK, 1000)).unwrap();
    topology.node.ip(&format!("link delete {POD_LINK}"));
    let ids = attached.program_ids().to_vec();
    drop(topology);
    drop(attached);
    let limit = Instant::now() + Duration::from_secs(20);
    while !loaded(&ids).is_empty() {
        assert!(Instant::now() < limit, "still loaded: {ids:?}");
        thread::sleep(Duration::from_millis(20));
    }
}
