//! A Docker Engine of a test's own, with its own folders and containerd.

use std::path::Path;
use std::process::Command;

use super::{Contained, Daemon, installed, run};

/// A Docker Engine that ends with the value, before its folder does.
pub struct Docker {
    _daemon: Daemon,
    pub folder: tempfile::TempDir,
}

impl Docker {
    pub fn start() -> Docker {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let path = |name: &str| folder.path().join(name).display().to_string();
        // Its identity goes to /etc/docker otherwise.
        let config = format!(r#"{{"deprecated-key-path": "{}"}}"#, path("key.json"));
        std::fs::write(path("daemon.json"), config).expect("a file");
        let mut command = installed("dockerd");
        command
            .args(["--config-file", &path("daemon.json")])
            .args(["--data-root", &path("data"), "--exec-root", &path("exec")])
            .args(["--pidfile", &path("pid"), "--host", &format!("unix://{}", path("socket"))])
            .args(["--bridge=none", "--iptables=false", "--ip-forward=false"]);
        let mut daemon = Daemon::start(&mut command, &log);
        let socket = folder.path().join("socket");
        daemon.wait_until(&log, || client(&socket, &["version"]));
        Docker { _daemon: daemon, folder }
    }

    /// `docker ARGUMENTS`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        client(&self.folder.path().join("socket"), arguments)
    }

    /// Runs `docker ARGUMENTS` to its end, which must be a success; what it printed.
    pub fn run(&self, arguments: &[&str]) -> String {
        run(&mut self.command(arguments))
    }

    /// Starts a container without a network, with these options, image and arguments; runs `check` on it and removes it.
    pub fn contained(&self, arguments: &[&str], check: impl FnOnce(&Contained)) {
        let container = self.run(&[&["run", "--detach", "--network=none"], arguments].concat());
        let pid = self.run(&["inspect", "--format", "{{.State.Pid}}", &container]);
        check(&Contained { pid });
        self.run(&["rm", "--force", &container]);
    }
}

fn client(socket: &Path, arguments: &[&str]) -> Command {
    let mut command = installed("docker");
    command.arg(format!("--host=unix://{}", socket.display())).args(arguments);
    command
}
