//! Where a worker's next request comes from: its share of the schedule, or whichever connection is free.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::Share;
use crate::clock::{Nanos, nanos};
use crate::mix::Mix;
use crate::schedule::{Due, Schedule};
use crate::slice::SliceSpec;

/// The requests of one slice for one worker; times are absolute.
pub enum Source {
    /// Open loop: the next request of the share, and what comes after it.
    Scheduled { schedule: Schedule, next: Option<Due>, start: Nanos, skip: usize },
    /// Closed loop: always something to send until the end.
    Closed { rng: Pcg64, mix: Mix, end: Nanos, request: usize, number: u64, step: u64 },
}

impl Source {
    pub fn new(slice: &SliceSpec, mix: &Mix, share: Share, start: Nanos) -> Source {
        let schedule = Schedule::of(&slice.load, mix, slice.seed, slice.offset, slice.duration);
        if let Some(mut schedule) = schedule {
            let next = schedule.nth(share.index);
            return Source::Scheduled { schedule, next, start, skip: share.of - 1 };
        }
        let mut rng = Pcg64::seed_from_u64(slice.seed ^ share.index as u64);
        Source::Closed {
            request: mix.choose(rng.next_u64()),
            rng,
            mix: mix.clone(),
            end: start + nanos(slice.offset + slice.duration),
            number: share.index as u64,
            step: share.of as u64,
        }
    }

    /// Takes the request that is due by `time`. In a closed loop one is due whenever a connection is free.
    #[inline]
    pub fn take(&mut self, time: Nanos) -> Option<Due> {
        match self {
            Source::Scheduled { .. } => self.take_scheduled(time),
            Source::Closed { end, .. } if time >= *end => None,
            Source::Closed { rng, mix, request, number, step, .. } => {
                let due = Due { at: time, request: *request, number: *number };
                *number += *step;
                if mix.len() > 1 {
                    *request = mix.choose(rng.next_u64());
                }
                Some(due)
            }
        }
    }

    /// Takes the request that the schedule had due by `time`; there is none in a closed loop, where nothing waits.
    #[inline]
    pub fn take_scheduled(&mut self, time: Nanos) -> Option<Due> {
        let Source::Scheduled { schedule, next, start, skip } = self else { return None };
        let due = next.filter(|due| *start + due.at <= time)?;
        *next = schedule.nth(*skip);
        Some(Due { at: *start + due.at, ..due })
    }

    /// When the next request is due, if the schedule says so.
    pub fn next_at(&self) -> Option<Nanos> {
        match self {
            Source::Scheduled { next, start, .. } => next.map(|next| start + next.at),
            Source::Closed { .. } => None,
        }
    }

    /// Whether nothing more will be due.
    pub fn is_over(&self, time: Nanos) -> bool {
        match self {
            Source::Scheduled { next, .. } => next.is_none(),
            Source::Closed { end, .. } => time >= *end,
        }
    }
}
