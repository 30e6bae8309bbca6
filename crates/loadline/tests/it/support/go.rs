//! Services in Go, whose source is beside the tests.

use std::process::Command;

use super::place::Place;

/// Builds `FOLDER/main.go` of the tests as `name`, linked statically, so that it is an image too. Returns its path.
pub fn build(place: &Place, name: &str, folder: &str) -> String {
    build_with(&[], place, name, folder)
}

/// The same without symbols.
pub fn build_stripped(place: &Place, name: &str, folder: &str) -> String {
    build_with(&["-ldflags=-s -w"], place, name, folder)
}

fn build_with(flags: &[&str], place: &Place, name: &str, folder: &str) -> String {
    let program = place.path(name).display().to_string();
    let source = format!("{}/tests/it/{folder}/main.go", env!("CARGO_MANIFEST_DIR"));
    let built = Command::new("go")
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-trimpath")
        .arg("build")
        .args(flags)
        .args(["-o", &program, &source])
        .output()
        .expect("Go builds the cluster, too");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}
