//! A program that takes a CPU away is seen as pauses of that CPU. Needs root, for its real-time priority.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_doctor::pauses;

/// Takes CPU 0 from everybody for 20 ms, ten times a second.
const TAKER: &str = "
import os, time
os.sched_setaffinity(0, {0})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
print('ready', flush=True)
for _ in range(300):
    end = time.monotonic() + 0.02
    while time.monotonic() < end: pass
    time.sleep(0.08)
";

/// Ends with the value.
struct Taker(Child);

impl Taker {
    fn start() -> Taker {
        let child = Command::new("python3").args(["-c", TAKER]).stdout(Stdio::piped()).spawn();
        let mut taker = Taker(child.expect("python3"));
        let mut line = String::new();
        BufReader::new(taker.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n", "a real-time priority needs root");
        taker
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        // It ends by itself in half a minute.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_time_program_that_takes_a_cpu_is_seen_as_pauses() {
    let taker = Taker::start();
    let seen = pauses(&[0], Duration::from_secs(3), &AtomicBool::new(false)).expect("CPU 0");
    drop(taker);
    let cpu = &seen.pauses.cpus[0];
    let [short, long, longest] = cpu.over[..] else { panic!("three lengths: {cpu:?}") };
    // 600 a minute; what else the machine does may join two of them, or add to them.
    assert!(longest.per_minute >= 300.0 && short.per_minute >= long.per_minute, "{cpu:?}");
    assert!(cpu.longest_ns >= 19_000_000, "{cpu:?}");
    assert!(longest.lost_ns_per_second >= 1e8, "{cpu:?}");
    assert!(cpu.other_programs_ns_per_second.is_some_and(|ns| ns >= 1e8), "{cpu:?}");
}
