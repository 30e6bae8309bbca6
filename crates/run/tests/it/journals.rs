//! A store that fails: the run ends with its error, and nothing that was started is left.

use loadline_model::RunState;
use loadline_model::experiment::OnFailure;
use loadline_run::RunError;

use crate::fake::{World, experiment, with};

#[test]
fn that_cannot_be_begun_lets_nothing_start() {
    let mut world = World::new(experiment());
    world.journal.fails_at = Some(("begin", 0));
    let error = world.run_unprepared().unwrap_err();
    assert!(matches!(error, RunError::Journal(_)), "{error}");
    assert_eq!(world.count("start"), 0);
}

#[test]
fn that_fails_at_a_slice_ends_the_run_with_what_was_kept() {
    let mut world = World::new(experiment());
    world.journal.fails_at = Some(("slice", 4));
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Failed);
    assert!(outcome.failure.is_some_and(|failure| failure.to_string().contains("the disk is full")));
    assert_eq!(world.journal.slices.borrow().len(), 4);
}

#[test]
fn is_no_reason_to_go_on_without_a_site() {
    let mut world = World::new(with(|plan| plan.on_failure = OnFailure::Continue));
    world.journal.fails_at = Some(("slice", 4));
    assert_eq!(world.run().unwrap().state, RunState::Failed);
}

#[test]
fn that_fails_at_a_deployment_ends_the_run() {
    let mut world = World::new(experiment());
    world.journal.fails_at = Some(("deployment", 1));
    assert_eq!(world.run().unwrap().state, RunState::Failed);
}

#[test]
fn that_cannot_even_keep_the_failure_is_an_error() {
    let mut world = World::new(experiment()).site(2, |site| site.start_fails = Some("the daemon is gone"));
    world.journal.fails_at = Some(("failure", 0));
    assert!(matches!(world.run(), Err(RunError::Journal(_))));
}

#[test]
fn that_cannot_be_finished_is_an_error() {
    let mut world = World::new(experiment());
    world.journal.fails_at = Some(("finish", 0));
    assert!(matches!(world.run(), Err(RunError::Journal(_))));
    assert_eq!(world.journal.slices_of(0), 2 * 3);
}
