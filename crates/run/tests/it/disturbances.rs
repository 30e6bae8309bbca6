//! Slices that fail a gate: the cells of their load are measured again when the machine was disturbed, all is kept, and nothing is measured
//! again for what the service did.

use std::time::Duration;

use loadline_model::RunState;
use loadline_model::experiment::{Experiment, Interleave, LoadSpec, OnFailure};
use loadline_model::gates::Gate;
use loadline_model::load::{Arrivals, Load};
use loadline_model::rows::SliceRow;
use loadline_run::Event;

use crate::fake::{Behaviour, Disturbance, WARM_UP, World, experiment, with};

fn gates(slice: &SliceRow) -> Vec<Gate> {
    slice.gate_failures.iter().map(|failure| failure.gate()).collect()
}

/// What was measured in a block, in order: cell and attempt.
fn measured(world: &World, block: u32) -> Vec<(usize, u32)> {
    let slices = world.journal.slices.borrow();
    let mut of_block: Vec<&SliceRow> = slices.iter().filter(|slice| slice.block == block).collect();
    of_block.sort_by_key(|slice| slice.position);
    of_block.iter().map(|slice| (slice.cell.0, slice.attempt)).collect()
}

/// The cells of an attempt at a block.
fn cells(world: &World, block: u32, attempt: u32) -> Vec<usize> {
    let of_block = measured(world, block).into_iter();
    let mut cells: Vec<usize> = of_block.filter(|(_, of)| *of == attempt).map(|(cell, _)| cell).collect();
    cells.sort_unstable();
    cells
}

/// A run of one deployment of three blocks whose site 2 is disturbed in its first slice alone.
fn disturbed_once(disturbance: Disturbance) -> World {
    run_disturbed_once(with(|plan| plan.deployments = 1), disturbance, |_| ())
}

fn run_disturbed_once(
    experiment: Experiment,
    disturbance: Disturbance,
    change: impl FnOnce(&mut Behaviour),
) -> World {
    let mut world = World::new(experiment).site(2, |site| {
        (site.disturbed, site.recovers_at) = (Some((WARM_UP, disturbance)), Some(WARM_UP + 1));
        change(site);
    });
    world.run().unwrap();
    world
}

/// Slices of cell 2 in a run of one deployment of three blocks in which all its drives from one on are disturbed.
fn slices_disturbed_by(disturbance: Disturbance, repeats: u32) -> Vec<SliceRow> {
    let experiment = with(|plan| (plan.deployments, plan.repeats) = (1, repeats));
    let mut world = World::new(experiment).site(2, |site| site.disturbed = Some((0, disturbance)));
    world.run().unwrap();
    let slices = world.journal.slices.take();
    for cell in 0..2 {
        let others = slices.iter().filter(|slice| slice.cell.0 == cell).count();
        assert_eq!(others * 3, slices.len(), "each attempt is of all cells");
    }
    slices.into_iter().filter(|slice| slice.cell.0 == 2).collect()
}

#[test]
fn what_the_machine_does_while_late_responses_are_waited_for_disturbs_no_slice() {
    for disturbance in [Disturbance::Stolen(0.2), Disturbance::Foreign(0.5)] {
        let late = Duration::from_millis(300);
        let overrun = |site: &mut Behaviour| site.overruns = late;
        let world = run_disturbed_once(with(|plan| plan.deployments = 1), disturbance, overrun);
        let slices = world.journal.slices.borrow();
        assert!(slices.iter().all(|slice| slice.attempt == 0), "{disturbance:?}");
        let of_late = slices.iter().filter(|slice| slice.cell.0 == 2);
        for slice in of_late {
            assert_eq!(slice.cpu_use.unwrap().capacity_ns, 1_000_000, "as it was read in between");
            assert!(slice.observations.wall_ns().unwrap() > late.as_nanos() as u64, "to the last response");
        }
    }
}

#[test]
fn a_disturbed_block_is_measured_again_as_a_whole() {
    for disturbance in
        [Disturbance::Stolen(0.2), Disturbance::Foreign(0.5), Disturbance::Paused(Duration::from_millis(20))]
    {
        let world = disturbed_once(disturbance);
        let (first, second) = (measured(&world, 0)[..3].to_vec(), measured(&world, 0)[3..].to_vec());
        assert!(first.iter().all(|(_, attempt)| *attempt == 0), "{disturbance:?}");
        let again: Vec<(usize, u32)> = first.iter().map(|(cell, _)| (*cell, 1)).collect();
        assert_eq!(second, again, "at the end of the block, in the same order");
        assert_eq!((measured(&world, 1).len(), measured(&world, 2).len()), (3, 3), "and no other block");
    }
}

