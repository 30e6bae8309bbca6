//! Programs that want a CPU all the time and leave little of it to others.

use std::process::{Child, Command};

/// They end with the value.
pub struct Competition(Vec<Child>);

impl Competition {
    pub fn on_cpu_0() -> Competition {
        let spin = "import os\nos.sched_setaffinity(0, {0})\nwhile True: pass\n";
        let start = |_| Command::new("python3").args(["-c", spin]).spawn().expect("python3");
        Competition((0..8).map(start).collect())
    }
}

impl Drop for Competition {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // They never end by themselves.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
