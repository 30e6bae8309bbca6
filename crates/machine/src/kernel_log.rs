//! What the kernel's log says about processes that it killed. It reports every one, while the daemon that started a container may miss it.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    time::Duration,
};

use rustix::{
    fs::OFlags,
    time::{ClockId, clock_gettime},
};

/// Longest record of the log, with the dictionary behind it (`PRINTK_MESSAGE_MAX` in the kernel's internal.h).
const RECORD_BYTES: usize = 8192;

/// How far the log's clock and CLOCK_MONOTONIC may differ.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(1);

/// The current time, as [`killed_for_memory`] takes it.
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// Whether the kernel's OOM killer has killed the process since then. Also `false` where this user may not read the log
/// (`kernel.dmesg_restrict`), or process ids are those of a PID namespace.
pub fn killed_for_memory(pid: u32, since: Duration) -> bool {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let log = OpenOptions::new().read(true).custom_flags(nonblocking).open("/dev/kmsg");
    log.is_ok_and(|mut log| is_killed_in(&mut log, pid, since.saturating_sub(MAX_CLOCK_SKEW)))
}

fn is_killed_in(log: &mut File, pid: u32, since: Duration) -> bool {
    let mut record = [0; RECORD_BYTES];
    loop {
        match log.read(&mut record) {
            // Each read gives one record (Documentation/ABI/testing/dev-kmsg).
            Ok(length) if length > 0 => {
                if reports_kill_of(&String::from_utf8_lossy(&record[..length]), pid, since) {
                    return true;
                }
            }
            // The next record was overwritten: continue with the one after it.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            _ => return false,
        }
    }
}

/// `4,1302,5934600328,-;Memory cgroup out of memory: Killed process 11837 (orders) total-vm:…`, the third figure in µs since boot.
fn reports_kill_of(record: &str, pid: u32, since: Duration) -> bool {
    let Some((prefix, message)) = record.split_once(';') else { return false };
    let at = prefix.split(',').nth(2).and_then(|micros| micros.parse().ok()).map(Duration::from_micros);
    at.is_some_and(|at| at >= since)
        && message.to_ascii_lowercase().contains("out of memory")
        && message.contains(&format!("Killed process {pid} ("))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "3,1302,5934600328,-;Memory cgroup out of memory: Killed process 11837 (orders) total-vm:100320kB, \
                          anon-rss:65024kB, UID:1000 oom_score_adj:0\n";

    #[test]
    fn a_record_is_about_its_own_process_and_time() {
        let second = Duration::from_secs;
        assert!(reports_kill_of(RECORD, 11837, second(5934)));
        assert!(!reports_kill_of(RECORD, 11837, second(5935)), "an earlier process of that number");
        assert!(!reports_kill_of(RECORD, 1183, second(0)));
        assert!(!reports_kill_of("6,1,2,-;usb 1-1: new device\n", 1, second(0)));
        assert!(!reports_kill_of("", 1, second(0)));
    }

    #[test]
    fn this_process_was_not_killed() {
        assert!(!killed_for_memory(std::process::id(), Duration::ZERO));
    }
}
