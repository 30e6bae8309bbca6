//! Think time of a closed loop: connections that are free, but whose users are still thinking.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use loadline_model::load::{Think, ThinkDistribution};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::clock::{Nanos, nanos};
use crate::schedule::unit_exponential;

/// Users who think before their next request.
pub struct Thinking {
    think: Think,
    rng: Pcg64,
    /// When each is done, and on which connection.
    done_at: BinaryHeap<Reverse<(Nanos, usize)>>,
}

impl Thinking {
    /// Room for `users` of them, so that none has to be made while they think.
    pub fn new(think: Think, seed: u64, users: usize) -> Thinking {
        Thinking { think, rng: Pcg64::seed_from_u64(seed), done_at: BinaryHeap::with_capacity(users) }
    }

    /// The user of a connection begins to think.
    pub fn begin(&mut self, index: usize, time: Nanos) {
        let think = draw(&self.think, self.rng.next_u64());
        self.done_at.push(Reverse((time + think, index)));
    }

    /// As [`Thinking::begin`], but in the middle of a think time: users who all begin together would stay in step.
    pub fn begin_amid(&mut self, index: usize, time: Nanos) {
        let think = draw(&self.think, self.rng.next_u64());
        let left = (u128::from(think) * u128::from(self.rng.next_u64())) >> 64;
        self.done_at.push(Reverse((time + left as Nanos, index)));
    }

    /// The next user who is done by `time`: the connection, and when that was.
    pub fn done(&mut self, time: Nanos) -> Option<(usize, Nanos)> {
        let Reverse((at, index)) = *self.done_at.peek()?;
        if at > time {
            return None;
        }
        self.done_at.pop();
        Some((index, at))
    }

    /// When the next user is done.
    pub fn next_at(&self) -> Option<Nanos> {
        self.done_at.peek().map(|Reverse((at, _))| *at)
    }
}

/// The think time, ns, that a uniform random number in [0, 2^64) stands for.
fn draw(think: &Think, random: u64) -> Nanos {
    match think.distribution {
        ThinkDistribution::Constant => nanos(think.mean),
        ThinkDistribution::Exponential => (unit_exponential(random) * nanos(think.mean) as f64) as Nanos,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn think_times_have_their_mean() {
        let mean = Duration::from_millis(20);
        let constant = Think { mean, distribution: ThinkDistribution::Constant };
        assert_eq!(draw(&constant, 12345), 20_000_000);
        let exponential = Think { mean, distribution: ThinkDistribution::Exponential };
        let mut rng = Pcg64::seed_from_u64(7);
        let sum: u64 = (0..100_000).map(|_| draw(&exponential, rng.next_u64())).sum();
        // The standard deviation of the mean of 100,000 is 0.3 %; four of them.
        assert!((sum as f64 / 100_000.0 / 20e6 - 1.0).abs() < 0.013, "{sum}");
    }
}
