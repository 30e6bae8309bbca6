//! What is called pure depends on nothing that does I/O: a page or another program can take it without SQLite, kube or a runtime.

use std::collections::BTreeSet;
use std::process::Command;

/// Of others, and of ours what belongs to running an experiment.
const NOT_PURE: [&str; 16] = [
    "bollard",
    "kube",
    "libsqlite3-sys",
    "rusqlite",
    "rustix",
    "tokio",
    "loadline-agent",
    "loadline-doctor",
    "loadline-engine",
    "loadline-run",
    "loadline-machine",
    "loadline-observe",
    "loadline-platform",
    "loadline-profile",
    "loadline-spec",
    "loadline-store",
];

/// Names of all packages that a package is built from, itself included; those of its tests are not.
fn dependencies(package: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--package",
            package,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let names = String::from_utf8(tree.stdout).expect("names are UTF-8");
    names.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_model_depends_on_nothing_of_ours() {
    let ours: Vec<String> =
        dependencies("loadline-model").into_iter().filter(|name| name.starts_with("loadline")).collect();
    assert_eq!(ours, ["loadline-model"]);
}

#[test]
fn analysis_and_report_take_everything_from_the_model() {
    for package in ["loadline-model", "loadline-stats", "loadline-analysis", "loadline-report"] {
        let found = dependencies(package);
        assert!(found.contains(package), "{found:?}");
        let impure: Vec<&str> = NOT_PURE.into_iter().filter(|name| found.contains(*name)).collect();
        assert_eq!(impure, Vec::<&str>::new(), "of {package}");
    }
}
