//! A working directory of a test's own, and the machine with or without others on it.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use loadline_analysis::result::RunResult;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{PROGRAM, cluster, store, wait_for};

/// Exit code, standard output, standard error.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// The result that `--json -` wrote to standard output.
    pub fn result(&self) -> RunResult {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.stderr))
    }

    /// Fails unless the run was measured as planned. Whether the gates held is up to the machine.
    pub fn assert_measured(&self) {
        assert!(matches!(self.code, Some(0 | 3)), "{:?}\n{}", self.code, self.stderr);
    }

    /// The run measured all but the services that it went on without.
    pub fn assert_went_on(&self) {
        assert_eq!(self.code, Some(1), "{}", self.stderr);
        assert!(!self.stdout.is_empty(), "nothing was shown");
    }
}

/// Where a test works.
pub struct Place {
    pub dir: tempfile::TempDir,
    /// Freed by the kernel when the test ends, however it ends; they hold between processes too.
    _locks: Vec<File>,
}

impl Place {
    /// For a test that neither measures nor changes anything of the machine: it waits for nobody.
    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().expect("a folder"), _locks: Vec::new() }
    }

    /// For a test whose run makes links, rules and cgroups, and may be beside another that does: all of it carries the run's name.
    pub fn shared() -> Place {
        Place::with(vec![shared(MACHINE)])
    }

    /// The same for a test that removes what a killed run left: `loadline clean` would do so for all other tests, too.
    pub fn cleaning() -> Place {
        Place::with(vec![exclusive(CLEANING), shared(MACHINE)])
    }

    /// For a test that looks at figures, or at what other runs would make or remove: it has the machine to itself. The runner sees to
    /// that across programs (`.config/nextest.toml`); the lock does within this one.
    pub fn alone() -> Place {
        Place::with(vec![exclusive(MACHINE)])
    }

    fn with(locks: Vec<File>) -> Place {
        assert!(
            rustix::process::geteuid().is_root(),
            "this test makes links, rules and cgroups: run it as root"
        );
        cluster::let_unused_one_go();
        Place { _locks: locks, ..Place::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    /// `loadline ARGUMENTS` here.
    pub fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.dir.path()).args(arguments).env_remove("LOADLINE_LOG").env_remove("COLUMNS");
        // The user's own configuration is no part of a test.
        command.env("LOADLINE_CONFIG", "");
        command
    }

    /// Runs `loadline ARGUMENTS` to its end.
    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Ended {
        ended(self.command(arguments).output().expect("the program starts"))
    }

    /// Starts `loadline ARGUMENTS`.
    pub fn start<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Started {
        self.start_command(self.command(arguments))
    }

    /// Starts a [`Place::command`].
    pub fn start_command(&self, mut command: Command) -> Started {
        let (out, err) = (self.path("stdout"), self.path("stderr"));
        let file = |path: &PathBuf| Stdio::from(File::create(path).expect("a file"));
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        Started { child: command.spawn().expect("the program starts"), out, err }
    }

    /// The store of the runs made here, which there must be.
    pub fn store(&self) -> store::Reader {
        store::Reader::open(&self.path("loadline.db")).expect("there is a store")
    }

    /// Waits until the newest run of the store here has so many rows in a table.
    pub fn wait_for_rows(&self, table: &str, count: usize) {
        wait_for(&format!("{count} rows in {table}"), || {
            let rows = store::Reader::open(&self.path("loadline.db"))?.count(table)?;
            (rows >= count).then_some(())
        });
    }
}

const MACHINE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/machine.lock");
const CLEANING: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cleaning.lock");

fn shared(lock: &str) -> File {
    let file = File::create(lock).expect("cargo made the folder");
    file.lock_shared().expect("a lock");
    file
}

fn exclusive(lock: &str) -> File {
    let file = File::create(lock).expect("cargo made the folder");
    file.lock().expect("a lock");
    file
}

/// A `loadline` under way; killed when the test fails before it ends.
pub struct Started {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Started {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the program is alive");
    }

    /// The label of the run that it has registered, if it has one now: other runs may be registered beside it.
    pub fn registered(&self) -> Option<String> {
        let folders = std::fs::read_dir("/run/loadline").ok()?.flatten();
        let own = |folder: &PathBuf| -> Option<bool> {
            let state: Value =
                serde_json::from_slice(&std::fs::read(folder.join("state.json")).ok()?).ok()?;
            Some(state["pid"].as_u64() == Some(u64::from(self.id())))
        };
        let found = folders.map(|entry| entry.path()).find(|folder| own(folder) == Some(true))?;
        Some(found.file_name()?.to_str()?.to_owned())
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    pub fn wait(mut self) -> Ended {
        let status: ExitStatus = self.child.wait().expect("a child");
        let read = |path| std::fs::read_to_string(path).expect("text");
        Ended { code: status.code(), stdout: read(&self.out), stderr: read(&self.err) }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended already unless an assertion failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}
