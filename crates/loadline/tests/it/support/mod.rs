//! What the end-to-end tests share: the program as its user starts it, its store as another reader sees it, and what a run may
//! leave on the machine. Real processes, links and rules: the tests must run as root.

pub mod cluster;
pub mod competition;
pub mod go;
pub mod hunger;
pub mod leftovers;
pub mod loaded;
pub mod nginx;
pub mod page;
pub mod place;
pub mod programs;
pub mod served;
pub mod small_disk;
pub mod store;
pub mod terminal;
#[path = "../../../../engine/tests/it/support/undisturbed.rs"]
pub mod undisturbed;
pub mod user;

use std::time::{Duration, Instant};

use loadline_analysis::result::RunResult;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_loadline");

/// As little measuring as shows that everything works, deployed anew once: neither figures nor gates matter where this is used.
pub const BRIEF: [&str; 10] =
    ["--slice", "200ms", "--blocks", "2", "--deployments", "2", "--warmup", "1s", "--repeats", "0"];

/// The same with a deployment more, where a run is to be met at some stage that it is not yet at the end of.
pub const STAGED: [&str; 10] =
    ["--slice", "200ms", "--blocks", "2", "--deployments", "3", "--warmup", "1s", "--repeats", "0"];

/// Longest wait for anything: far more than it takes, so that a loaded machine fails no test.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `found` finds something, which it must.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(thing) = found() {
            return thing;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Every cell was answered, and the CPU time of every service was seen.
pub fn assert_whole(result: &RunResult, cells: usize) {
    assert_eq!(result.cells.len(), cells);
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.label, cell.errors);
        let cpu = cell.figures.iter().find(|figure| figure.metric == "cpu.service");
        assert!(cpu.is_some_and(|cpu| cpu.value > 0.0), "the CPU time of {} was not seen", cell.label);
    }
}
