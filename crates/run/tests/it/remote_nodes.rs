//! A slice is judged by the machine that its service is on: nodes with other CPUs and other clocks than this machine, read by their agents.
//! No such node is at hand, so their files are generated in the kernel's format ([`RecordedNode`]).

use std::sync::Arc;
use std::time::Duration;

use loadline_model::gates::{Gate, GateFailure};
use loadline_model::rows::SliceRow;

use crate::fake::{RecordedNode, Use, World, with};

/// A hundred ticks of the node's files.
const SLICE: Duration = Duration::from_secs(1);

const IDLE: Use = Use { service: 0.0, others: 0.0, stolen: 0.0 };

/// The slices of a service on a node, in a run whose other services are on this machine of two CPUs. All are measured once.
fn slices_on(node: &Arc<RecordedNode>) -> Vec<SliceRow> {
    let experiment = with(|plan| (plan.slice, plan.deployments, plan.repeats) = (SLICE, 1, 0));
    let mut world = World::new(experiment).site(2, |site| site.node = Some(node.clone()));
    world.run().unwrap();
    let (there, here): (Vec<SliceRow>, Vec<SliceRow>) =
        world.journal.slices.take().into_iter().partition(|slice| slice.cell.0 == 2);
    assert_eq!((there.len(), here.len()), (3, 6));
    assert!(here.iter().all(|slice| slice.gate_failures.is_empty()), "this machine is as it was");
    there
}

fn gates(slice: &SliceRow) -> Vec<Gate> {
    slice.gate_failures.iter().map(GateFailure::gate).collect()
}

/// The CPUs that others had during a slice, as the gates saw it.
fn others_cpus(slice: &SliceRow) -> f64 {
    let foreign_ns = slice.cpu_use.and_then(|cpu| cpu.foreign_ns).expect("seen");
    foreign_ns as f64 / slice.observations.wall_ns().expect("seen") as f64
}

#[test]
fn a_node_of_64_cpus_that_the_service_fills_is_not_disturbed() {
    for service in [0.0, 2.5, 40.0, 63.0] {
        for slice in slices_on(&RecordedNode::start(64, 1.0, Use { service, ..IDLE })) {
            assert_eq!(gates(&slice), [], "{service} CPUs");
            let cpu_use = slice.cpu_use.unwrap();
            assert_eq!(cpu_use.capacity_ns, 64 * 1_000_000_000);
            assert_eq!(cpu_use.steal_ns, 0);
            // A tick of the file is a hundredth of a CPU.
            assert!(others_cpus(&slice).abs() <= 0.021, "{cpu_use:?}");
            let used = slice.observations.service_cpu_ns().unwrap() as f64 / 1e9;
            assert!((used - service).abs() < 0.001, "{used} of {service} CPUs");
            assert_eq!(slice.observations.count("softirqs.net_rx"), Some(64 * 1_000), "of all CPUs");
            assert_eq!(slice.observations.machine_cpus(), Some(64));
        }
    }
}

#[test]
fn others_on_a_node_of_64_cpus_are_held_against_64() {
    // Six CPUs are three times this machine's, and less than a tenth of the node's.
    for (others, expected) in [(6.0, &[][..]), (32.0, &[Gate::ForeignCpu][..])] {
        for slice in slices_on(&RecordedNode::start(64, 1.0, Use { service: 20.0, others, stolen: 0.0 })) {
            assert_eq!(gates(&slice), expected, "{others} CPUs");
            assert!((others_cpus(&slice) - others).abs() <= 0.031);
        }
    }
}

#[test]
fn time_stolen_from_a_node_of_64_cpus_is_held_against_64() {
    for (stolen, expected) in [(1.0, &[][..]), (4.0, &[Gate::Steal][..])] {
        for slice in slices_on(&RecordedNode::start(64, 1.0, Use { stolen, ..IDLE })) {
            assert_eq!(gates(&slice), expected, "{stolen} CPUs");
        }
    }
}

#[test]
fn time_stolen_from_a_single_cpu_is_held_against_that_one() {
    // Of two CPUs, as this machine has, it would be half as much, and within the bound.
    let node = RecordedNode::start(1, 1.0, Use { service: 0.3, others: 0.0, stolen: 0.055 });
    assert!(slices_on(&node).iter().all(|slice| gates(slice) == [Gate::Steal]));
}

#[test]
fn a_node_that_needs_all_its_cpu_time_for_the_service_is_slow_and_not_disturbed() {
    let node = RecordedNode::start(1, 1.0, Use { service: 1.0, ..IDLE });
    for slice in slices_on(&node) {
        assert_eq!(gates(&slice), []);
        assert_eq!(slice.observations.count("cpu.machine.idle"), Some(0));
    }
}

#[test]
fn a_node_with_slower_clocks_is_judged_by_its_own_time() {
    // Its 64 CPUs count a fifth less than this machine's clock would expect of them. Nobody has used that fifth.
    for (others, expected) in [(0.0, &[][..]), (32.0, &[Gate::ForeignCpu][..])] {
        let node = RecordedNode::start(64, 0.8, Use { service: 16.0, others, stolen: 0.0 });
        for slice in slices_on(&node) {
            assert_eq!(gates(&slice), expected, "{others} CPUs");
            assert_eq!(slice.observations.wall_ns(), Some(800_000_000));
            assert_eq!(slice.cpu_use.unwrap().capacity_ns, 64 * 800_000_000);
            assert!((others_cpus(&slice) - others).abs() <= 0.041);
        }
    }
}
