//! Runs in which nothing goes wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loadline_model::RunState;
use loadline_model::experiment::OnFailure;
use loadline_model::notes::Note;
use loadline_model::tails::Cause;

use crate::fake::{Disturbance, World, experiment, with};

#[test]
fn every_cell_has_a_slice_in_every_block_of_every_deployment() {
    let mut world = World::new(experiment());
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Complete);
    assert_eq!(*world.journal.state.borrow(), Some(RunState::Complete));
    for cell in 0..3 {
        assert_eq!(world.journal.slices_of(cell), 2 * 3, "cell {cell}");
    }
    assert_eq!(world.journal.deployments.borrow().len(), 2 * 3);
    assert_eq!(world.count("stop site"), 2 * 3, "each was stopped and not just dropped");
}

#[test]
fn the_cells_of_a_block_have_one_schedule_and_each_block_another() {
    let mut world = World::new(experiment());
    world.run().unwrap();
    let mut seeds_of_blocks = std::collections::BTreeSet::new();
    for (round, block) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        let slices = world.journal.slices.borrow();
        let order: Vec<_> =
            slices.iter().filter(|slice| (slice.round, slice.block) == (round, block)).collect();
        assert_eq!(order.len(), 3);
        seeds_of_blocks.insert(order.iter().map(|slice| slice.cell).collect::<Vec<_>>());
    }
    assert!(seeds_of_blocks.len() > 1, "the order of the cells is random");
    let drives: Vec<String> = world.log().into_iter().filter(|line| line.contains("for 100ms")).collect();
    let seeds: std::collections::BTreeSet<&str> =
        drives.iter().filter_map(|line| line.split("seed ").nth(1)).collect();
    assert_eq!((drives.len(), seeds.len()), (2 * 3 * 3, 2 * 3), "one seed a block, for all three cells");
}

#[test]
fn the_same_seed_gives_the_same_order_and_another_seed_another() {
    let log_of = |seed| {
        let mut world = World::new(with(|plan| plan.seed = seed));
        world.run().unwrap();
        let mut log = world.log();
        // Sites are stopped at once.
        log.retain(|line| !line.starts_with("stop") && !line.starts_with("gone"));
        log
    };
    assert_eq!(log_of(7), log_of(7));
    assert_ne!(log_of(7), log_of(8));
}

#[test]
fn what_a_runtime_tells_once_it_is_warm_is_kept_by_deployment() {
    let mut world = World::new(experiment()).site(1, |site| site.collector = Some("Serial"));
    world.run().unwrap();
    let kept = world.journal.runtimes.borrow();
    let places: Vec<_> = kept.iter().map(|(site, round, _)| (site.0, *round)).collect();
    assert_eq!(places, [(1, 0), (1, 1)], "the others have none");
    assert!(kept.iter().all(|(.., runtime)| runtime.facts["jvm.collector"] == "Serial"));
    let steps = world.journal.steps();
    let at = |name| steps.iter().position(|step| *step == name);
    assert!(at("warm up") < at("runtime") && at("runtime") < at("slice"), "{steps:?}");
}

#[test]
fn a_slice_keeps_the_load_that_it_was() {
    let mut world = World::new(experiment());
    world.run().unwrap();
    let expected = world.experiment.loads[0].load.clone();
    assert!(world.journal.slices.borrow().iter().all(|slice| slice.load == expected));
}

#[test]
fn a_site_that_is_slow_to_start_is_waited_for_after_the_others() {
    let mut world =
        World::new(with(|plan| plan.deployments = 1)).site(0, |site| site.is_slow_to_start = true);
    world.run().unwrap();
    let waits: Vec<String> = world.log().into_iter().filter(|line| line.starts_with("wait")).collect();
    assert_eq!(waits.last().map(String::as_str), Some("wait site 0"));
}

#[test]
fn a_slow_service_is_probed_until_it_is_ready() {
    let mut world = World::new(experiment()).site(2, |site| site.ready_after = 100);
    assert_eq!(world.run().unwrap().state, RunState::Complete);
    let deployments = world.journal.deployments.borrow();
    let slow = deployments.iter().find(|deployment| deployment.site.0 == 2).unwrap();
    // 100 pauses of 1 ms, the later ones a fiftieth of the time until then.
    assert!((100.0..200.0).contains(&slow.ready_ms), "{} ms", slow.ready_ms);
}

#[test]
fn a_warm_up_ends_when_service_times_are_stationary() {
    let mut world = World::new(experiment());
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    assert_eq!(warm_ups.len(), 2 * 3);
    assert!(warm_ups.iter().all(|warm_up| warm_up.stationary && warm_up.seconds < 3.0), "{warm_ups:?}");
}

#[test]
fn without_a_warm_up_the_first_load_of_each_deployment_is_a_slice() {
    let mut world = World::new(with(|plan| {
        (plan.warmup, plan.blocks, plan.repeats) = (Duration::ZERO, 1, 0);
    }));
    world.run().unwrap();
    assert!(world.journal.warm_ups.borrow().is_empty());
    let slices = world.journal.slices.borrow();
    let (cells, rounds) = (3, world.experiment.plan.deployments as usize);
    assert_eq!(slices.len(), cells * rounds);
}

