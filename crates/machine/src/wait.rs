//! Waiting for what cannot be watched: asking again and again, at one of a few intervals, and not for ever.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// Between two questions about what the kernel or a local program does in milliseconds.
pub const SHORT_INTERVAL: Duration = Duration::from_millis(2);
/// Between two questions to a daemon of this machine.
pub const DAEMON_INTERVAL: Duration = Duration::from_millis(50);
/// Between two questions to a cluster.
pub const CLUSTER_INTERVAL: Duration = Duration::from_millis(200);

/// Asks every `interval` until there is an answer; `None` once `patience` is used up. Asks at least once.
pub fn until<T>(patience: Duration, interval: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
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

/// Attempts every `interval` while it fails in a way that may pass, until `patience` is used up.
///
/// # Errors
/// The last failure.
pub fn retry<T, E>(
    patience: Duration,
    interval: Duration,
    may_pass: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let deadline = Instant::now() + patience;
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
    fn an_answer_ends_the_waiting_and_so_does_impatience() {
        let mut asked = 0;
        let third = until(Duration::from_secs(60), Duration::ZERO, || {
            asked += 1;
            (asked == 3).then_some(asked)
        });
        assert_eq!(third, Some(3));
        assert_eq!(until(Duration::ZERO, Duration::from_nanos(1), || None::<()>), None);
    }

    #[test]
    fn only_failures_that_may_pass_are_tried_again() {
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
