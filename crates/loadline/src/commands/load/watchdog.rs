//! The watchdog: what the machine did to the load threads while the load went on.

use loadline_model::Observations;
use loadline_observe::{Observer, Snapshot, Subject, Wanted};

/// Watches from the moment it is made until it is asked.
pub struct Watchdog {
    observer: Observer,
    before: Snapshot,
}

impl Watchdog {
    /// Begins to watch. Best while no load runs: it reads a dozen small files.
    pub fn start() -> Watchdog {
        let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
        let mut observer = Observer::new(subject);
        Watchdog { before: observer.read(&Wanted::Everything), observer }
    }

    /// What it saw of this process and the machine.
    pub fn finish(mut self) -> Observations {
        let after = self.observer.read(&Wanted::Everything);
        self.observer.between(&self.before, &after)
    }
}
