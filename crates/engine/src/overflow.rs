//! Requests that found every connection of their worker busy, for whichever worker has one free first.
//!
//! Each worker has its share of the schedule and needs nobody for it; only where that is not enough is there a common queue.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::clock::Nanos;
use crate::schedule::Due;

/// How long a request waits for a connection of its own worker first.
pub const PATIENCE_NS: Nanos = 500_000;

/// The common queue of an engine's workers. With one worker nothing is ever put in.
#[derive(Debug)]
pub struct Overflow {
    /// How many wait: what workers look at, so that the lock is only taken when there is something.
    waiting: AtomicUsize,
    queue: Mutex<VecDeque<Due>>,
    /// One for each worker, watched by its epoll.
    bells: Vec<OwnedFd>,
}

impl Overflow {
    pub fn new(workers: usize) -> io::Result<Overflow> {
        let bell = |_| eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
        let bells = (0..workers).map(bell).collect::<Result<Vec<_>, _>>()?;
        Ok(Overflow { waiting: AtomicUsize::new(0), queue: Mutex::default(), bells })
    }

    /// Forgets what is left of a slice that was abandoned.
    pub fn clear(&self) {
        self.lock().clear();
        self.waiting.store(0, Ordering::Relaxed);
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0
    }

    /// Whether there is another worker that could help.
    pub fn has_others(&self) -> bool {
        self.bells.len() > 1
    }

    /// Puts a request into the queue.
    pub fn push(&self, due: Due) {
        let mut queue = self.lock();
        queue.push_back(due);
        self.waiting.store(queue.len(), Ordering::Relaxed);
    }

    /// Wakes the workers other than `worker`.
    pub fn ring(&self, worker: usize) {
        for bell in self.bells.iter().enumerate().filter(|(index, _)| *index != worker).map(|(_, bell)| bell)
        {
            // It can only fail when the counter is about to overflow; that worker is being woken already.
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }

    /// The request that waits the longest, if it was due before `until`.
    pub fn pop(&self, until: Nanos) -> Option<Due> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.lock();
        let due = if queue.front()?.at <= until { queue.pop_front() } else { None };
        self.waiting.store(queue.len(), Ordering::Relaxed);
        due
    }

    /// What tells a worker that something was put in. It need not be read: an edge-triggered epoll tells of every write.
    pub fn bell(&self, worker: usize) -> BorrowedFd<'_> {
        self.bells[worker].as_fd()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Due>> {
        // A worker that panicked left the queue whole: every change is one call.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