#[test]
fn the_gate_that_failed_is_the_disturbed_cells_own() {
    let world = disturbed_once(Disturbance::Paused(Duration::from_millis(20)));
    for slice in world.journal.slices.borrow().iter() {
        let is_disturbed = (slice.cell.0, slice.block, slice.attempt) == (2, 0, 0);
        assert_eq!(gates(slice), if is_disturbed { vec![Gate::Pauses] } else { vec![] });
        let paused = slice.observations.count("load.paused.over_10ms");
        assert_eq!(paused, Some(if is_disturbed { 20_000_000 } else { 0 }));
    }
}

#[test]
fn it_is_measured_again_no_more_often_than_allowed() {
    assert_eq!(slices_disturbed_by(Disturbance::Stolen(0.2), 4).len(), 3 * 5);
    assert_eq!(slices_disturbed_by(Disturbance::Stolen(0.2), 1).len(), 3 * 2);
    assert_eq!(slices_disturbed_by(Disturbance::Stolen(0.2), 0).len(), 3);
}

#[test]
fn every_attempt_is_kept_with_the_gates_that_it_failed() {
    for (disturbance, gate) in [
        (Disturbance::Stolen(0.2), Gate::Steal),
        (Disturbance::Foreign(0.5), Gate::ForeignCpu),
        (Disturbance::Paused(Duration::from_millis(20)), Gate::Pauses),
    ] {
        let slices = slices_disturbed_by(disturbance, 1);
        assert_eq!(slices.len(), 3 * 2);
        assert!(slices.iter().all(|slice| gates(slice) == [gate]));
    }
}

#[test]
fn what_the_service_does_is_not_measured_again() {
    for (disturbance, gate) in [
        (Disturbance::Errors(0.5), Gate::Errors),
        (Disturbance::Stalled(Duration::from_millis(50)), Gate::Rate),
    ] {
        let slices = slices_disturbed_by(disturbance, 4);
        assert_eq!(slices.len(), 3, "{disturbance:?}");
        assert!(slices.iter().all(|slice| gates(slice) == [gate]), "{disturbance:?}");
    }
}

#[test]
fn a_short_pause_is_shown_and_no_reason_to_measure_again() {
    let slices = slices_disturbed_by(Disturbance::Paused(Duration::from_millis(2)), 4);
    assert_eq!(slices.len(), 3);
    assert!(slices.iter().all(|slice| gates(slice).is_empty()));
    assert!(slices.iter().all(|slice| slice.observations.count("load.pauses.over_1ms") == Some(1)));
}

#[test]
fn loads_that_were_not_disturbed_are_not_measured_again() {
    let mut two_loads = with(|plan| plan.deployments = 1);
    let load = Load::Open { rate: "1000/s".parse().unwrap(), arrivals: Arrivals::Uniform };
    two_loads.loads.push(LoadSpec::new(load, 4));
    let two_loads = two_loads.with_every_cell();
    let mut world = World::new(two_loads).site(2, |site| {
        // Both of its loads warm it up.
        let first = 2 * WARM_UP;
        (site.disturbed, site.recovers_at) = (Some((first, Disturbance::Stolen(0.2))), Some(first + 1));
    });
    world.run().unwrap();
    assert_eq!(cells(&world, 0, 0), [0, 1, 2, 3, 4, 5]);
    let again = cells(&world, 0, 1);
    assert!(again == [0, 1, 2] || again == [3, 4, 5], "{again:?}");
}

#[test]
fn a_repeat_has_the_schedule_of_the_first_attempt() {
    let world = disturbed_once(Disturbance::Stolen(0.2));
    let log = world.log();
    let drives: Vec<&str> =
        log.iter().filter_map(|line| line.strip_prefix("drive site 2 for 100ms seed ")).collect();
    assert_eq!(drives.len(), 4, "{log:?}");
    assert_eq!(drives[0], drives[1]);
    assert_ne!(drives[1], drives[2]);
}

#[test]
fn the_cells_to_be_repeated_are_reported() {
    let world = disturbed_once(Disturbance::Stolen(0.2));
    let mut repeated: Vec<usize> = Vec::new();
    for event in &world.events {
        if let Event::Repeating { cells } = event {
            repeated.extend(cells.iter().map(|cell| cell.0));
        }
    }
    repeated.sort_unstable();
    assert_eq!(repeated, [0, 1, 2]);
}

