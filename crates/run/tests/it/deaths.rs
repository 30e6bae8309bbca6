//! Services that end, and platforms that fail, at each stage of a run.

use loadline_model::experiment::{Bound, Capacity, Objective, OnFailure};
use loadline_model::metrics::Unit;
use loadline_model::{PlatformId, RunState};
use loadline_run::RunError;

use crate::fake::{Behaviour, World, experiment, with};

/// A run that ends at the first failure, in which one site misbehaves.
fn ending(change: impl FnOnce(&mut Behaviour)) -> (World, RunError) {
    let mut world = World::new(experiment()).site(2, change);
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Failed);
    assert_eq!(world.journal.failures.borrow().len(), 1);
    let failure = outcome.failure.expect("a failed run says why");
    (world, failure)
}

/// A run that continues without the failed site.
fn going_on(change: impl FnOnce(&mut Behaviour)) -> World {
    let mut world = World::new(with(|plan| plan.on_failure = OnFailure::Continue)).site(2, change);
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.failure);
    assert_eq!(world.journal.failures.borrow().len(), 1, "{:?}", world.journal.failures.borrow());
    for cell in [0, 1] {
        assert_eq!(world.journal.slices_of(cell), 2 * 3, "the other cells are measured to the end");
    }
    assert_eq!(world.count("start site 2"), 1, "a site that was given up is not deployed again");
    world
}

#[test]
fn a_search_for_what_a_service_does_not_show_ends_before_any_load() {
    let (text, metric) = ("app.misses_total <= 2".to_owned(), "app.misses_total".to_owned());
    let objective = Objective { text, metric, bound: Bound::AtMost(2.0), unit: Some(Unit::Count) };
    let mut experiment = experiment();
    experiment.capacity = Some(Capacity { objectives: vec![objective], precision: 0.02, most: None });
    let mut world = World::new(experiment);
    let failure = world.run().unwrap().failure.expect("a failed run says why").to_string();
    let why = "cannot judge slices by `app.misses_total <= 2`: there is no such metric";
    assert!(failure.ends_with(why), "{failure}");
    assert_eq!(world.count("start"), 1, "{:?}", world.log());
}

#[test]
fn a_platform_that_cannot_be_reached_is_said_before_anything_starts() {
    for (on_failure, end) in [
        (OnFailure::End, "no service was started"),
        (OnFailure::Continue, "no service was started; --allow-missing measures the others"),
    ] {
        let mut world = World::new(with(|plan| plan.on_failure = on_failure));
        world.deployer.unreachable = vec![PlatformId(1)];
        let outcome = world.run().unwrap();
        assert_eq!(outcome.state, RunState::Failed);
        let failure = outcome.failure.expect("a failed run says why").to_string();
        assert_eq!(failure, format!("pod: the daemon does not answer\n  {end}"));
        assert_eq!(world.count("start"), 0, "{:?}", world.log());
    }
}

#[test]
fn all_platforms_that_cannot_be_reached_are_named() {
    let mut world = World::new(experiment());
    world.deployer.unreachable = vec![PlatformId(0), PlatformId(1)];
    let failure = world.run().unwrap().failure.expect("a failed run says why").to_string();
    let lines: Vec<&str> = failure.lines().collect();
    let why = "the daemon does not answer";
    let expected = [
        "2 platforms cannot be reached",
        &format!("  host: {why}"),
        &format!("  pod: {why}"),
        "  no service was started",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_run_that_may_miss_some_begins_without_a_platform_that_cannot_be_reached() {
    let mut world = World::new(with(|plan| plan.on_failure = OnFailure::Continue));
    (world.allow_missing, world.deployer.unreachable) = (true, vec![PlatformId(1)]);
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Complete, "{:?}", outcome.failure);
    let failures = world.journal.failures.borrow();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0], "hello on pod: the daemon does not answer");
    assert_eq!(world.count("start site 2"), 0);
    assert_eq!(world.journal.slices_of(0), 2 * 3);
}

#[test]
fn a_platform_that_cannot_start_a_service_ends_the_run() {
    let (world, failure) = ending(|site| site.start_fails = Some("the daemon is gone"));
    assert_eq!(failure.to_string(), "hello on pod: the daemon is gone");
    assert_eq!(world.count("drive"), 0);
}

#[test]
fn or_the_run_continues_without_it() {
    going_on(|site| site.start_fails = Some("the daemon is gone"));
}

