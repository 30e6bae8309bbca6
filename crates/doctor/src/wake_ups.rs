//! How late a sleeping thread runs again: by a timer, as the load engine wakes to send, and by another thread's write, as a service wakes to
//! answer. The CPUs are otherwise left idle, so that they fall asleep as deeply as they do between requests.

use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loadline_model::result::doctor::{Latency, WakeUps};
use rustix::thread::{clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec};

use crate::now_ns;
use crate::pinned::pin;

/// From one wake-up to the next: about as long as a service at 1000/s sleeps.
const EVERY: Duration = Duration::from_millis(1);

/// Measures both, each for half of the time; the timer on the last of the CPUs, where the load runs unless it is told otherwise.
pub fn wake_ups(cpus: &[usize], duration: Duration, stop: &AtomicBool) -> WakeUps {
    let Some(last) = cpus.last() else { return WakeUps::default() };
    let first = cpus.first().filter(|first| *first != last);
    WakeUps {
        timer: timer(*last, duration / 2, stop),
        other_cpu: first.and_then(|first| other_cpu(*last, *first, duration / 2, stop).ok()?),
    }
}

/// How much later than asked a timer wakes a thread on this CPU.
fn timer(cpu: usize, duration: Duration, stop: &AtomicBool) -> Option<Latency> {
    let sleep = || -> Option<Vec<u64>> {
        pin(cpu).ok()?;
        // As the load engine does; the usual slack of 50 µs would hide everything else.
        set_current_timer_slack(NonZeroU64::new(1)).ok()?;
        let wake = |due| {
            sleep_until(due);
            now_ns().saturating_sub(due)
        };
        Some(due_times(duration, stop).map(wake).collect())
    };
    let late = std::thread::scope(|scope| scope.spawn(sleep).join().ok().flatten());
    latency(late?)
}

/// How long it takes from a write on one CPU until the thread on another one that waited for it runs.
fn other_cpu(from: usize, to: usize, duration: Duration, stop: &AtomicBool) -> io::Result<Option<Latency>> {
    let (mut waiting, mut waking) = io::pipe()?;
    std::thread::scope(|scope| {
        let woken = scope.spawn(move || -> io::Result<Vec<u64>> {
            pin(to)?;
            let (mut latencies, mut written) = (Vec::new(), [0; 8]);
            while waiting.read_exact(&mut written).is_ok() {
                latencies.push(now_ns().saturating_sub(u64::from_ne_bytes(written)));
            }
            Ok(latencies)
        });
        let write = scope.spawn(move || -> io::Result<()> {
            pin(from)?;
            for due in due_times(duration, stop) {
                sleep_until(due);
                waking.write_all(&now_ns().to_ne_bytes())?;
            }
            // Its end of the pipe closes, and the reader ends.
            Ok(())
        });
        // A panic would be a bug of this module: there is nothing in it that does.
        write.join().unwrap_or(Ok(()))?;
        Ok(latency(woken.join().unwrap_or_else(|_| Ok(Vec::new()))?))
    })
}

fn due_times(duration: Duration, stop: &AtomicBool) -> impl Iterator<Item = u64> {
    let every = EVERY.as_nanos() as u64;
    let end = now_ns() + duration.as_nanos() as u64;
    let next = move || Some(now_ns() + every).filter(|due| *due < end && !stop.load(Ordering::Relaxed));
    std::iter::from_fn(next)
}

fn sleep_until(due_ns: u64) {
    let time = Timespec { tv_sec: (due_ns / 1_000_000_000) as i64, tv_nsec: (due_ns % 1_000_000_000) as i64 };
    // A signal may end it early; then the thread was not late.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &time);
}

fn latency(mut latencies_ns: Vec<u64>) -> Option<Latency> {
    latencies_ns.sort_unstable();
    let last = latencies_ns.len().checked_sub(1)?;
    let at = |quantile: f64| latencies_ns[(quantile * last as f64).round() as usize];
    Some(Latency { p50_ns: at(0.5), p99_ns: at(0.99), count: latencies_ns.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_latencies() {
        let shuffled = (0..=100).rev().map(|n| n * 10).collect();
        assert_eq!(latency(shuffled), Some(Latency { p50_ns: 500, p99_ns: 990, count: 101 }));
        assert_eq!(latency(Vec::new()), None);
    }

    #[test]
    fn a_single_cpu_wakes_nobody_else() {
        let seen = wake_ups(&[0], Duration::from_millis(800), &AtomicBool::new(false));
        assert!(seen.timer.is_some_and(|timer| timer.count > 0 && timer.p50_ns <= timer.p99_ns));
        assert_eq!(seen.other_cpu, None);
        assert_eq!(wake_ups(&[], Duration::from_millis(1), &AtomicBool::new(false)), WakeUps::default());
    }
}
