//! Language runtimes looked into from outside: real JVMs and Go programs, as they are started and as they hide.

mod go;
mod jvm;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use loadline_model::Observations;
use loadline_model::runtime::Runtime;
use loadline_observe::{Observer, Subject, Wanted, probes};

/// A program that said that it is ready, and ends with this.
struct Program(Child);

impl Program {
    /// Starts a program and waits for its first line.
    fn start(command: &mut Command) -> Program {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "{command:?}");
        Program(child)
    }

    fn observer(&self) -> Observer {
        Observer::new(Subject { root_pids: vec![self.0.id()], cgroup: None })
    }

    fn runtime(&self) -> Runtime {
        self.observer().runtime()
    }

    /// What is seen of it from now on, as soon as it is what is waited for.
    fn seen_until(&self, enough: impl Fn(&Observations) -> bool) -> Observations {
        let mut observer = self.observer();
        let before = observer.read(&Wanted::Everything);
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let after = observer.read(&Wanted::Everything);
            let seen = observer.between(&before, &after);
            if enough(&seen) || Instant::now() > deadline {
                return seen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Fails unless everything was seen that probes declare in this namespace.
fn assert_all_given(seen: &Observations, namespace: &str) {
    let declared = probes::metrics().into_iter().filter(|metric| metric.name.starts_with(namespace));
    let missing: Vec<_> =
        declared.filter(|metric| seen.get(&metric.name).is_none()).map(|metric| metric.name).collect();
    assert!(missing.is_empty(), "{missing:?}: {seen:?}");
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command of a build.
fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A source file in a folder of its own.
fn source(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_program_without_a_runtime_has_nothing_to_say() {
    let program = Program::start(Command::new("sh").args(["-c", "echo ready; exec sleep 60"]));
    assert!(program.runtime().is_empty());
}