#[test]
fn a_warm_up_that_never_becomes_stationary_ends_at_its_time_limit() {
    let falling = |drive: usize| 1_000_000 / (drive as u64 + 1);
    let mut world = World::new(with(|plan| plan.deployments = 1)).site(2, |site| site.service_ns = falling);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let of_pod = warm_ups.iter().find(|warm_up| warm_up.cell.0 == 2).unwrap();
    assert!(!of_pod.stationary && of_pod.seconds >= 3.0, "{of_pod:?}");
}

/// Level service times are no proof: a loaded JVM is as slow in one second of its compiler's work as in the next.
#[test]
fn a_warm_up_goes_on_while_the_compiler_works_and_after_it_for_as_long_again() {
    let mut world = World::new(experiment()).site(2, |site| site.compiles_for = 12);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let cycles = |cell, round| {
        let found = warm_ups.iter().find(|warm_up| (warm_up.cell.0, warm_up.round) == (cell, round)).unwrap();
        assert!(found.stationary, "{found:?}");
        found.figures.len()
    };
    // Of the cycles 8 to 15 the compiler took a tenth in four: 5 %.
    assert_eq!((cycles(2, 0), cycles(0, 0)), (16, 8));
    let seconds = |round| warm_ups.iter().find(|one| (one.cell.0, one.round) == (2, round)).unwrap().seconds;
    assert_eq!((cycles(2, 1), seconds(1)), (16, seconds(0)), "it compiles again in each deployment");
}

#[test]
fn a_compiler_that_is_never_done_ends_no_warm_up_before_its_time_limit() {
    let mut world =
        World::new(with(|plan| plan.deployments = 1)).site(2, |site| site.compiles_for = usize::MAX);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let of_pod = warm_ups.iter().find(|warm_up| warm_up.cell.0 == 2).unwrap();
    assert!(of_pod.stationary && of_pod.seconds >= 3.0, "{of_pod:?}");
}

#[test]
fn what_was_warm_at_once_is_warmed_up_in_short_cycles_when_it_is_deployed_again() {
    let settles_late = |drive: usize| if drive < 12 { 1_000_000 / (drive as u64 + 1) } else { 80_000 };
    let mut world = World::new(experiment()).site(2, |site| site.service_ns = settles_late);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let seconds = |cell, round| {
        let found = warm_ups.iter().find(|warm_up| (warm_up.cell.0, warm_up.round) == (cell, round)).unwrap();
        assert!(found.stationary);
        (found.seconds, found.figures.len())
    };
    let close = |(found, cycles): (f64, usize), expected: f64| {
        assert!(
            (found - expected).abs() < 1e-9 && cycles == 8,
            "{found} s in {cycles} cycles, not {expected} s"
        );
    };
    close(seconds(0, 0), 8.0 * 0.150);
    close(seconds(0, 1), 8.0 * 0.0125);
    // Its trend took longer than that, and could again.
    assert!(seconds(2, 0).0 > 8.0 * 0.150);
    assert_eq!(seconds(2, 1), seconds(2, 0));
}

#[test]
fn what_gets_faster_while_it_is_measured_is_warmed_up_in_long_cycles_again() {
    // Level in the eight cycles of its warm-up, as a compiler that waits for the ten-thousandth call.
    let compiles_late = |drive: usize| if drive < 12 { 100_000 } else { 60_000 };
    let experiment = with(|plan| plan.blocks = 8);
    let mut world = World::new(experiment).site(2, |site| site.service_ns = compiles_late);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let seconds = |cell, round| {
        let found = warm_ups.iter().find(|warm_up| (warm_up.cell.0, warm_up.round) == (cell, round));
        found.unwrap().seconds
    };
    assert!((seconds(2, 1) - seconds(2, 0)).abs() < 1e-9, "{} s", seconds(2, 1));
    assert!(seconds(0, 1) < 0.5 * seconds(0, 0), "the others were warm");
}

#[test]
fn a_machine_that_was_slow_once_makes_no_later_warm_up_longer() {
    // Each deployment has 8 drives of warm-up and 8 slices; the machine is slow in the first slices of the third.
    fn slow_once(drive: usize) -> u64 {
        static DEPLOYMENTS: AtomicUsize = AtomicUsize::new(0);
        let deployment = DEPLOYMENTS.fetch_add(usize::from(drive == 0), Ordering::Relaxed);
        if deployment == 3 && (8..12).contains(&drive) { 100_000 } else { 80_000 }
    }
    let experiment = with(|plan| (plan.blocks, plan.deployments) = (8, 5));
    let mut world = World::new(experiment).site(2, |site| site.service_ns = slow_once);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let of_pod: Vec<f64> =
        warm_ups.iter().filter(|warm_up| warm_up.cell.0 == 2).map(|warm_up| warm_up.seconds).collect();
    assert_eq!(of_pod.len(), 5);
    assert!(of_pod[1..].iter().all(|seconds| *seconds < 0.5 * of_pod[0]), "{of_pod:?}");
    let slices = world.journal.slices.borrow();
    let slow = slices.iter().filter(|slice| slice.service.value_at_quantile(0.5) > 90_000);
    assert!(slow.map(|slice| (slice.cell.0, slice.round)).eq([(2, 2); 4]), "the machine was slow");
}

