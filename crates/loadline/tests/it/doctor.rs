//! `loadline doctor` on this machine: what it finds depends on the machine, that it looks and leaves nothing behind does not.

use std::fs;

use loadline_model::result::doctor::{DoctorResult, SCHEMA};
use rustix::process::Signal;

use crate::support::place::{Ended, Place, ended};
use crate::support::user::OrdinaryUser;
use crate::support::{leftovers, wait_for};

const BRIEF: [&str; 5] = ["doctor", "--seconds", "10", "--json", "-"];

fn result(ended: &Ended) -> DoctorResult {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}\n{}", ended.stderr))
}

/// Everything was looked at, and a difference that can be told follows.
fn assert_whole(result: &DoctorResult) {
    assert_eq!((result.schema.as_str(), result.interrupted), (SCHEMA, false));
    let pauses = result.pauses.as_ref().expect("pauses");
    assert_eq!(Some(pauses.cpus.len()), result.machine.cpus.map(|cpus| cpus as usize));
    assert!(pauses.cpus.iter().all(|cpu| cpu.over.len() == 3));
    assert!(
        result.wake_ups.timer.is_some() && result.clock.as_ref().is_some_and(|clock| clock.read_ns > 0.0)
    );
    assert!(result.other_programs.is_some() && result.stolen.is_some());
    let noise = result.noise.as_ref().expect("the service was compared with itself");
    let metrics: Vec<&str> = noise.rows.iter().map(|row| row.metric.as_str()).collect();
    assert_eq!(metrics, ["response.p50", "response.p99", "cpu.service"]);
    assert!(noise.run.deployments >= 2, "{:?}", noise.run);
    for row in &noise.rows {
        assert!(row.figure > 0.0 && row.half_width.is_finite(), "{row:?}");
        let last = row.resolution.last().expect("an hour is enough to tell something");
        assert!(last.minutes == 60 && last.difference.is_finite(), "{row:?}");
    }
}

#[test]
fn a_machine_is_examined_and_nothing_is_left_behind() {
    let place = Place::shared();
    let ended = place.run(BRIEF);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let result = result(&ended);
    assert_whole(&result);
    leftovers::assert_none(&result.noise.expect("noise").run.label);
    let files = fs::read_dir(place.dir.path()).expect("a folder").count();
    assert_eq!(files, 0, "nothing is stored");
}

#[test]
fn an_ordinary_user_can_examine_a_machine() {
    let place = Place::shared();
    let user = OrdinaryUser::at(&place);
    let ended = ended(user.command(BRIEF).output().expect("the program starts"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let result = result(&ended);
    assert_whole(&result);
    leftovers::assert_none(&result.noise.expect("noise").run.label);
}

#[test]
fn an_interrupted_examination_says_so_and_shows_what_it_has() {
    let place = Place::shared();
    let started = place.start(["doctor", "--json", "-"]);
    wait_for("pauses to be looked for", || {
        fs::read_to_string(place.path("stderr")).ok()?.contains("pauses").then_some(())
    });
    started.send(Signal::INT);
    let ended = started.wait();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let result = result(&ended);
    assert!(result.interrupted && result.noise.is_none());
    assert!(result.other_programs.is_some(), "what was seen before");
}

#[test]
fn a_time_too_short_to_measure_in_is_refused() {
    let ended = Place::new().run(["doctor", "--seconds", "3"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("10..=3600"), "{}", ended.stderr);
}
