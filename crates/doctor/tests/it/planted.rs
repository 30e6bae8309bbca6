//! A program that takes a CPU away is seen as pauses of that CPU. Needs root, for its real-time priority.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_doctor::pauses;
use loadline_test_support::CpuTaker;

#[test]
fn a_real_time_program_that_takes_a_cpu_is_seen_as_pauses() {
    let taker = CpuTaker::start(0, Duration::from_millis(20), Duration::from_millis(80));
    let seen = pauses(&[0], Duration::from_secs(3), &AtomicBool::new(false)).expect("CPU 0");
    drop(taker);
    let cpu = &seen.pauses.cpus[0];
    let [short, long, longest] = cpu.over[..] else { panic!("three lengths: {cpu:?}") };
    // 600 a minute on average; what else the machine does may join two of them, or add to them.
    assert!(longest.per_minute >= 300.0 && short.per_minute >= long.per_minute, "{cpu:?}");
    assert!(cpu.longest_ns >= 19_000_000, "{cpu:?}");
    assert!(longest.lost_ns_per_second >= 1e8, "{cpu:?}");
    assert!(cpu.other_programs_ns_per_second.is_some_and(|ns| ns >= 1e8), "{cpu:?}");
}
