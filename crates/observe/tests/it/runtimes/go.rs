//! Go programs, with and without what they are looked into by.

use std::process::Command;

use loadline_model::runtime::Unseen;
use tempfile::TempDir;

use super::{Program, assert_all_given, run, source};

/// Makes garbage and collects it.
const SOURCE: &str = "
package main

import (
	\"fmt\"
	\"runtime\"
	\"time\"
)

var kept []byte

func main() {
	fmt.Println(\"ready\")
	for {
		kept = make([]byte, 1<<20)
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}
";

/// A program that was built with these flags.
fn built(flags: &[&str], line: &str) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    source(folder.path(), "main.go", SOURCE);
    source(folder.path(), "go.mod", &format!("module busy\n\ngo {line}\n"));
    let program = folder.path().join("busy");
    let mut go = Command::new("go");
    run(go.current_dir(&folder).env("GOTOOLCHAIN", "local").arg("build").args(flags).arg("-o").arg(&program));
    (folder, program)
}

#[test]
fn version_gomaxprocs_and_collections_are_seen_wherever_it_is_loaded() {
    for flags in [&[][..], &["-buildmode=pie"]] {
        let (_folder, program) = built(flags, "1.26");
        let program = Program::start(Command::new(program).env("GOMAXPROCS", "7"));
        let runtime = program.runtime();
        assert_eq!(runtime.unseen, [], "{flags:?}");
        assert_eq!(runtime.facts["go.gomaxprocs"], "7", "{flags:?}");
        assert_eq!(runtime.facts["go.env.GOMAXPROCS"], "7", "{flags:?}");
        assert!(runtime.facts["go.version"].starts_with("go1."), "{runtime:?}");
        let seen = program.seen_until(|seen| seen.count("go.gc.collections") > Some(3));
        assert!(seen.count("go.gc.collections") > Some(3), "{seen:?}");
        assert!(seen.count("go.gc.pause") > Some(0), "{seen:?}");
        assert!(
            seen.count("go.heap.live").is_some_and(|bytes| (1 << 10..1 << 30).contains(&bytes)),
            "{seen:?}"
        );
        assert_eq!(seen.count("go.gomaxprocs"), Some(7));
        assert_all_given(&seen, "go.");
    }
}

#[test]
fn an_older_go_line_shows_in_what_godebug_is_by_default() {
    let (_folder, program) = built(&[], "1.24");
    let runtime = Program::start(&mut Command::new(program)).runtime();
    assert!(runtime.facts["go.default_godebug"].contains("containermaxprocs=0"), "{runtime:?}");
}

#[test]
fn a_stripped_program_says_what_could_not_be_seen() {
    for (linker, unseen) in [("-ldflags=-s -w", Unseen::NoGoSymbols), ("-ldflags=-w", Unseen::NoGoTypes)] {
        let (_folder, program) = built(&[linker], "1.26");
        let program = Program::start(&mut Command::new(program));
        let runtime = program.runtime();
        assert_eq!(runtime.unseen, std::slice::from_ref(&unseen), "{linker}");
        assert!(runtime.facts["go.version"].starts_with("go1."), "{runtime:?}");
        assert_eq!(runtime.facts.contains_key("go.gomaxprocs"), unseen == Unseen::NoGoTypes);
        let seen = program.seen_until(|seen| seen.service_cpu_ns().is_some());
        assert_eq!(seen.get("go.gc.collections"), None, "{linker}");
    }
}

#[test]
fn a_program_that_ends_while_it_is_read_is_gone_without_a_word() {
    let (_folder, path) = built(&[], "1.26");
    let mut program = Program::start(&mut Command::new(path));
    let mut observer = program.observer();
    let before = observer.read(&loadline_observe::Wanted::Everything);
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    let after = observer.read(&loadline_observe::Wanted::Everything);
    assert_eq!(observer.between(&before, &after).get("go.gc.collections"), None);
    assert!(observer.runtime().is_empty());
}
