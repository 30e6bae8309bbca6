//! Slices that fail a gate: repeated when the machine was disturbed, kept in any case, never repeated for what the service did.

use std::time::Duration;

use loadline_model::gates::Gate;
use loadline_model::rows::SliceRow;

use crate::fake::{Disturbance, World, experiment, with};

fn gates(slice: &SliceRow) -> Vec<Gate> {
    slice.gate_failures.iter().map(|failure| failure.gate()).collect()
}

/// Slices of cell 2 in a run of one deployment of three blocks in which all its drives from one on are disturbed.
fn slices_disturbed_by(disturbance: Disturbance, repeats: u32) -> Vec<SliceRow> {
    let experiment = with(|plan| (plan.deployments, plan.repeats) = (1, repeats));
    let mut world = World::new(experiment).site(2, |site| site.disturbed = Some((0, disturbance)));
    world.run().unwrap();
    world.journal.slices.take().into_iter().filter(|slice| slice.cell.0 == 2).collect()
}

#[test]
fn a_slice_without_its_cpus_is_measured_again_and_kept() {
    let slices = slices_disturbed_by(Disturbance::Stolen(0.2), 1);
    assert_eq!(slices.len(), 3 * 2, "each block's slice and its repeat");
    assert!(slices.iter().all(|slice| gates(slice) == [Gate::Steal]));
    assert_eq!(slices.iter().filter(|slice| slice.attempt == 1).count(), 3);
}

#[test]
fn it_is_measured_again_no_more_often_than_allowed() {
    assert_eq!(slices_disturbed_by(Disturbance::Stolen(0.2), 4).len(), 3 * 5);
    assert_eq!(slices_disturbed_by(Disturbance::Stolen(0.2), 0).len(), 3);
}

#[test]
fn other_programs_on_the_cpus_are_a_reason_too() {
    let slices = slices_disturbed_by(Disturbance::Foreign(0.5), 1);
    assert_eq!(slices.len(), 3 * 2);
    assert!(slices.iter().all(|slice| gates(slice) == [Gate::ForeignCpu]));
}

#[test]
fn what_the_service_does_is_not_measured_again() {
    let slices = slices_disturbed_by(Disturbance::Errors(0.5), 4);
    assert_eq!(slices.len(), 3);
    assert!(slices.iter().all(|slice| gates(slice) == [Gate::Errors]));
}

#[test]
fn a_repeat_comes_at_the_end_of_its_block_with_the_same_schedule() {
    let experiment = with(|plan| plan.deployments = 1);
    let mut world =
        World::new(experiment).site(2, |site| site.disturbed = Some((0, Disturbance::Stolen(0.2))));
    world.run().unwrap();
    let slices = world.journal.slices.borrow();
    for block in 0..3 {
        let last = slices.iter().rfind(|slice| slice.block == block).unwrap();
        assert_eq!((last.cell.0, last.attempt, last.position), (2, 1, 3));
    }
}

#[test]
fn a_remote_machine_is_judged_by_its_own_cpus() {
    // 64 CPUs of which other programs use 32: half of the machine, though sixteen times all that the load's machine has.
    let busy = |site: &mut crate::fake::Behaviour| {
        (site.machine, site.cpus) = (Some("node-7"), 64);
        site.disturbed = Some((0, Disturbance::Foreign(0.5)));
    };
    let mut world = World::new(with(|plan| plan.deployments = 1)).site(2, busy);
    world.run().unwrap();
    for slice in world.journal.slices.borrow().iter() {
        let expected: &[Gate] = if slice.cell.0 == 2 { &[Gate::ForeignCpu] } else { &[] };
        assert_eq!(gates(slice), expected, "cell {}", slice.cell);
        let cpu_use = slice.cpu_use.expect("the machine was read");
        let cpus = if slice.cell.0 == 2 { 64 } else { 2 };
        assert_eq!(cpu_use.capacity_ns, cpus * 100_000_000);
    }
}

#[test]
fn an_idle_remote_machine_is_not_taken_for_a_busy_one() {
    let idle = |site: &mut crate::fake::Behaviour| (site.machine, site.cpus) = (Some("node-7"), 64);
    let mut world = World::new(with(|plan| plan.deployments = 1)).site(2, idle);
    world.run().unwrap();
    for slice in world.journal.slices.borrow().iter() {
        assert_eq!(gates(slice), []);
        assert_eq!(slice.cpu_use.and_then(|cpu| cpu.foreign_ns), Some(0), "cell {}", slice.cell);
    }
}

#[test]
fn a_service_elsewhere_is_not_taken_off_this_machines_time() {
    // It uses 50 ms of node-7 in each slice; this machine's capacity is 200 ms.
    let elsewhere = |site: &mut crate::fake::Behaviour| {
        (site.machine, site.cpu) = (Some("node-7"), Duration::from_millis(50));
    };
    let mut world = World::new(experiment()).site(2, elsewhere);
    world.run().unwrap();
    let slices = world.journal.slices.borrow();
    let here = slices.iter().find(|slice| slice.cell.0 == 0).unwrap();
    assert_eq!(here.cpu_use.and_then(|cpu| cpu.foreign_ns), Some(0));
}

#[test]
fn beside_an_external_service_other_programs_cannot_be_told() {
    let mut world = World::new(with(|plan| plan.deployments = 1)).site(2, |site| {
        (site.is_external, site.disturbed) = (true, Some((0, Disturbance::Foreign(0.5))));
    });
    world.run().unwrap();
    for slice in world.journal.slices.borrow().iter() {
        assert_eq!(slice.cpu_use.and_then(|cpu| cpu.foreign_ns), None);
        assert_eq!(gates(slice), []);
    }
}
