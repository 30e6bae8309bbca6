//! Commands of the author's around the measuring: when they run, and what a failing one says.

use std::fs;

use crate::support::place::Place;
use crate::support::{BRIEF, leftovers};

#[test]
fn they_run_once_before_each_round_and_at_the_end() {
    let place = Place::shared();
    let say = |what: &str| format!("sh -c 'echo {what} >> hooks.txt'");
    let (setup, prepare, cleanup) = (say("setup"), say("prepare"), say("cleanup"));
    let hooks = ["--setup", &setup, "--prepare", &prepare, "--cleanup", &cleanup];
    let compare = ["compare", "--on", "host", "--on", "pod"];
    place.run(compare.into_iter().chain(BRIEF).chain(hooks)).assert_measured();
    // Two rounds of deployments.
    let said = fs::read_to_string(place.path("hooks.txt")).expect("they ran");
    assert_eq!(said, "setup\nprepare\nprepare\ncleanup\n");
}

#[test]
fn a_setup_that_fails_starts_nothing_and_is_cleaned_up_after() {
    let place = Place::shared();
    let setup = "sh -c 'echo no database here >&2; exit 7'";
    let hooks = ["--setup", setup, "--cleanup", "touch cleaned"];
    let ended = place.run(["compare", "--on", "host", "--on", "pod"].into_iter().chain(BRIEF).chain(hooks));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("error: setup: sh ended with exit status: 7\n    no database here"),
        "{}",
        ended.stderr
    );
    assert!(place.path("cleaned").exists());
    assert_eq!(place.store().count("deployment"), Some(0));
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let place = Place::shared();
    let hooks = ["--prepare", "/no/such/program"];
    let ended = place.run(["compare", "--on", "host", "--on", "pod"].into_iter().chain(BRIEF).chain(hooks));
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("prepare: cannot start /no/such/program: "), "{}", ended.stderr);
}
