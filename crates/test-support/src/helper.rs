//! The program that the tests of platforms start: services that misbehave, and runs in processes of their own.

use std::{path::PathBuf, process::Command, sync::OnceLock};

/// The path of the helper: `LOADLINE_TEST_HELPER`, or else what cargo builds now.
pub fn helper() -> &'static str {
    static HELPER: OnceLock<String> = OnceLock::new();
    HELPER.get_or_init(|| std::env::var("LOADLINE_TEST_HELPER").unwrap_or_else(|_| built()))
}

fn built() -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["build", "--quiet", "--locked", "--workspace", "--bin", "loadline-test-helper"])
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The test program is in `deps` next to it.
    let test = std::env::current_exe().expect("the path of this test");
    let helper: PathBuf = test.ancestors().nth(2).expect("a folder of programs").join("loadline-test-helper");
    assert!(helper.exists(), "cargo built no {}", helper.display());
    helper.display().to_string()
}
