//! Two runs on one machine: the second waits for the first, unless it is told not to. What would disturb a run is put off.

use crate::support::place::Place;
use crate::support::{BRIEF, wait_for};
use rustix::process::Signal;

const JOB: [&str; 7] = ["compare", "--on", "host", "--rate", "100/s", "--warmup", "60s"];

#[test]
fn a_run_waits_for_another_one_or_is_told_to_measure_beside_it() {
    let (first_place, second_place) = (Place::shared(), Place::new());
    let mut first = first_place.command(JOB);
    first.env_remove("LOADLINE_ANYWAY");
    let first = first_place.start_command(first);
    first_place.wait_for_rows("deployment", 1);

    let mut second = second_place.command(JOB);
    second.env_remove("LOADLINE_ANYWAY");
    let second = second_place.start_command(second);
    let said = wait_for("the second to wait", || {
        let said = std::fs::read_to_string(second_place.path("stderr")).ok()?;
        said.contains("waiting until it has ended").then_some(said)
    });
    assert!(said.contains(&format!("another loadline (process {}) is measuring", first.id())), "{said}");
    second.send(Signal::INT);
    let second = second.wait();
    assert_eq!((second.code, second.stdout.as_str()), (Some(130), ""), "{}", second.stderr);

    let mut beside = second_place.command(["compare", "--anyway", "--on", "host", "--rate", "100/s"]);
    beside.env_remove("LOADLINE_ANYWAY").args(BRIEF);
    second_place.start_command(beside).wait().assert_measured();

    first.send(Signal::INT);
    let first = first.wait();
    assert_eq!(first.code, Some(130), "{}", first.stderr);
}

#[test]
fn a_run_that_is_measured_is_not_deleted_and_the_space_of_others_is_given_back_after_it() {
    let (measured, place) = (Place::shared(), Place::new());
    place.run(["compare", "--on", "host", "--rate", "100/s"].into_iter().chain(BRIEF)).assert_measured();
    let mut run = measured.command(JOB);
    run.env_remove("LOADLINE_ANYWAY");
    let run = measured.start_command(run);
    measured.wait_for_rows("deployment", 1);

    let deleted = place.run(["store", "delete", "1"]);
    assert_eq!((deleted.code, deleted.stdout.as_str()), (Some(0), "deleted run 1\n"), "{}", deleted.stderr);
    assert!(deleted.stderr.contains("a run is being measured"), "{}", deleted.stderr);
    assert!(place.store().free_pages() > 0, "the store was written anew");
    let refused = measured.run(["store", "delete", "1"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("cannot delete run 1: it is being measured"), "{}", refused.stderr);
    let pruned = measured.run(["store", "prune", "--keep", "0"]);
    assert_eq!((pruned.code, pruned.stdout.as_str()), (Some(0), "no run is deleted\n"), "{}", pruned.stderr);
    run.send(Signal::INT);
    let run = run.wait();
    assert_eq!(run.code, Some(130), "{}", run.stderr);

    // Another test may measure now.
    wait_for("the space to be given back", || {
        let pruned = place.run(["store", "prune", "--keep", "0"]);
        assert_eq!(pruned.code, Some(0), "{}", pruned.stderr);
        (place.store().free_pages() == 0).then_some(())
    });
}
