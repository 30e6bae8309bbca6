//! A Docker daemon, or Podman's service in its place, for one test: with data, socket and mounts of its own, in the network
//! namespace of the thread that starts it, so that its bridge and rules are that node's and not the machine's.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Ends with the thread that started it.
pub struct Engine {
    dir: tempfile::TempDir,
    command: Vec<String>,
    child: Child,
}

impl Engine {
    /// `dockerd`, with these arguments besides those that isolate it.
    pub fn docker(arguments: &[&str]) -> Engine {
        Engine::docker_by(&[], arguments)
    }

    /// `dockerd` in a process namespace of its own, so that it has other ids for its containers' processes.
    pub fn docker_with_other_pids() -> Engine {
        Engine::docker_by(&["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"], &[])
    }

    fn docker_by(starter: &[&str], arguments: &[&str]) -> Engine {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        fs::write(path("daemon.json"), "{}").unwrap();
        let mut command = words(starter);
        command.extend(words(&["dockerd", "--host", &format!("unix://{}", path("sock"))]));
        for (option, name) in [
            ("--data-root", "data"),
            ("--exec-root", "exec"),
            ("--pidfile", "pid"),
            ("--config-file", "daemon.json"),
        ] {
            command.extend([option.to_owned(), path(name)]);
        }
        command.extend(words(arguments));
        Engine::start(dir, command)
    }

    /// `podman system service`.
    pub fn podman() -> Engine {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        // Its own limits are beyond what root may set where it lacks CAP_SYS_RESOURCE.
        let conf = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n";
        fs::write(path("containers.conf"), conf).unwrap();
        let conf = format!("CONTAINERS_CONF={}", path("containers.conf"));
        // Where CNI plugins record the addresses that they assign.
        let notes = "mkdir -p /var/lib/cni && mount -t tmpfs cni /var/lib/cni && exec \"$@\"";
        let mut command = words(&["sh", "-c", notes, "podman", "env", &conf, "podman"]);
        command.extend(words(&["--cgroup-manager", "cgroupfs", "--events-backend", "file"]));
        for (option, name) in [
            ("--root", "data"),
            ("--runroot", "run"),
            ("--tmpdir", "tmp"),
            ("--network-config-dir", "networks"),
        ] {
            fs::create_dir(path(name)).unwrap();
            command.extend([option.to_owned(), path(name)]);
        }
        command.extend(words(&["system", "service", "--time", "0", &format!("unix://{}", path("sock"))]));
        Engine::start(dir, command)
    }

    fn start(dir: tempfile::TempDir, command: Vec<String>) -> Engine {
        let child = spawn(&dir, &command);
        let mut engine = Engine { dir, command, child };
        engine.wait_until_it_answers();
        engine
    }

    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.dir.path().join("sock").display())
    }

    /// What the `docker` command prints.
    pub fn cli(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("docker");
        let output = command.args(["--host", &self.endpoint()]).args(arguments).output().unwrap();
        assert!(output.status.success(), "docker {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Everything in it that could be left behind.
    pub fn inventory(&self) -> Vec<String> {
        let lists = [
            &["ps", "--all", "--format", "container {{.Names}}"][..],
            &["network", "ls", "--format", "network {{.Name}}"],
            &["image", "ls", "--all", "--format", "image {{.Repository}}:{{.Tag}} {{.ID}}"],
            &["volume", "ls", "--format", "volume {{.Name}}"],
        ];
        lists.iter().flat_map(|list| self.cli(list).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// As an administrator would: Docker's containers are stopped with it.
    pub fn stop(&mut self) {
        let status = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
        self.child.wait().unwrap();
    }

    /// Without any chance to stop its containers, which continue to run.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, with the data that it had.
    pub fn restart(&mut self) {
        // A killed dockerd's containerd dies with it, but its process id would seem alive where orphans are not reaped.
        let _ = fs::remove_file(self.dir.path().join("exec/containerd/containerd.pid"));
        self.child = spawn(&self.dir, &self.command);
        self.wait_until_it_answers();
    }

    fn wait_until_it_answers(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut asking = Command::new("docker");
        asking.args(["--host", &self.endpoint(), "version"]).stdout(Stdio::null()).stderr(Stdio::null());
        while !asking.status().expect("the command docker (make tools-test installs it)").success() {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "{} ({ended:?}): {}",
                self.command[0],
                self.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The end of what it wrote, the last line first.
    fn log(&self) -> String {
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        log.lines().rev().take(10).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        match self.child.try_wait() {
            // It waits for its child and leaves signals to it.
            Ok(None) if self.command[0] == "unshare" => self.kill(),
            Ok(None) => self.stop(),
            _ => {}
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn spawn(dir: &tempfile::TempDir, command: &[String]) -> Child {
    let log = File::options().create(true).append(true).open(dir.path().join("log")).unwrap();
    // Its mounts are its own and vanish with it; and it ends with this thread, however the test ends.
    let alone = ["--mount", "setpriv", "--pdeathsig", "TERM"];
    let mut apart = Command::new("unshare");
    apart.args(alone).args(command).stdout(log.try_clone().unwrap()).stderr(log);
    apart.spawn().expect("unshare (package util-linux)")
}
