//! The helper is there. As long as a test asks for it, cargo builds it with the tests of the workspace, by the same features, and
//! `tests/run` can tell the tests of the platforms where it is.

use std::process::Command;

#[test]
fn a_task_that_it_does_not_know_is_refused() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_loadline-test-helper")).arg("dance").output().expect("it starts");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("see main.rs"));
}
