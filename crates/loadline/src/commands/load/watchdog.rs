//! The watchdog: what the machine did to the load threads while the load went on.

use loadline_model::Observations;
use loadline_observe::{Snapshot, Subject, between};

/// Watches from the moment it is made until it is asked.
pub struct Watchdog {
    subject: Subject,
    before: Snapshot,
}

impl Watchdog {
    /// Begins to watch. Best while no load runs: it reads a dozen small files.
    pub fn start() -> Watchdog {
        let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
        Watchdog { before: Snapshot::take(&subject), subject }
    }

    /// What it saw of this process and the machine.
    pub fn finish(self) -> Observations {
        between(&self.before, &Snapshot::take(&self.subject))
    }
}
