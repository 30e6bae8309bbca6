//! A real-time program that takes a CPU from everybody now and then. Needs root, for its priority.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// It ends by itself, should its test be killed.
const PROGRAM: &str = "
import os, random, sys, time
cpu, takes, leaves = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
print('ready', flush=True)
over = time.monotonic() + 120
while time.monotonic() < over:
    end = time.monotonic() + takes
    while time.monotonic() < end: pass
    time.sleep(random.expovariate(1 / leaves))
";

/// Takes a CPU until it is dropped.
pub struct CpuTaker(Child);

impl CpuTaker {
    /// Takes `cpu` for `takes` at a time, and leaves it alone for `leaves` on average, at random.
    pub fn start(cpu: usize, takes: Duration, leaves: Duration) -> CpuTaker {
        let [takes, leaves] = [takes, leaves].map(|time| time.as_secs_f64().to_string());
        let mut python = Command::new("python3");
        python.args(["-c", PROGRAM, &cpu.to_string(), &takes, &leaves]).stdout(Stdio::piped());
        let mut taker = CpuTaker(python.spawn().expect("python3"));
        let mut line = String::new();
        BufReader::new(taker.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n", "a real-time priority needs root");
        taker
    }
}

impl Drop for CpuTaker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
