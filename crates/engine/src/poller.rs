//! Waiting for sockets until a nanosecond deadline: asleep in `epoll_pwait2` for most of it, awake for the last microseconds.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::clock::{Nanos, now};

/// How long before a deadline sleeping ends and spinning begins.
///
/// An idle virtual CPU was seen to wake 24 to 33 µs late at the median and 32 to 44 µs at the 90th percentile (2,000 sleeps of
/// 0.5 ms, timer slack 1 ns, kernel 6.18 under KVM).
const SPIN_NS: Nanos = 60_000;

/// Events taken from the kernel at once.
const BATCH: usize = 256;

/// An epoll instance with its event buffer.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub fn new() -> io::Result<Poller> {
        Ok(Poller { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(BATCH) })
    }

    /// Watches a socket under a token of the caller's, until it is closed.
    ///
    /// Edge-triggered, both ways at once: no call per request changes what is watched, and the kernel does not look again at a
    /// socket that it has told of (epoll(7)). So whoever is told reads until a read comes up short.
    pub fn add(&self, socket: impl AsFd, token: usize) -> io::Result<()> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token as u64), interest)?)
    }

    /// Returns when a socket is ready or the deadline is reached, and how many events there are. Until `awake_until`, where a
    /// response is expected any moment, it does not sleep: to be woken would take longer than to wait.
    pub fn wait(&mut self, deadline: Nanos, awake_until: Nanos) -> io::Result<usize> {
        // Under load something is ready most of the time: no clock is read and no timer set for it.
        while self.poll(0)? == 0 {
            let present = now();
            if present >= deadline {
                break;
            }
            let left = deadline - present;
            if present >= awake_until && left > SPIN_NS {
                self.poll(left - SPIN_NS)?;
                if !self.events.is_empty() {
                    break;
                }
            }
            std::hint::spin_loop();
        }
        Ok(self.events.len())
    }

    /// Token and readiness of an event of the last [`Poller::wait`].
    pub fn event(&self, index: usize) -> (usize, EventFlags) {
        let event = self.events[index];
        (event.data.u64() as usize, event.flags)
    }

    fn poll(&mut self, timeout_ns: Nanos) -> io::Result<usize> {
        self.events.clear();
        let timeout = Timespec::try_from(Duration::from_nanos(timeout_ns)).map_err(io::Error::other)?;
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            // A signal is for the main thread; this one just polls again.
            Ok(_) | Err(Errno::INTR) => Ok(self.events.len()),
            Err(error) => Err(error.into()),
        }
    }
}
