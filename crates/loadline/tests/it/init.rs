//! `loadline init`: what it writes is valid, runs as it is, and is about what is in the folder.

use std::fs;
use std::process::Command;

use crate::support::place::Place;
use crate::support::{PROGRAM, wait_for};

#[test]
fn an_experiment_is_written_for_an_empty_folder_and_never_over_another_file() {
    let place = Place::new();
    let ended = place.run(["init"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    assert!(ended.stdout.starts_with("wrote loadline.yaml: "), "{}", ended.stdout);
    let plan = place.run(["plan", "loadline.yaml"]);
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    let before = fs::read_to_string(place.path("loadline.yaml")).expect("a file");
    let again = place.run(["init"]);
    assert_eq!(again.code, Some(2), "{}", again.stdout);
    assert!(again.stderr.contains("loadline.yaml is there already"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(place.path("loadline.yaml")).expect("a file"), before);
}

#[test]
fn a_service_that_runs_in_the_folder_is_found_and_measured() {
    let place = Place::shared();
    let mut service = Command::new(PROGRAM);
    service.args(["serve", "orders", "--listen", "127.0.0.1:0"]).current_dir(place.path("."));
    let mut service = service.spawn().expect("a service");
    let ended = wait_for("the service to be found", || {
        let ended = place.run(["init"]);
        if ended.stdout.contains("found a service of this folder on port ") {
            return Some(ended);
        }
        // It was too early.
        fs::remove_file(place.path("loadline.yaml")).ok();
        None
    });
    let file = fs::read_to_string(place.path("loadline.yaml")).expect("a file");
    // So that it takes no minute, and asks for what there is.
    let brief = file
        .replace("deployments: 8", "{deployments: 2, slice: 200ms, blocks: 2, repeats: 0}")
        .replace("plan:\n  ", "plan: ");
    fs::write(place.path("brief.yaml"), brief.replace("[GET /]", "[GET /healthz]")).expect("a file");
    let run = place.run(["run", "brief.yaml"]);
    service.kill().and_then(|()| service.wait()).expect("an end");
    run.assert_measured();
    assert!(run.stdout.contains("response p50"), "{}\n{}", ended.stdout, run.stdout);
}
