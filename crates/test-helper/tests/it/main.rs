//! The helper exists. Because a test depends on it, cargo builds it with the tests of the workspace and the same features, and `tests/run`
//! can pass its path to the tests of the platforms.

use std::process::Command;

#[test]
fn a_task_that_it_does_not_know_is_refused() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_loadline-test-helper")).arg("dance").output().expect("it starts");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("see main.rs"));
}
