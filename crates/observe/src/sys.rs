//! The one thing that has no safe wrapper: the CPU-time clock of another process.

use rustix::process::Pid;

/// The CPU time that a process has used, in nanoseconds: all its threads, those that have ended included, but not
/// its children (clock_getcpuclockid(3)). `None` if there is no such process.
pub(crate) fn process_cpu_ns(pid: Pid) -> Option<u64> {
    let mut clock = 0;
    // SAFETY: the second argument points to a `clockid_t` that lives through the call.
    if unsafe { libc::clock_getcpuclockid(pid.as_raw_nonzero().get(), &raw mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the second argument points to a `timespec` that lives through the call.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let (seconds, ns) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_this_process_runs_and_no_clock_is_found_for_no_process() {
        let pid = rustix::process::getpid();
        let before = process_cpu_ns(pid);
        let mut sum = 0u64;
        for n in 0..1_000_000 {
            sum = std::hint::black_box(sum.wrapping_add(n));
        }
        assert!(before.is_some() && process_cpu_ns(pid) > before);
        // Above the largest PID that the kernel gives (PID_MAX_LIMIT, 2^22).
        assert_eq!(Pid::from_raw(1 << 23).and_then(process_cpu_ns), None);
    }
}
