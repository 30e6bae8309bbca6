//! The real clusters of two nodes, with the program's image on their nodes.

use std::fs::{self, File};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use loadline_test_support::two_nodes::{TwoNodes, run};

use super::{PROGRAM, wait_for};

/// The cluster with or without other tests on it.
pub struct Cluster {
    nodes: TwoNodes,
    /// None where no other test uses it. Freed by the kernel when the test ends, however it ends.
    _lock: Option<File>,
}

/// The cluster, brought up if it isn't, for a test that touches nothing but what its own run made there.
pub fn cluster() -> Cluster {
    let file = lock_file("cluster.lock");
    file.lock_shared().expect("a lock");
    Cluster::with(TwoNodes::up(), Some(file))
}

/// A cluster beside it, in network namespaces of its own, for a single test.
pub fn cluster_apart(name: &'static str) -> Cluster {
    Cluster::with(TwoNodes::up_apart(name), None)
}

/// The cluster for a test that takes parts of it away: nobody else is on it meanwhile.
pub fn disturbed_cluster() -> Cluster {
    let file = lock_file("cluster.lock");
    file.lock().expect("a lock");
    Cluster::with(TwoNodes::up(), Some(file))
}

fn lock_file(name: &str) -> File {
    File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).expect("cargo made the folder")
}

/// Waits for the clusters of test programs that have ended to be taken down, which puts back what they changed of the machine.
pub fn let_unused_one_go() {
    let is_alive = |user: fs::DirEntry| Path::new("/proc").join(user.file_name()).exists();
    let is_unused = |cluster: fs::DirEntry| {
        let is_one = cluster.file_name().to_string_lossy().starts_with("loadline-cluster");
        is_one && fs::read_dir(cluster.path().join("users")).is_ok_and(|users| !users.flatten().any(is_alive))
    };
    wait_for("unused clusters to be taken down", || {
        (!fs::read_dir("/run").ok()?.flatten().any(is_unused)).then_some(())
    });
}

impl Deref for Cluster {
    type Target = TwoNodes;

    fn deref(&self) -> &TwoNodes {
        &self.nodes
    }
}

impl Cluster {
    fn with(nodes: TwoNodes, lock: Option<File>) -> Cluster {
        let cluster = Cluster { nodes, _lock: lock };
        cluster.load_program();
        cluster
    }

    /// Gives the nodes the program's image, unless a test before this one has.
    fn load_program(&self) {
        let one_at_a_time = lock_file("image.lock");
        one_at_a_time.lock().expect("a lock");
        let program = fs::metadata(PROGRAM).expect("the program");
        let name = format!("loaded-{}-{}.{:09}", program.len(), program.mtime(), program.mtime_nsec());
        // It goes with the cluster.
        let loaded = self.folder().join(name);
        if loaded.exists() {
            return;
        }
        let archive = concat!(env!("CARGO_TARGET_TMPDIR"), "/loadline.tar");
        run(Command::new(PROGRAM).args(["image", "-o", archive, "loadline"]));
        self.script("load", &[archive]);
        fs::remove_file(archive).expect("the archive");
        File::create(loaded).expect("the folder of the cluster");
    }

    /// Whether the namespace of a run is there.
    pub fn has_namespace_of(&self, run: &str) -> bool {
        let name = format!("namespace/loadline-{run}");
        self.kubectl(&["get", "namespaces", "-o", "name"]).lines().any(|line| line == name)
    }
}
