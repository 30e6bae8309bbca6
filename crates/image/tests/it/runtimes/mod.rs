//! What the tests against real runtimes share: installed programs, daemons of the test's own, and a way into a container's network.
//! They need root.

pub mod docker;

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Longest wait for anything: far more than it takes, so that a loaded machine fails no test.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Waits until `found` finds something, which it must.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(thing) = found() {
            return thing;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that must be installed.
pub fn installed(program: &str) -> Command {
    assert!(rustix::process::geteuid().is_root(), "this test starts containers: run it as root");
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
    let program = found.unwrap_or_else(|| panic!("this test needs {program}: make tools-test installs it"));
    let mut command = Command::new(program);
    // Runtimes find their parts by it.
    command.env("PATH", path);
    command
}

/// Runs a command to its end, which must be a success; what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// A process that ends with the value.
pub struct Daemon(Child);

impl Daemon {
    /// Starts a daemon that logs to a file.
    pub fn start(command: &mut Command, log: &Path) -> Daemon {
        let file = || Stdio::from(File::options().create(true).append(true).open(log).expect("a file"));
        Daemon(command.stdin(Stdio::null()).stdout(file()).stderr(file()).spawn().expect("it starts"))
    }

    /// Waits until a command succeeds, while the daemon lives.
    pub fn wait_until(&mut self, log: &Path, answers: impl Fn() -> Command) {
        wait_for("the daemon", || {
            if let Some(status) = self.0.try_wait().expect("a child") {
                panic!(
                    "the daemon ended with {status}:\n{}",
                    std::fs::read_to_string(log).unwrap_or_default()
                );
            }
            answers().output().expect("it starts").status.success().then_some(())
        });
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It takes its own children and mounts along when asked to end.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A container's first process, seen from outside.
pub struct Contained {
    pub pid: String,
}

impl Contained {
    /// Asks for `/healthz` on port 8080 inside the container until there is an answer: head and body. The process must run as 1000.
    pub fn healthz(&self) -> String {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("the container runs");
        for key in ["Uid", "Gid"] {
            assert!(status.contains(&format!("{key}:\t1000\t1000\t1000\t1000\n")), "{status}");
        }
        wait_for("an answer from the container", || self.ask())
    }

    fn ask(&self) -> Option<String> {
        let network = File::open(format!("/proc/{}/ns/net", self.pid)).expect("the container runs");
        // The namespace that is entered is the thread's own.
        let asked = std::thread::spawn(move || -> std::io::Result<String> {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
            let mut stream = TcpStream::connect("127.0.0.1:8080")?;
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        });
        asked.join().expect("no panic").ok()
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        // A test that fails leaves no container behind, even where no daemon ends it.
        let pid = self.pid.parse().ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| std::thread::panicking()) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
