//! Waiting until an instant, exact to a few microseconds, without delaying other requests for longer than that.
//! Tokio's own timer ticks in milliseconds, so the wait is a timerfd in its event loop and a short spin at the end.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, Itimerspec, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_settime};
use tokio::io::unix::AsyncFd;

use crate::sys;

/// How long before the deadline the timer fires; the thread spins for the rest.
/// Measured on a two-CPU virtual machine: an idle CPU wakes 24 µs late at the median.
const WAKE_EARLY: Duration = Duration::from_micros(40);

/// Timers kept for later requests; those that a burst needs beyond that are closed afterwards.
const TIMER_POOL_SIZE: usize = 256;

type Timer = AsyncFd<OwnedFd>;

/// Precise sleeps for one runtime; its timers are reused, so a sleep costs two system calls.
pub(crate) struct Sleeper {
    idle: Mutex<Vec<Timer>>,
}

impl Sleeper {
    pub(crate) fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()) }
    }

    /// Returns `span` after the call, never before. Fails if the process has no file descriptor left for a timer.
    pub(crate) async fn sleep(&self, span: Duration) -> io::Result<()> {
        let deadline = monotonic() + span;
        if span > WAKE_EARLY {
            self.lease()?.wait_until(deadline - WAKE_EARLY).await?;
        }
        while monotonic() < deadline {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn lease(&self) -> io::Result<TimerLease<'_>> {
        let pooled = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let timer = match pooled {
            Some(timer) => timer,
            None => sys::watched_timer()?,
        };
        Ok(TimerLease { pool: self, timer: Some(timer) })
    }
}

/// A leased timer; it returns to the pool even when the request is cancelled.
struct TimerLease<'a> {
    pool: &'a Sleeper,
    timer: Option<Timer>,
}

impl TimerLease<'_> {
    async fn wait_until(&self, deadline: Duration) -> io::Result<()> {
        let Some(timer) = &self.timer else { return Ok(()) };
        let once_at = Itimerspec { it_interval: Timespec::default(), it_value: timespec(deadline) };
        // Setting a timer also forgets an expiry that a former holder left unread (fs/timerfd.c, timerfd_setup).
        timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once_at)?;
        loop {
            let mut ready = timer.readable().await?;
            // A readiness from before is disproved by the read, which then waits for the next one.
            if let Ok(expired) = ready.try_io(|fd| Ok(rustix::io::read(fd, &mut [0u8; 8])?)) {
                expired?;
                ready.clear_ready();
                return Ok(());
            }
        }
    }
}

impl Drop for TimerLease<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(timer) = self.timer.take().filter(|_| idle.len() < TIMER_POOL_SIZE) {
            idle.push(timer);
        }
    }
}

/// `CLOCK_MONOTONIC`, the clock of the timers, as the time since its unspecified start.
fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock is never negative and its nanoseconds are below a second (clock_gettime(2)).
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn timespec(at: Duration) -> Timespec {
    Timespec { tv_sec: at.as_secs() as i64, tv_nsec: at.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[tokio::test]
    async fn a_sleep_is_never_short() -> io::Result<()> {
        let sleeper = Sleeper::new();
        for span in [1, 39, 41, 200, 3_000].map(Duration::from_micros) {
            let start = Instant::now();
            sleeper.sleep(span).await?;
            assert!(start.elapsed() >= span, "{:?} for {span:?}", start.elapsed());
        }
        Ok(())
    }

    #[tokio::test]
    async fn one_timer_serves_one_sleep_after_another() -> io::Result<()> {
        let sleeper = Sleeper::new();
        for _ in 0..20 {
            sleeper.sleep(Duration::from_micros(100)).await?;
        }
        assert_eq!(sleeper.idle.lock().map(|idle| idle.len()).ok(), Some(1));
        Ok(())
    }

    #[tokio::test]
    async fn a_timer_that_fired_for_an_abandoned_sleep_does_not_cut_the_next_one_short() -> io::Result<()> {
        let sleeper = Sleeper::new();
        {
            let abandoned = sleeper.sleep(Duration::from_millis(2));
            tokio::pin!(abandoned);
            tokio::select! {
                biased;
                result = &mut abandoned => result?,
                () = tokio::task::yield_now() => {}
            }
            // Out of the event loop's sight until the timer has fired.
            std::thread::sleep(Duration::from_millis(4));
        }
        let start = Instant::now();
        sleeper.sleep(Duration::from_millis(5)).await?;
        assert!(start.elapsed() >= Duration::from_millis(5));
        assert_eq!(sleeper.idle.lock().map(|idle| idle.len()).ok(), Some(1));
        Ok(())
    }

    #[tokio::test]
    async fn sleeps_overlap() -> io::Result<()> {
        let sleeper = Sleeper::new();
        let (first, second) =
            tokio::join!(sleeper.sleep(Duration::from_millis(5)), sleeper.sleep(Duration::from_millis(1)));
        first?;
        second?;
        assert_eq!(sleeper.idle.lock().map(|idle| idle.len()).ok(), Some(2), "each had a timer of its own");
        Ok(())
    }
}
