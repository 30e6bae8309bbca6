//! Ctrl-C at each stage: what was measured is kept, everything is taken down, and the run is called interrupted.

use std::sync::atomic::Ordering;

use loadline_model::RunState;

use crate::fake::{Behaviour, World, experiment};

/// A run that is interrupted as the change of one site says.
fn interrupted(change: impl FnOnce(&mut Behaviour)) -> World {
    let mut world = World::new(experiment()).site(2, change);
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Interrupted);
    assert!(outcome.failure.is_none());
    assert_eq!(*world.journal.state.borrow(), Some(RunState::Interrupted));
    assert!(world.journal.failures.borrow().is_empty(), "an interrupt is no failure");
    world
}

#[test]
fn before_anything_is_deployed() {
    let mut world = World::new(experiment());
    world.stop.store(true, Ordering::Relaxed);
    assert_eq!(world.run().unwrap().state, RunState::Interrupted);
    assert_eq!(world.count("start"), 0);
}

#[test]
fn while_a_service_gets_ready() {
    let world = interrupted(|site| site.interrupted_before_ready = true);
    assert_eq!(world.journal.slices.borrow().len(), 0);
}

#[test]
fn while_warming_up() {
    let world = interrupted(|site| site.interrupted_at = Some(1));
    assert_eq!(world.journal.slices.borrow().len(), 0);
}

#[test]
fn while_measuring() {
    let world = interrupted(|site| site.interrupted_at = Some(10));
    let slices = world.journal.slices.borrow();
    assert!(!slices.is_empty() && slices.len() < 2 * 3 * 3);
    let of_the_interrupted = slices.iter().filter(|slice| slice.cell.0 == 2).count();
    assert!(of_the_interrupted < 3, "a slice that was cut short is not kept");
}

#[test]
fn between_two_deployments() {
    // The profile comes last in a deployment; here nothing is profiled, so the last drive is the end of the third block.
    let mut world = World::new(experiment());
    let stop = world.stop.clone();
    let mut is_settled = move |deployments| {
        stop.store(true, Ordering::Relaxed);
        deployments > 99
    };
    assert_eq!(world.run_until(&mut is_settled).unwrap().state, RunState::Interrupted);
    assert_eq!(world.journal.slices_of(0), 2 * 3);
}
