//! The real cluster of two nodes, with the program's image on its nodes.

#[path = "../../../platform/tests/common/two_nodes.rs"]
mod two_nodes;

use std::fs;
use std::ops::Deref;
use std::process::Command;
use std::sync::OnceLock;

use two_nodes::{TwoNodes, run};

use super::PROGRAM;

pub struct Cluster(TwoNodes);

/// The cluster, the same for all tests of a program.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::up)
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
