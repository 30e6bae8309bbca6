//! Tests of what happens in what order, on a machine that may be busy with something else.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A thread that waits longer than this for its CPU lets requests meet that were meant to come one after the other.
const STANDSTILL: Duration = Duration::from_millis(10);
const TRIES: u32 = 8;
/// Before it is tried again, twice as long each time: what disturbs may last for half a minute.
const PAUSE: Duration = Duration::from_millis(250);
/// How often it is looked whether a CPU is to be had.
const PERIOD: Duration = Duration::from_millis(2);

/// A test that fails while a CPU was not to be had is run again; what the engine does wrong it does on a quiet machine as well.
pub fn undisturbed<T>(test: impl Fn() -> T) -> T {
    for attempt in 1..TRIES {
        let (outcome, standstill) = watched(|| catch_unwind(AssertUnwindSafe(&test)));
        match outcome {
            Ok(result) => return result,
            Err(failure) if standstill < STANDSTILL => resume_unwind(failure),
            Err(_) => println!("run again: a thread waited {standstill:?} for its CPU"),
        }
        std::thread::sleep(PAUSE * 2_u32.pow(attempt - 1));
    }
    test()
}

/// Runs `body`, and says for how long at most a thread that wanted to run did not get its CPU meanwhile.
fn watched<T>(body: impl FnOnce() -> T) -> (T, Duration) {
    let (done, longest_ns) = (AtomicBool::new(false), AtomicU64::new(0));
    let allowed = sched_getaffinity(None).expect("the thread's CPUs");
    let outcome = std::thread::scope(|scope| {
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            let (done, longest_ns) = (&done, &longest_ns);
            scope.spawn(move || {
                let mut only = CpuSet::new();
                only.set(cpu);
                sched_setaffinity(None, &only).expect("it is one of the thread's CPUs");
                while !done.load(Ordering::Relaxed) {
                    let asked = Instant::now();
                    std::thread::sleep(PERIOD);
                    let waited = asked.elapsed().saturating_sub(PERIOD);
                    longest_ns.fetch_max(waited.as_nanos() as u64, Ordering::Relaxed);
                }
            });
        }
        let outcome = body();
        done.store(true, Ordering::Relaxed);
        outcome
    });
    (outcome, Duration::from_nanos(longest_ns.load(Ordering::Relaxed)))
}
