//! containerd imports the archive, as a user does with `ctr` and as `kind load image-archive` does inside its nodes, and runs it.

use std::process::Command;

use crate::runtimes::{Contained, Daemon, installed, run, wait_for};
use crate::service::{archive, assert_served};

/// A containerd that ends with the value, before its folder does.
struct Containerd {
    _daemon: Daemon,
    folder: tempfile::TempDir,
}

impl Containerd {
    fn start() -> Containerd {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let [root, state, socket] = ["root", "state", "socket"].map(path);
        // Kubernetes' part of it wants a network.
        let config = format!(
            "version = 2\nroot = {root:?}\nstate = {state:?}\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n\
            [grpc]\naddress = {socket:?}\n"
        );
        std::fs::write(path("config.toml"), config).expect("a file");
        let mut command = installed("containerd");
        let mut daemon = Daemon::start(command.args(["--config", &path("config.toml")]), &log);
        daemon.wait_until(&log, || client(&socket, &["version"]));
        Containerd { _daemon: daemon, folder }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        client(&self.folder.path().join("socket").display().to_string(), arguments)
    }

    fn run(&self, arguments: &[&str]) -> String {
        run(&mut self.command(arguments))
    }

    /// Process id and state of a container's task.
    fn task(&self, container: &str) -> Option<(String, String)> {
        let tasks = self.run(&["tasks", "list"]);
        let task = tasks.lines().find(|line| line.split_whitespace().next() == Some(container))?;
        let mut words = task.split_whitespace().skip(1).map(str::to_owned);
        words.next().zip(words.next())
    }
}

fn client(socket: &str, arguments: &[&str]) -> Command {
    let mut command = installed("ctr");
    // The namespace of Kubernetes.
    command.args(["--address", socket, "--namespace", "k8s.io"]).args(arguments);
    command
}

#[test]
fn containerd_imports_the_archive_and_runs_it_as_user_1000() {
    let containerd = Containerd::start();
    let archived = archive(containerd.folder.path());
    containerd.run(&["images", "import", &archived.path.display().to_string()]);
    assert_eq!(containerd.run(&["images", "list", "--quiet"]), archived.name);
    assert!(containerd.run(&["content", "get", &archived.id]).contains("\"User\":\"1000:1000\""));
    let complete = containerd.run(&["images", "check"]);
    assert!(
        complete.lines().any(|line| line.starts_with(&archived.name) && line.contains("complete")),
        "{complete}"
    );

    containerd.run(&["run", "--detach", &archived.name, "served"]);
    let (pid, _) = containerd.task("served").expect("it runs");
    let contained = Contained { pid };
    // ctr gives a container a network without bringing up its loopback.
    run(installed("nsenter")
        .arg(format!("--net=/proc/{}/ns/net", contained.pid))
        .args(["ip", "link", "set", "lo", "up"]));
    assert_served(&contained, "127.0.0.1:8080 as told by the image");
    containerd.run(&["tasks", "kill", "--signal", "SIGKILL", "served"]);
    wait_for("the container's end", || {
        containerd.task("served").is_none_or(|(_, state)| state == "STOPPED").then_some(())
    });
    // ctr hands on the exit status of the container, which was killed.
    let _ = containerd.command(&["tasks", "delete", "served"]).output().expect("it starts");
    containerd.run(&["containers", "delete", "served"]);
}

#[test]
fn containerd_imports_the_archive_as_kind_does() {
    let containerd = Containerd::start();
    let archived = archive(containerd.folder.path());
    // kind finds the names by itself (sigs.k8s.io/kind, nodeutils.GetArchiveTags: in manifest.json), then gives the archive to this.
    let manifests = run(installed("tar")
        .args(["--extract", "--to-stdout", "--file"])
        .arg(&archived.path)
        .arg("manifest.json"));
    let manifests: serde_json::Value = serde_json::from_str(&manifests).expect("JSON");
    assert_eq!(manifests[0]["RepoTags"], serde_json::json!([archived.name]));
    let kinds = ["images", "import", "--all-platforms", "--digests", "--snapshotter=overlayfs", "-"];
    run(containerd.command(&kinds).stdin(std::fs::File::open(&archived.path).expect("a file")));
    let names = containerd.run(&["images", "list", "--quiet"]);
    assert!(names.lines().any(|name| name == archived.name), "{names}");
}
