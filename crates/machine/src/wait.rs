//! Polling what cannot be watched, at one of a few intervals and with a timeout.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// Polling interval for what the kernel or a local program does within milliseconds.
pub const SHORT_INTERVAL: Duration = Duration::from_millis(2);
/// Polling interval for a daemon on this machine.
pub const DAEMON_INTERVAL: Duration = Duration::from_millis(50);
/// Polling interval for a cluster.
pub const CLUSTER_INTERVAL: Duration = Duration::from_millis(200);

/// Calls `ask` every `interval` until it returns a value; `None` after `timeout`. Calls it at least once.
pub fn until<T>(timeout: Duration, interval: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        sleep(interval);
    }
}

/// Attempts every `interval` while the failure is transient, until `timeout` is over.
///
/// # Errors
/// The last failure.
pub fn retry<T, E>(
    timeout: Duration,
    interval: Duration,
    may_pass: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let deadline = Instant::now() + timeout;
    loop {
        match attempt() {
            Err(error) if may_pass(&error) && Instant::now() < deadline => sleep(interval),
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_the_waiting_and_so_does_the_timeout() {
        let mut asked = 0;
        let third = until(Duration::from_secs(60), Duration::ZERO, || {
            asked += 1;
            (asked == 3).then_some(asked)
        });
        assert_eq!(third, Some(3));
        assert_eq!(until(Duration::ZERO, Duration::from_nanos(1), || None::<()>), None);
    }

    #[test]
    fn only_transient_failures_are_retried() {
        let tries = |failing: &'static str| {
            let mut count = 0;
            let outcome = retry(
                Duration::from_secs(60),
                Duration::ZERO,
                |error| *error == "busy",
                || {
                    count += 1;
                    if count < 3 { Err(failing) } else { Ok(()) }
                },
            );
            (outcome, count)
        };
        assert_eq!(tries("busy"), (Ok(()), 3));
        assert_eq!(tries("broken"), (Err("broken"), 1));
    }
}
