//! The templates for CI servers, as far as a shell can run them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::PROGRAM;
use crate::support::place::{Place, ended};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/ci").canonicalize().expect("the templates")
}

/// A brief comparison of a service with another one, as a runner starts it.
fn compare(place: &Place, new: &str, fail_if: &str) -> crate::support::place::Ended {
    // Six blocks make a claim.
    let brief = "--slice 200ms --blocks 4 --deployments 2 --warmup 1s --repeats 0";
    let mut command = Command::new(folder().join("compare"));
    command
        .current_dir(place.dir.path())
        .env("LOADLINE", PROGRAM)
        .env("LOADLINE_ANYWAY", "1")
        .env("LOADLINE_CONFIG", "");
    command.env("OLD", format!("{PROGRAM} serve orders --listen {{host}}:{{port}}"));
    command.env("NEW", format!("{PROGRAM} serve orders --listen {{host}}:{{port}} {new}"));
    command
        .env("REQUEST", "GET /api/orders")
        .env("RATE", "200/s")
        .env("FAIL_IF", fail_if)
        .env("ARGUMENTS", brief);
    command
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_OUTPUT", "output")
        .env("GITHUB_STEP_SUMMARY", "summary");
    ended(command.output().expect("it starts"))
}

#[test]
fn a_new_version_that_is_slower_fails_the_job_with_an_annotation() {
    let place = Place::shared();
    let ended = compare(&place, "--delay 20ms", "\np50 slower by > 10%\n");
    assert!(matches!(ended.code, Some(3 | 4)), "{:?} {}", ended.code, ended.stderr);
    let code = ended.code.unwrap_or_default();
    let annotation =
        ended.stdout.lines().find(|line| line.starts_with("::error title=loadline ")).expect("an annotation");
    assert!(annotation.contains("p50 slower by > 10%25"), "{annotation}");
    let read = |name: &str| fs::read_to_string(place.path(name)).expect("a file");
    assert_eq!(read("output"), format!("exit-code={code}\n"));
    assert!(read("summary").contains("response p50") && read("loadline.xml").contains("<testcase"));
}

#[test]
fn the_templates_are_yaml_and_name_what_is_there() {
    for (file, script) in
        [("github/action.yml", "$GITHUB_ACTION_PATH/../compare"), ("gitlab.yml", "$LOADLINE_CI/compare")]
    {
        let text = fs::read_to_string(folder().join(file)).expect("a template");
        assert!(text.contains(script), "{file}");
        let parses = Command::new("python3")
            .args([
                "-c",
                "import sys, yaml; yaml.safe_load(open(sys.argv[1]))",
                folder().join(file).to_str().expect("a path"),
            ])
            .status()
            .expect("python3");
        assert!(parses.success(), "{file}");
    }
}
