//! The real clusters of `tests/cluster`, brought up if necessary, for as long as the test program runs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// A cluster as its administrator sees it.
pub struct TwoNodes {
    scripts: PathBuf,
    /// Empty for the one whose first node is the machine itself.
    name: &'static str,
    pub kubeconfig: String,
    kubectl: PathBuf,
}

impl TwoNodes {
    /// The cluster of `LOADLINE_TEST_CLUSTER`, which the one who set it takes down; otherwise one for as long as this process lives.
    pub fn up() -> TwoNodes {
        let scripts = scripts();
        if let Ok(kubeconfig) = std::env::var("LOADLINE_TEST_CLUSTER") {
            let folder = run(Command::new("bash")
                .args(["-c", ". \"$0\" && echo \"$BIN\""])
                .arg(scripts.join("settings")));
            return TwoNodes {
                scripts,
                name: "",
                kubeconfig,
                kubectl: Path::new(folder.trim()).join("kubectl"),
            };
        }
        TwoNodes::up_with("", &[])
    }

    /// A cluster beside others, in network namespaces of its own.
    pub fn up_apart(name: &'static str) -> TwoNodes {
        TwoNodes::up_with(name, &[name])
    }

    fn up_with(name: &'static str, arguments: &[&str]) -> TwoNodes {
        let scripts = scripts();
        let user = std::process::id().to_string();
        // What it starts inherits its standard error, so that a pipe there would never end.
        let up = Command::new(scripts.join("up"))
            .args(arguments)
            .args(["--for", &user])
            .stderr(Stdio::inherit())
            .output()
            .expect("tests/cluster/up");
        let said = String::from_utf8_lossy(&up.stdout).into_owned();
        assert!(up.status.success(), "the cluster did not come up: {said}");
        // `export KUBECONFIG=FILE PATH=FOLDER:$PATH`
        let value = |name: &str| {
            let value = said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            value.unwrap_or_else(|| panic!("no {name} in {said}")).to_owned()
        };
        let kubectl = Path::new(value("PATH").split(':').next().unwrap_or_default()).join("kubectl");
        TwoNodes { scripts, name, kubeconfig: value("KUBECONFIG"), kubectl }
    }

    /// A folder that goes with the cluster.
    pub fn folder(&self) -> PathBuf {
        let name = if self.name.is_empty() { String::new() } else { format!("-{}", self.name) };
        PathBuf::from(format!("/run/loadline-cluster{name}"))
    }

    /// `kubectl ARGUMENTS…`, which must succeed; what it printed.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        // What it keeps of the API would be believed of the next cluster with these addresses.
        let mut command = Command::new(&self.kubectl);
        command.env("KUBECACHEDIR", self.folder().join("kubectl"));
        run(command.args(["--kubeconfig", &self.kubeconfig]).args(arguments))
    }

    /// A script of `tests/cluster`.
    pub fn script(&self, name: &str, arguments: &[&str]) -> String {
        run(Command::new(self.scripts.join(name)).args(arguments).env("CLUSTER", self.name))
    }

    /// Kills a daemon, named as its file in the folder of process numbers: `api-server`, `node-2.kubelet`.
    pub fn kill(&self, daemon: &str) {
        let pid = fs::read_to_string(self.folder().join("pids").join(daemon)).expect("its number");
        run(Command::new("kill").args(["-KILL", pid.trim()]));
        while Path::new(&format!("/proc/{}", pid.trim())).exists() {
            sleep(Duration::from_millis(10));
        }
    }
}

fn scripts() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cluster"))
}

/// Runs a command that must succeed; what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.stderr(Stdio::piped()).output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}
