//! The real cluster of two nodes, with the program's image on its nodes.

#[path = "../../../../platform/tests/common/two_nodes.rs"]
mod two_nodes;

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use two_nodes::{TwoNodes, run};

use super::{PROGRAM, wait_for};

pub struct Cluster(TwoNodes);

/// The cluster, the same for all tests of a program.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::up)
}

/// Waits for the cluster of test programs that have ended to be taken down, which puts back what it changed of the machine.
pub fn let_unused_one_go() {
    let users = Path::new("/run/loadline-cluster/users");
    let is_alive = |user: fs::DirEntry| Path::new("/proc").join(user.file_name()).exists();
    wait_for("an unused cluster to be taken down", || {
        let mut left = fs::read_dir(users).ok().into_iter().flatten().flatten();
        (!users.exists() || left.any(is_alive)).then_some(())
    });
}

impl Deref for Cluster {
    type Target = TwoNodes;

    fn deref(&self) -> &TwoNodes {
        &self.0
    }
}

impl Cluster {
    fn up() -> Cluster {
        let nodes = TwoNodes::up();
        let archive = concat!(env!("CARGO_TARGET_TMPDIR"), "/loadline.tar");
        run(Command::new(PROGRAM).args(["image", "-o", archive, "loadline"]));
        nodes.script("load", &[archive]);
        fs::remove_file(archive).expect("the archive");
        Cluster(nodes)
    }

    /// The namespaces of runs.
    pub fn namespaces(&self) -> String {
        self.kubectl(&["get", "namespaces", "-l", "loadline.run", "-o", "name"])
    }
}
