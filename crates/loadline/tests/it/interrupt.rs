//! Ctrl-C: the first ends a run cleanly and keeps what was measured, the second leaves at once.

use std::time::Duration;

use crate::support::place::Place;
use crate::support::{STAGED, leftovers, programs, wait_for};
use rustix::process::Signal;

#[test]
fn an_interrupted_run_is_torn_down_and_shown() {
    let place = Place::shared();
    let run = place.start(["compare", "--on", "host", "--on", "pod"].into_iter().chain(STAGED));
    place.wait_for_rows("slice", 4);
    run.send(Signal::INT);
    let ended = run.wait();

    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stdout.contains("response p50"), "{}", ended.stdout);
    let store = place.store();
    assert_eq!(store.state(), "interrupted");
    assert!(store.count("slice") >= Some(4));
    leftovers::assert_none(&store.label());
    let again = place.run(["report"]);
    assert_eq!((again.code, again.stdout), (Some(130), ended.stdout), "the report says it again");
}

#[test]
fn a_run_interrupted_before_its_first_slice_says_so() {
    let place = Place::shared();
    // Longer than this machine may take to notice the first deployment.
    let warm_up = ["--warmup", "60s"];
    let run = place.start(["compare", "--on", "host", "--on", "pod"].into_iter().chain(warm_up));
    place.wait_for_rows("deployment", 1);
    run.send(Signal::TERM);
    let ended = run.wait();

    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let store = place.store();
    assert_eq!((store.state().as_str(), store.count("slice")), ("interrupted", Some(0)));
    leftovers::assert_none(&store.label());
}

#[test]
fn an_interrupt_while_layers_are_tried_leaves_nothing() {
    let place = Place::shared();
    let run = place.start(["layers", "--part", "services"]);
    let attempt = wait_for("an attempt to be registered", || run.registered());
    run.send(Signal::INT);
    let ended = run.wait();

    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(!place.path("loadline.db").exists(), "no run had begun");
    leftovers::assert_none(&attempt);
}

#[test]
fn a_second_interrupt_leaves_at_once_and_clean_tidies_up() {
    let place = Place::cleaning();
    // Deaf to SIGTERM, so that its end takes the two seconds that a service is given.
    place.write("deaf.py", &programs::deaf());
    let arguments =
        ["compare", "--command", "python3 deaf.py {host} {port}", "--request", "/", "--on", "host"];
    let load = ["--on", "pod", "--rate", "100/s", "--interleave", "slices"];
    let run = place.start(arguments.into_iter().chain(load).chain(STAGED));
    place.wait_for_rows("slice", 1);
    run.send(Signal::INT);
    std::thread::sleep(Duration::from_millis(500));
    run.send(Signal::INT);
    let ended = run.wait();

    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let store = place.store();
    assert_eq!(store.state(), "unfinished", "it did not wait for the service");
    assert!(ended.stderr.ends_with("left behind; remove it with `loadline clean`\n"), "{}", ended.stderr);
    assert_eq!(place.run(["clean"]).code, Some(0));
    leftovers::assert_none(&store.label());
}