#[test]
fn a_machine_that_gets_slower_does_not_prolong_the_warm_up_of_what_was_warm_before() {
    // The first deployment is level; each drive of the second is slower than the one before.
    fn slower_and_slower(drive: usize) -> u64 {
        static DEPLOYMENTS: AtomicUsize = AtomicUsize::new(0);
        let deployment = DEPLOYMENTS.fetch_add(usize::from(drive == 0), Ordering::Relaxed);
        if deployment == 2 { 80_000 + 4_000 * drive as u64 } else { 80_000 }
    }
    let mut world =
        World::new(with(|plan| plan.deployments = 2)).site(2, |site| site.service_ns = slower_and_slower);
    world.run().unwrap();
    let warm_ups = world.journal.warm_ups.borrow();
    let of_pod: Vec<_> = warm_ups.iter().filter(|warm_up| warm_up.cell.0 == 2).collect();
    assert!(of_pod.iter().all(|warm_up| warm_up.stationary && warm_up.figures.len() == 8), "{of_pod:?}");
    let second = &of_pod[1].figures;
    assert!(second[7] > 1.2 * second[0], "the machine did not get slower: {second:?}");
}

#[test]
fn each_request_is_tried_once_at_each_service_and_nothing_is_measured() {
    let mut world = World::new(with(|plan| (plan.deployments, plan.on_failure) = (1, OnFailure::Continue)))
        .site(1, |site| site.ends_after = Some(0));
    let (outcome, tried) = world.try_out().unwrap();
    assert_eq!(outcome.state, RunState::Complete);
    let platforms: Vec<&str> = tried.iter().map(|tried| tried.platform.as_str()).collect();
    assert_eq!(platforms.len(), 2, "{platforms:?}");
    assert_eq!((world.count("try site"), world.count("drive site")), (2, 0));
    assert!(world.journal.slices.borrow().is_empty() && world.journal.warm_ups.borrow().is_empty());
}

#[test]
fn where_the_time_went_adds_up() {
    let stolen = Some((9, Disturbance::Stolen(0.5)));
    let mut world = World::new(with(|plan| plan.profile = Some(std::time::Duration::from_millis(200))))
        .site(0, |site| site.ready_after = 100)
        .site(2, |site| site.disturbed = stolen);
    world.run().unwrap();
    let spent = world.journal.time_spent.borrow().unwrap();
    let slices = world.journal.slices.borrow();
    let of = |repeats: bool| -> f64 {
        slices.iter().filter(|slice| (slice.attempt > 0) == repeats).map(|slice| slice.duration_s).sum()
    };
    let warm_ups: f64 = world.journal.warm_ups.borrow().iter().map(|warm_up| warm_up.seconds).sum();
    let ready: f64 = world.journal.deployments.borrow().iter().map(|row| row.ready_ms / 1e3).sum();
    assert!(of(true) > 0.0 && ready > 0.0, "nothing was repeated, or waited for");
    for (found, expected) in [
        (spent.measuring_s, of(false)),
        (spent.repeating_s, of(true)),
        (spent.warming_up_s, warm_ups),
        (spent.ready_s, ready),
        (spent.total_s, world.elapsed().as_secs_f64()),
        (spent.other_s(), 0.0),
    ] {
        assert!((found - expected).abs() < 1e-9, "{found} s, not {expected} s: {spent:?}");
    }
}

#[test]
fn a_note_is_kept_once() {
    let mut world = World::new(with(|plan| plan.profile = Some(std::time::Duration::from_millis(200))));
    world.run().unwrap();
    let notes = world.journal.notes.borrow();
    let told = notes.iter().filter(|note| **note == Note::ServiceNotHere).count();
    assert_eq!(told, 1, "{notes:?}");
}

#[test]
fn a_watched_slice_keeps_its_slowest_requests_beside_what_held_the_service_up() {
    let watched = with(|plan| plan.tails = Some(Duration::from_millis(100)));
    let mut world = World::new(watched).site(1, |site| site.is_watched = true);
    world.run().unwrap();
    let tails = world.journal.tails.borrow();
    assert_eq!(tails.len(), 2, "the only cell that can be watched, once a deployment");
    for tail in tails.iter() {
        assert_eq!(tail.cell.0, 1);
        assert!(tail.timeline.ended > tail.timeline.began, "{tail:?}");
        assert!(tail.timeline.spans.contains_key(&Cause::RunQueue), "{tail:?}");
        assert!(tail.slowest.is_sorted(), "{tail:?}");
    }
    let notes = world.journal.notes.borrow();
    assert_eq!(notes.iter().filter(|note| **note == Note::TailsNotSeen).count(), 1, "of the others, once");
    for cell in 0..3 {
        assert_eq!(world.journal.slices_of(cell), 2 * 3, "watched slices are no measurements: cell {cell}");
    }
}