#[test]
fn a_service_that_does_not_come_up_ends_the_run() {
    let (_, failure) = ending(|site| site.wait_fails = Some("no node has room for the pod"));
    assert_eq!(failure.to_string(), "hello on pod: no node has room for the pod");
}

#[test]
fn or_the_run_continues_without_what_did_not_come_up() {
    going_on(|site| site.wait_fails = Some("no node has room for the pod"));
}

#[test]
fn a_service_that_ends_before_it_is_ready_is_reported_with_its_output() {
    let (_, failure) = ending(|site| site.ends_before_ready = true);
    let text = failure.to_string();
    assert!(text.starts_with("hello on pod: the service exited on its own (exit status: 1)"), "{text}");
    assert!(text.contains("its last output:\n    out of luck"), "{text}");
}

#[test]
fn a_platform_that_hangs_is_abandoned_after_the_time_limit_for_readiness() {
    let (world, failure) = ending(|site| site.ready_after = usize::MAX);
    let text = failure.to_string();
    assert!(text.contains("not ready within 30s: connection refused"), "{text}");
    assert!(world.elapsed().as_secs() >= 30);
}

#[test]
fn or_the_run_continues_without_what_hangs() {
    going_on(|site| site.ready_after = usize::MAX);
}

#[test]
fn a_service_that_ends_while_it_is_warmed_up_ends_the_run() {
    let (world, failure) = ending(|site| site.ends_after = Some(2));
    assert!(matches!(failure, RunError::Service { .. }), "{failure}");
    assert_eq!(world.journal.slices.borrow().len(), 0);
}

#[test]
fn or_the_others_are_warmed_up_and_measured() {
    let world = going_on(|site| site.ends_after = Some(2));
    assert_eq!(world.journal.slices_of(2), 0);
}

#[test]
fn what_was_measured_before_a_service_ended_is_kept() {
    // The warm-up takes at least eight drives, so this is within the blocks.
    let (world, failure) = ending(|site| site.ends_after = Some(10));
    assert!(matches!(failure, RunError::Service { .. }), "{failure}");
    assert!(!world.journal.slices.borrow().is_empty());
}

#[test]
fn or_its_slices_are_kept_and_the_others_continue() {
    let world = going_on(|site| site.ends_after = Some(10));
    let kept = world.journal.slices_of(2);
    assert!((1..3).contains(&kept), "{kept} slices of the service that ended");
}

#[test]
fn an_engine_that_fails_affects_only_its_own_site() {
    let world = going_on(|site| site.engine_fails_at = Some(9));
    assert!(world.journal.failures.borrow()[0].contains("a load thread ended"));
}

#[test]
fn an_engine_that_fails_ends_a_run_that_may_not_continue() {
    let (_, failure) = ending(|site| site.engine_fails_at = Some(9));
    assert!(matches!(failure, RunError::Engine { .. }), "{failure}");
}

#[test]
fn sites_are_abandoned_one_by_one_until_none_is_left() {
    let mut world = World::new(with(|plan| plan.on_failure = OnFailure::Continue))
        .site(0, |site| site.ends_after = Some(11))
        .site(1, |site| site.ends_after = Some(10))
        .site(2, |site| site.start_fails = Some("the daemon is gone"));
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Failed);
    assert!(matches!(outcome.failure, Some(RunError::Service { .. })), "{:?}", outcome.failure);
    assert!(world.journal.failures.borrow().len() >= 3, "{:?}", world.journal.failures.borrow());
}

#[test]
fn a_service_that_cannot_be_stopped_is_a_failure() {
    let (world, failure) = ending(|site| site.stop_fails = Some("the container is stuck"));
    assert_eq!(failure.to_string(), "hello on pod: the container is stuck");
    assert_eq!(world.journal.slices_of(0), 3, "its deployment was measured");
}

#[test]
fn an_environment_that_cannot_be_prepared_fails_the_run_before_anything_is_started() {
    let mut world = World::new(experiment());
    world.deployer.prepare_fails = true;
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Failed);
    assert_eq!(world.count("start"), 0);
    assert_eq!(*world.journal.failures.borrow(), ["no network namespaces here"]);
}

#[test]
fn an_environment_that_cannot_be_removed_fails_the_run_and_keeps_its_slices() {
    let mut world = World::new(experiment());
    world.deployer.remove_fails = true;
    let outcome = world.run().unwrap();
    assert_eq!(outcome.state, RunState::Failed);
    assert_eq!(world.journal.slices_of(0), 2 * 3);
}
