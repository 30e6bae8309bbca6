//! Where a worker's next request comes from: its share of the schedule, or whichever connection is free.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::Share;
use crate::clock::{Nanos, nanos};
use crate::load::Load;
use crate::mix::Mix;
use crate::schedule::{Due, Schedule};
use crate::slice::SliceSpec;

/// The requests of one slice for one worker; times are absolute.
pub enum Source {
    /// Open loop: the next request of the share, and what comes after it.
    Scheduled { schedule: Schedule, next: Option<Due>, start: Nanos, skip: usize },
    /// Closed loop: always something to send until the end.
    Closed { rng: Pcg64, mix: Mix, end: Nanos, request: usize },
}

impl Source {
    pub fn new(slice: &SliceSpec, mix: &Mix, share: Share, start: Nanos) -> Source {
        match slice.load {
            Load::Open { rate, arrivals } => {
                let mut schedule =
                    Schedule::new(rate, arrivals, mix, slice.seed, slice.offset, slice.duration);
                let next = schedule.nth(share.index);
                Source::Scheduled { schedule, next, start, skip: share.of - 1 }
            }
            Load::Closed => {
                let mut source = Source::Closed {
                    rng: Pcg64::seed_from_u64(slice.seed ^ share.index as u64),
                    mix: mix.clone(),
                    end: start + nanos(slice.offset + slice.duration),
                    request: 0,
                };
                source.advance();
                source
            }
        }
    }

    /// The request that is due by `time`. In a closed loop one is due whenever a connection is free.
    pub fn due(&self, time: Nanos) -> Option<Due> {
        match self {
            Source::Scheduled { .. } => self.scheduled_before(time),
            Source::Closed { end, request, .. } => {
                (time < *end).then_some(Due { at: time, request: *request })
            }
        }
    }

    /// The request that the schedule had due by `time`; none in a closed loop, where nothing waits.
    pub fn scheduled_before(&self, time: Nanos) -> Option<Due> {
        match self {
            Source::Scheduled { next: Some(next), start, .. } if start + next.at <= time => {
                Some(Due { at: start + next.at, ..*next })
            }
            _ => None,
        }
    }

    /// Goes on to the next request.
    pub fn advance(&mut self) {
        match self {
            Source::Scheduled { schedule, next, skip, .. } => *next = schedule.nth(*skip),
            Source::Closed { rng, mix, request, .. } if mix.len() > 1 => {
                *request = mix.choose(rng.next_u64());
            }
            Source::Closed { .. } => {}
        }
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
