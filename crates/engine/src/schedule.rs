//! When each request is due. The same seed gives the same due times and the same requests, whatever the number of workers.

use std::time::Duration;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::clock::{Nanos, nanos};
use crate::load::Arrivals;
use crate::mix::Mix;
use crate::rate::Rate;

/// One request of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When, ns after the start of the slice.
    pub at: Nanos,
    /// Which request of the mix.
    pub request: usize,
}

/// The due times of one slice, in order: an iterator that computes each as it is asked for.
#[derive(Clone, Debug)]
pub struct Schedule {
    rng: Pcg64,
    mix: Mix,
    arrivals: Arrivals,
    gap_ns: f64,
    /// Where the arrival process stands, ns; a float so that gaps which are no whole ns do not add up to a drift.
    position_ns: f64,
    end: Nanos,
}

impl Schedule {
    /// Arrivals at `rate` for `duration`, from `offset` after the start of the slice on.
    ///
    /// Poisson gaps are exponential by inversion, −ln(1−u) × mean gap. Uniform arrivals begin at the offset itself.
    pub fn new(
        rate: Rate,
        arrivals: Arrivals,
        mix: &Mix,
        seed: u64,
        offset: Duration,
        duration: Duration,
    ) -> Schedule {
        let mut schedule = Schedule {
            rng: Pcg64::seed_from_u64(seed),
            mix: mix.clone(),
            arrivals,
            gap_ns: 1e9 / rate.as_per_second(),
            position_ns: nanos(offset) as f64,
            end: nanos(offset + duration),
        };
        if arrivals == Arrivals::Poisson {
            schedule.position_ns += schedule.draw_gap();
        }
        schedule
    }

    fn draw_gap(&mut self) -> f64 {
        match self.arrivals {
            Arrivals::Uniform => self.gap_ns,
            Arrivals::Poisson => {
                // 53 random bits: u in [0, 1), so that ln never sees zero.
                let u = (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                -(-u).ln_1p() * self.gap_ns
            }
        }
    }
}

impl Iterator for Schedule {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        let at = self.position_ns as Nanos;
        if at >= self.end {
            return None;
        }
        let request = if self.mix.len() == 1 { 0 } else { self.mix.choose(self.rng.next_u64()) };
        self.position_ns += self.draw_gap();
        Some(Due { at, request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Endpoint;
    use crate::mix::Request;
    use proptest::prelude::*;

    fn mix(requests: usize) -> Mix {
        let endpoint = Endpoint::from(std::net::SocketAddr::from(([127, 0, 0, 1], 80)));
        Mix::new(&vec![Request::get("/"); requests], &endpoint).unwrap()
    }

    fn schedule(rate: &str, arrivals: Arrivals, seed: u64, seconds: f64) -> Schedule {
        let rate = rate.parse().unwrap();
        Schedule::new(rate, arrivals, &mix(3), seed, Duration::ZERO, Duration::from_secs_f64(seconds))
    }

    #[test]
    fn uniform_arrivals_are_a_gap_apart_and_do_not_drift() {
        let at: Vec<Nanos> = schedule("3/s", Arrivals::Uniform, 1, 1000.0).map(|due| due.at).collect();
        assert_eq!(at.len(), 3000);
        assert_eq!(at[..3], [0, 333_333_333, 666_666_666]);
        assert_eq!(at[2997], 999_000_000_000);
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule_and_another_seed_another() {
        let of = |seed| schedule("1000/s", Arrivals::Poisson, seed, 1.0).collect::<Vec<_>>();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn poisson_arrivals_keep_their_rate() {
        let count = schedule("1000/s", Arrivals::Poisson, 7, 1000.0).count() as f64;
        // Standard deviation of a Poisson count of a million is 1,000; four of them.
        assert!((count - 1_000_000.0).abs() < 4_000.0, "{count}");
    }

    proptest! {
        #[test]
        fn due_times_are_ordered_and_end_with_the_slice(
            rate in 1u32..100_000, seed: u64, milliseconds in 1u64..200, poisson: bool,
        ) {
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Uniform };
            let dues: Vec<Due> = schedule(&format!("{rate}/s"), arrivals, seed, milliseconds as f64 / 1e3).collect();
            prop_assert!(dues.is_sorted_by_key(|due| due.at));
            prop_assert!(dues.iter().all(|due| due.at < milliseconds * 1_000_000 && due.request < 3));
        }

        #[test]
        fn an_offset_moves_a_schedule_and_changes_nothing_else(seed: u64, offset_ms in 0u64..50) {
            let at = |offset| Schedule::new(
                "2000/s".parse().unwrap(), Arrivals::Poisson, &mix(1), seed, offset, Duration::from_secs(1),
            );
            let offset = Duration::from_millis(offset_ms);
            prop_assert_eq!(at(Duration::ZERO).count(), at(offset).count());
            for (plain, moved) in at(Duration::ZERO).zip(at(offset)) {
                // The sum of floats may round the last nanosecond differently.
                prop_assert!((plain.at + nanos(offset)).abs_diff(moved.at) <= 1);
            }
        }
    }
}
