//! Waiting for sockets until a nanosecond deadline: asleep in `epoll_pwait2` for most of it, awake for the last microseconds.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::clock::{Nanos, now};
use crate::pause_watch::PauseWatch;

/// How long before a deadline sleeping ends and spinning begins.
///
/// An idle virtual CPU was seen to wake 24 to 33 µs late at the median and 32 to 44 µs at the 90th percentile (2,000 sleeps of
/// 0.5 ms, timer slack 1 ns, kernel 6.18 under KVM).
const SPIN_NS: Nanos = 60_000;

/// How long a worker that gathers sleeps at a time: less than being woken by an event takes.
///
/// A closed loop of 32 connections against nginx on another virtual CPU was woken for every second response; with this pause the
/// CPU time per request fell by a fifth to a third and the throughput rose, because a service that need not wake anybody saves an
/// interrupt between CPUs as well.
const GATHER_NS: Nanos = 20_000;

/// Events taken from the kernel at once.
const BATCH: usize = 256;

/// How to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Asleep until an event or shortly before the deadline.
    Asleep,
    /// As [`Patience::Asleep`] when nothing is under way: the last microseconds pass without asking for events.
    Alone,
    /// Awake until an event: to wake a sleeper would take longer than many responses do.
    Awake,
    /// Asleep by the clock for a moment, so that several events are taken at once; then as [`Patience::Asleep`].
    Gathering,
}

/// An epoll instance with its event buffer.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
    spun_ns: Nanos,
    pauses: PauseWatch,
}

impl Poller {
    pub fn new() -> io::Result<Poller> {
        Ok(Poller {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(BATCH),
            spun_ns: 0,
            pauses: PauseWatch::new(),
        })
    }

    /// Watches a socket under a token of the caller's, until it is closed, for input, and for room to write if that is of interest.
    ///
    /// Edge-triggered: the kernel does not look again at a socket that it has told of (epoll(7)). So whoever is told reads until a
    /// read comes up short.
    pub fn add(&self, socket: impl AsFd, token: usize, room: bool) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token as u64), interest(room))?)
    }

    /// Changes whether room to write is of interest.
    pub fn modify(&self, socket: impl AsFd, token: usize, room: bool) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, EventData::new_u64(token as u64), interest(room))?)
    }

    /// Returns when a socket is ready or the deadline is reached, and how many events there are.
    pub fn wait(&mut self, deadline: Nanos, patience: Patience) -> io::Result<usize> {
        let mut gathered = false;
        let mut spinning_since = None;
        // Under load something is ready most of the time: no clock is read and no timer set for it.
        while self.poll(0)? == 0 {
            let present = now();
            self.pauses.awake(present);
            if present >= deadline {
                break;
            }
            match patience {
                Patience::Awake => spin(&mut spinning_since, present),
                Patience::Gathering if !gathered => {
                    gathered = true;
                    let pause = GATHER_NS.min(deadline - present);
                    std::thread::sleep(Duration::from_nanos(pause));
                    self.pauses.woken(present + pause, now());
                }
                _ if deadline - present > SPIN_NS => {
                    let longest = (deadline - present - SPIN_NS).min(self.pauses.every());
                    let events = self.poll(longest)?;
                    self.pauses.woken(present + longest, now());
                    if events > 0 {
                        break;
                    }
                }
                Patience::Alone => {
                    spinning_since.get_or_insert(present);
                    loop {
                        let present = now();
                        self.pauses.awake(present);
                        if present >= deadline {
                            break;
                        }
                        std::hint::spin_loop();
                    }
                }
                _ => spin(&mut spinning_since, present),
            }
        }
        if let Some(since) = spinning_since {
            let present = now();
            self.pauses.awake(present);
            self.spun_ns += present - since;
        }
        Ok(self.events.len())
    }

    /// How long was spun since this was last asked.
    pub fn take_spun(&mut self) -> Nanos {
        std::mem::take(&mut self.spun_ns)
    }

    /// What sees the pauses of the thread.
    pub fn pauses(&mut self) -> &mut PauseWatch {
        &mut self.pauses
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

fn spin(since: &mut Option<Nanos>, present: Nanos) {
    since.get_or_insert(present);
    std::hint::spin_loop();
}

fn interest(room: bool) -> EventFlags {
    let input = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    if room { input | EventFlags::OUT } else { input }
}
