//! Cells so slow that their slices would hold too few requests are measured request by request.

use std::time::Duration;

use loadline_model::experiment::{Experiment, Interleave, OnFailure};
use loadline_model::load::{Arrivals, Load};

use crate::fake::{World, experiment, with};

/// As [`experiment`], at 100 requests a minute.
fn slow(change: impl FnOnce(&mut Experiment)) -> Experiment {
    let mut slow = experiment();
    slow.plan.slice = Duration::from_secs(2);
    slow.plan.deployments = 1;
    slow.loads[0].load = Load::Open { rate: "100/min".parse().unwrap(), arrivals: Arrivals::Uniform };
    change(&mut slow);
    slow
}

#[test]
fn slow_cells_of_an_idle_machine_share_a_turn_as_long_as_their_slices() {
    let mut world = World::new(slow(|_| ()));
    world.run().unwrap();
    assert_eq!(world.journal.together.borrow().len(), 3);
    assert_eq!(world.count("drive site 0 for 6s"), 3, "{:?}", world.log());
    let slices = world.journal.slices.borrow();
    assert_eq!(slices.len(), 3 * 3);
    assert!(slices.iter().all(|slice| slice.position == 0), "one turn a block");
}

#[test]
fn figures_of_the_whole_machine_are_not_attributed_to_one_of_them() {
    let mut world = World::new(slow(|_| ()));
    world.run().unwrap();
    let slices = world.journal.slices.borrow();
    assert!(slices.iter().all(|slice| slice.observations.machine_cpu().is_none()));
    assert!(slices.iter().all(|slice| slice.observations.service_cpu_ns().is_some()));
}

#[test]
fn fast_cells_take_turns() {
    let mut world = World::new(experiment());
    world.run().unwrap();
    assert!(world.journal.together.borrow().is_empty());
}

#[test]
fn busy_cells_take_turns_however_slow_they_are() {
    // A request a 600 ms, each of 100 ms of CPU, on three sites: half a CPU.
    let mut world = World::new(slow(|_| ()));
    for site in 0..3 {
        world = world.site(site, |site| site.cpu = Duration::from_secs(3));
    }
    world.run().unwrap();
    assert!(world.journal.together.borrow().is_empty());
}

#[test]
fn an_explicit_choice_is_followed() {
    let mut turns = World::new(slow(|slow| slow.plan.interleave = Interleave::Slices));
    turns.run().unwrap();
    assert!(turns.journal.together.borrow().is_empty());

    let mut together = World::new(with(|plan| plan.interleave = Interleave::Requests));
    together.run().unwrap();
    assert_eq!(together.journal.together.borrow().len(), 3);
}

#[test]
fn one_that_ends_leaves_the_others_side_by_side() {
    let experiment = slow(|slow| slow.plan.on_failure = OnFailure::Continue);
    let mut world = World::new(experiment).site(1, |site| site.ends_after = Some(10));
    world.run().unwrap();
    assert_eq!(world.journal.failures.borrow().len(), 1);
    assert!(
        world.count("drive site 0 for 4s") >= 1,
        "two cells share the turns that follow: {:?}",
        world.log()
    );
}
