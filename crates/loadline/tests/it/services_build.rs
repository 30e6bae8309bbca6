//! `services/build` on a machine that lacks some of the tools.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn each_missing_tool_is_named_with_the_way_to_get_it_and_the_rest_is_built() {
    let checkout = tempfile::tempdir().expect("a temporary folder");
    let services = checkout.path().join("services");
    fs::create_dir(&services).expect("a folder");
    fs::copy(Path::new(ROOT).join("services/build"), services.join("build")).expect("a copy");
    for (name, settings) in [
        ("needs-go", "language = 'go'\nbuild = ['env', 'CGO_ENABLED=0', 'go', 'build']"),
        ("needs-maven", "language = 'jvm'\njava = 25\nbuild = ['mvn', 'package']"),
        ("needs-java-99", "language = 'jvm'\njava = 99\nbuild = ['mvn', 'package']"),
        ("does-not-compile", "language = 'go'\nbuild = ['false']"),
        (
            "is-built",
            "language = 'go'\nmodes = ['virtual']\nbuild = ['true']\nfiles = ['service']\ncommand = ['service']",
        ),
    ] {
        fs::create_dir(services.join(name)).expect("a folder");
        fs::write(services.join(name).join("service.toml"), settings).expect("a file");
    }
    fs::write(services.join("is-built/service"), "").expect("a file");
    // All that can be found on this machine's PATH.
    let programs = checkout.path().join("bin");
    fs::create_dir(&programs).expect("a folder");
    for name in ["false", "true"] {
        symlink(Path::new("/usr/bin").join(name), programs.join(name)).expect("a link");
    }

    let output = Command::new("/usr/bin/python3")
        .arg(services.join("build"))
        .env("PATH", &programs)
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("python3 runs");

    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"
    does-not-compile: `false` ended with 1
    needs-go: go is missing (Go 1.26: https://go.dev/dl, Debian's golang-go is older)
    needs-java-99: java is missing (a JDK 99: Debian's openjdk-99-jdk-headless or https://adoptium.net, in JAVA_HOME or below /usr/lib/jvm)
    needs-maven: mvn is missing (make tools-services, Debian's maven)
    not built: does-not-compile needs-go needs-java-99 needs-maven
    ");
    assert_eq!(output.status.code(), Some(1));
    assert!(checkout.path().join("target/services/is-built.json").is_file());
}
