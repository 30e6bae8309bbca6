//! The real cluster of `tests/cluster`, brought up if it isn't, for as long as the test program runs, with the program's image on its nodes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::PROGRAM;

/// The cluster as its administrator has it.
pub struct Cluster {
    scripts: PathBuf,
    pub kubeconfig: String,
    kubectl: PathBuf,
}

/// The cluster, the same for all tests of a program.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::up)
}

impl Cluster {
    fn up() -> Cluster {
        let scripts = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cluster"));
        // What it starts keeps its standard error, so that a pipe there would never end.
        let user = std::process::id().to_string();
        let up = Command::new(scripts.join("up"))
            .args(["--for", &user])
            .stderr(Stdio::inherit())
            .output()
            .expect("tests/cluster/up");
        let said = String::from_utf8_lossy(&up.stdout).into_owned();
        assert!(up.status.success(), "the cluster didn't come up: {said}");
        // `export KUBECONFIG=FILE PATH=FOLDER:$PATH`
        let value = |name: &str| {
            let value = said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            value.unwrap_or_else(|| panic!("no {name} in {said}")).to_owned()
        };
        let kubectl = Path::new(value("PATH").split(':').next().unwrap_or_default()).join("kubectl");
        let archive = concat!(env!("CARGO_TARGET_TMPDIR"), "/loadline.tar");
        run(Command::new(PROGRAM).args(["image", "-o", archive, "loadline"]));
        let cluster = Cluster { scripts, kubeconfig: value("KUBECONFIG"), kubectl };
        cluster.script("load", &[archive]);
        fs::remove_file(archive).expect("the archive");
        cluster
    }

    /// `kubectl ARGUMENTS…`, which must succeed; what it printed.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        run(Command::new(&self.kubectl).args(["--kubeconfig", &self.kubeconfig]).args(arguments))
    }

    /// A script of `tests/cluster`.
    pub fn script(&self, name: &str, arguments: &[&str]) -> String {
        run(Command::new(self.scripts.join(name)).args(arguments))
    }

    /// Kills a part of the cluster, named as its file in the folder of process numbers: `api-server`, `node-2.kubelet`.
    pub fn kill(&self, part: &str) {
        let pid = fs::read_to_string(format!("/run/loadline-cluster/pids/{part}")).expect("its number");
        run(Command::new("kill").args(["-KILL", pid.trim()]));
    }

    /// The namespaces of runs.
    pub fn namespaces(&self) -> String {
        self.kubectl(&["get", "namespaces", "-l", "loadline.run", "-o", "name"])
    }
}

fn run(command: &mut Command) -> String {
    let output = command.stderr(Stdio::piped()).output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}
