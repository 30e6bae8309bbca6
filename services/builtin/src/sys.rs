//! The only unsafe code of the services: registering a timer with the event loop.
//! Everything else goes through safe wrappers.

use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A new timer on `CLOCK_MONOTONIC` (timerfd_create(2)), watched by the current runtime. Must be called within one.
pub(crate) fn watched_timer() -> io::Result<AsyncFd<OwnedFd>> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    // SAFETY: an `OwnedFd` is open, always gives the same descriptor, and is closed only when the `AsyncFd` that
    // takes ownership of it here is dropped.
    let watched = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
    Ok(watched?)
}
