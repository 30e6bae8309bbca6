//! Pauses are what a load thread's CPU took from it, and never what a service did.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadline_engine::{Engine, Options, Record};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::stalling::Stalling;
use crate::support::undisturbed::undisturbed;
use crate::support::{alone, options, slice};

const RATE: usize = 500;
const SECONDS: f64 = 2.0;

/// The CPUs that this process may use, first and last.
fn first_and_last() -> (usize, usize) {
    let allowed = sched_getaffinity(None).unwrap();
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let first = cpus.next().unwrap();
    (first, cpus.next_back().unwrap_or(first))
}

/// Drives a load from the last CPU, against a server that stalls at these moments of the slice.
fn drive(stall_ns: std::ops::Range<u64>) -> Record {
    let server = Stalling::start(4, (RATE as f64 * SECONDS) as usize);
    let options = Options {
        cpus: vec![first_and_last().1],
        timeout: Duration::from_secs(60),
        ..options(server.address, 4)
    };
    let mut engine = Engine::start(&options).unwrap();
    engine.prepare().unwrap();
    let start = Engine::next_start();
    server.stall(start + stall_ns.start..start + stall_ns.end);
    engine.begin(slice(&format!("{RATE}/s"), SECONDS), start).unwrap();
    engine.finish().unwrap()
}

#[test]
fn a_service_that_stalls_is_no_pause() {
    let _alone = alone();
    undisturbed(|| {
        let record = drive(300_000_000..1_300_000_000);
        assert!(record.response.max() > 900_000_000, "it stalled");
        // A busy machine may pause as well, but not for most of a second.
        assert!(record.pauses.over_1ms.total_ns < 500_000_000, "{:?}", record.pauses);
    });
}

#[test]
fn a_program_that_takes_the_loads_cpu_is_seen() {
    let _alone = alone();
    let done = AtomicBool::new(false);
    let (record, took) = std::thread::scope(|scope| {
        let hog = scope.spawn(|| {
            let mut only = CpuSet::new();
            only.set(first_and_last().1);
            sched_setaffinity(None, &only).unwrap();
            let mut took = Duration::ZERO;
            while !done.load(Ordering::Relaxed) {
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_millis(40) {
                    std::hint::spin_loop();
                }
                took += begun.elapsed();
                std::thread::sleep(Duration::from_millis(160));
            }
            took
        });
        let record = drive(0..0);
        done.store(true, Ordering::Relaxed);
        (record, hog.join().unwrap())
    });
    // It shares the CPU with the load, which wants it only now and then.
    let seen = Duration::from_nanos(record.pauses.over_1ms.total_ns);
    assert!(record.pauses.over_1ms.count >= 5, "{:?} of {took:?}", record.pauses);
    assert!(seen < 2 * took, "{seen:?} of {took:?}");
}

#[test]
fn pauses_of_intervals_add_up_to_those_of_the_slice() {
    let server = Stalling::start(1, RATE);
    let options = Options { interval: Some(Duration::from_millis(100)), ..options(server.address, 1) };
    let mut engine = Engine::start(&options).unwrap();
    engine.prepare().unwrap();
    engine.begin(slice(&format!("{RATE}/s"), 1.0), Engine::next_start()).unwrap();
    let mut sum = loadline_model::pauses::Pauses::default();
    let record = engine.finish_with(|interval| sum.add(&interval.pauses)).unwrap();
    assert_eq!(record.pauses, sum);
}