#[test]
fn a_run_with_time_waits_while_nearly_every_slice_is_disturbed() {
    let waited = |within: Option<Duration>| {
        let experiment = with(|plan| (plan.deployments, plan.blocks, plan.within) = (1, 40, within));
        let mut world = World::new(experiment);
        for site in 0..3 {
            world = world.site(site, |site| {
                site.disturbed = Some((WARM_UP, Disturbance::Stolen(0.5)));
                site.recovers_at = Some(WARM_UP + 20);
            });
        }
        world.run().unwrap();
        let pauses = world.events.iter().filter_map(|event| match event {
            Event::Waiting { pause } => Some(pause.as_secs_f64()),
            _ => None,
        });
        let (pauses, spent) = (pauses.sum::<f64>(), world.journal.time_spent.borrow().unwrap().waiting_s);
        assert!((spent - pauses).abs() < 1e-6, "{spent} s, not {pauses} s");
        pauses
    };
    // 60 loud turns, looked at where an attempt at three cells begins: after 21 of them, and two times more.
    assert_eq!(waited(Some(Duration::from_secs(3600))), 1.0 + 2.0);
    assert_eq!(waited(Some(Duration::from_secs(1))), 0.0, "no time is left");
    assert_eq!(waited(Some(Duration::from_secs(12))), 1.0, "a quarter of the time at most");
    assert_eq!(waited(None), 0.0, "no time was given");
}

#[test]
fn interrupted_in_the_middle_of_a_repeat_the_slices_so_far_are_kept() {
    // Its second slice is that of the repeat.
    let mut world = World::new(with(|plan| plan.deployments = 1)).site(2, |site| {
        (site.disturbed, site.interrupted_at) =
            (Some((WARM_UP, Disturbance::Stolen(0.2))), Some(WARM_UP + 1));
    });
    assert_eq!(world.run().unwrap().state, RunState::Interrupted);
    assert_eq!(cells(&world, 0, 0), [0, 1, 2]);
    assert!(!cells(&world, 0, 1).contains(&2), "a slice that was cut short is not kept");
    assert!(measured(&world, 1).is_empty());
}

#[test]
fn a_service_that_ends_in_a_repeat_is_left_out_of_the_rest() {
    let experiment = with(|plan| (plan.deployments, plan.on_failure) = (1, OnFailure::Continue));
    let mut world = World::new(experiment).site(2, |site| {
        (site.disturbed, site.ends_after) = (Some((WARM_UP, Disturbance::Stolen(0.2))), Some(WARM_UP + 2));
    });
    world.run().unwrap();
    assert_eq!((cells(&world, 0, 0), cells(&world, 0, 1)), (vec![0, 1, 2], vec![0, 1]));
    assert_eq!((cells(&world, 1, 0), cells(&world, 1, 1)), (vec![0, 1], vec![]));
}

#[test]
fn side_by_side_a_disturbed_turn_is_measured_again() {
    let together = with(|plan| (plan.deployments, plan.interleave) = (1, Interleave::Requests));
    let world = run_disturbed_once(together, Disturbance::Stolen(0.5), |_| ());
    assert_eq!(world.journal.together.borrow().len(), 3);
    assert_eq!((cells(&world, 0, 0), cells(&world, 0, 1)), (vec![0, 1, 2], vec![0, 1, 2]));
    assert_eq!(measured(&world, 1).len(), 3);
}

#[test]
fn side_by_side_a_pause_is_what_all_load_threads_saw() {
    let together = || with(|plan| (plan.deployments, plan.interleave) = (1, Interleave::Requests));
    let long = Disturbance::Paused(Duration::from_millis(50));
    let alone = run_disturbed_once(together(), long, |_| ());
    assert_eq!(measured(&alone, 0).len(), 3, "the others ran: it waited for one of them");

    let mut world = World::new(together());
    for site in 0..3 {
        world = world.site(site, |site| site.disturbed = Some((WARM_UP, long)));
    }
    world.run().unwrap();
    assert_eq!((cells(&world, 0, 0), cells(&world, 0, 1)), (vec![0, 1, 2], vec![0, 1, 2]));
}

#[test]
fn where_a_service_may_take_the_loads_cpu_pauses_are_no_reason() {
    let mut shared = with(|plan| plan.deployments = 1);
    shared.placement.service_sees_all = true;
    let long = Disturbance::Paused(Duration::from_millis(50));
    assert_eq!(run_disturbed_once(shared, long, |_| ()).journal.slices.borrow().len(), 9);
    let world = run_disturbed_once(with(|plan| plan.deployments = 1), long, |site| site.is_external = true);
    assert_eq!(world.journal.slices.borrow().len(), 9);
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
