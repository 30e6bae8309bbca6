//! When each request is due. The same seed gives the same due times and the same requests, whatever the number of workers.

use std::sync::Arc;
use std::time::Duration;

use loadline_model::load::{Arrivals, Intensity, Inverse, Load, Rate};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::clock::{Nanos, nanos};
use crate::mix::Mix;

/// A due time that is a whole ns must not be cut to the one before by the last bit of a float.
const ROUNDING_NS: f64 = 1.0 / 1024.0;

/// One request of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When, ns after the start of the slice.
    pub at: Nanos,
    /// Which request of the mix.
    pub request: usize,
    /// Its place in the schedule, from 0; the same whatever the number of workers.
    pub number: u64,
}

/// The due times of one slice, in order: an iterator that computes each as it is asked for.
#[derive(Clone, Debug)]
pub struct Schedule {
    rng: Pcg64,
    mix: Mix,
    times: Times,
    /// Of the next request.
    number: u64,
    offset: Nanos,
    /// Without the offset.
    duration: Nanos,
}

/// Where due times come from, ns before the offset is added.
#[derive(Clone, Debug)]
enum Times {
    /// A process of rate 1 mapped through the inverse of the cumulative intensity.
    Rescaled {
        /// Where the process of rate 1 stands: how many requests are expected to have been due by now.
        count: f64,
        arrivals: Arrivals,
        inverse: Inverse,
        /// The latest due time, which rounding must not go behind.
        latest: Nanos,
    },
    Replayed(Arc<[Nanos]>),
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
        let intensity = Intensity::constant(rate.as_per_second());
        Schedule::along(&intensity, arrivals, mix, seed, offset, duration)
    }

    /// Arrivals of an intensity: request `k` of uniform arrivals is due when `k` are expected to have been, and Poisson
    /// arrivals have exponential gaps in that count.
    pub fn along(
        intensity: &Intensity,
        arrivals: Arrivals,
        mix: &Mix,
        seed: u64,
        offset: Duration,
        duration: Duration,
    ) -> Schedule {
        let times = Times::Rescaled { count: 0.0, arrivals, inverse: intensity.inverse(), latest: 0 };
        let mut schedule = Schedule::at(times, mix, seed, offset, duration);
        if let Times::Rescaled { count, arrivals: Arrivals::Poisson, .. } = &mut schedule.times {
            *count = unit_exponential(schedule.rng.next_u64());
        }
        schedule
    }

    /// The schedule of a load, which every worker that asks for it gets alike; `None` for a closed loop.
    pub fn of(load: &Load, mix: &Mix, seed: u64, offset: Duration, duration: Duration) -> Option<Schedule> {
        match load {
            Load::Open { rate, arrivals } => {
                Some(Schedule::new(*rate, *arrivals, mix, seed, offset, duration))
            }
            Load::Profile { profile, arrivals } => {
                Some(Schedule::along(&profile.over(duration), *arrivals, mix, seed, offset, duration))
            }
            Load::Replay(replay) => {
                Some(Schedule::at(Times::Replayed(replay.times()), mix, seed, offset, duration))
            }
            Load::Closed { .. } => None,
        }
    }

    fn at(times: Times, mix: &Mix, seed: u64, offset: Duration, duration: Duration) -> Schedule {
        Schedule {
            rng: Pcg64::seed_from_u64(seed),
            mix: mix.clone(),
            times,
            number: 0,
            offset: nanos(offset),
            duration: nanos(duration),
        }
    }

    /// When the next request is due, without the offset.
    fn next_time(&mut self) -> Option<Nanos> {
        match &mut self.times {
            Times::Rescaled { count, inverse, latest, .. } => {
                *latest = (*latest).max((inverse.time_of(*count)? + ROUNDING_NS) as Nanos);
                Some(*latest)
            }
            Times::Replayed(times) => times.get(usize::try_from(self.number).ok()?).copied(),
        }
    }
}

impl Iterator for Schedule {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        let at = self.next_time()?;
        if at >= self.duration {
            return None;
        }
        let request = if self.mix.len() == 1 { 0 } else { self.mix.choose(self.rng.next_u64()) };
        let number = self.number;
        self.number += 1;
        if let Times::Rescaled { count, arrivals, .. } = &mut self.times {
            *count = match arrivals {
                // Not a sum: gaps that are no whole ns must not add up to a drift.
                Arrivals::Uniform => self.number as f64,
                Arrivals::Poisson => *count + unit_exponential(self.rng.next_u64()),
            };
        }
        Some(Due { at: at + self.offset, request, number })
    }
}

/// The exponential time of mean 1 that a uniform random number in [0, 2^64) stands for.
pub(crate) fn unit_exponential(random: u64) -> f64 {
    // 53 random bits: u in [0, 1), so that ln never sees zero.
    let u = (random >> 11) as f64 / (1u64 << 53) as f64;
    -(-u).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Endpoint;
    use loadline_model::load::Request;
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

    fn of(load: Load, seed: u64, duration: Duration) -> Vec<Due> {
        Schedule::of(&load, &mix(3), seed, Duration::ZERO, duration).unwrap().collect()
    }

    fn profile(text: &str, arrivals: Arrivals) -> Load {
        Load::Profile { profile: text.parse().unwrap(), arrivals }
    }

    #[test]
    fn a_constant_profile_is_the_rate_itself() {
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            let rate = Load::Open { rate: "1234/s".parse().unwrap(), arrivals };
            let second = Duration::from_secs(1);
            assert_eq!(of(profile("1234/s", arrivals), 7, second), of(rate, 7, second));
        }
    }

    #[test]
    fn steps_and_ramps_are_due_when_arithmetic_says() {
        let at = |text, milliseconds| -> Vec<f64> {
            let dues = of(profile(text, Arrivals::Uniform), 1, Duration::from_millis(milliseconds));
            dues.iter().map(|due| due.at as f64 / 1e9).collect()
        };
        assert_eq!(at("2/s@1s,4/s@1s", 2000), [0.0, 0.5, 1.0, 1.25, 1.5, 1.75]);
        // The last rate goes on, and what is after the end of the load is cut.
        assert_eq!(at("2/s@1s,4/s@1s", 2400), [0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25]);
        assert_eq!(at("2/s@1s,4/s@1s", 1300), [0.0, 0.5, 1.0, 1.25]);
        // From 0 to 4/s in 2 s: n requests after √n s.
        let expected: Vec<f64> = (0..4).map(|n| f64::from(n).sqrt()).collect();
        for (at, expected) in at("0/s..4/s", 2000).iter().zip(&expected) {
            assert!((at - expected).abs() < 2e-9, "{at}, not {expected}");
        }
    }

    #[test]
    fn poisson_arrivals_of_a_ramp_follow_its_rate() {
        let dues = of(profile("0/s..20000/s@10s", Arrivals::Poisson), 7, Duration::from_secs(10));
        for second in 0u32..10 {
            let (from, to) = (u64::from(second) * 1_000_000_000, u64::from(second + 1) * 1_000_000_000);
            let count = dues.iter().filter(|due| (from..to).contains(&due.at)).count() as f64;
            let expected = 2000.0 * (f64::from(second) + 0.5);
            // The standard deviation of a Poisson count is the root of its mean; four of them.
            assert!(
                (count - expected).abs() < 4.0 * expected.sqrt(),
                "second {second}: {count}, not {expected}"
            );
        }
    }

    #[test]
    fn a_replay_is_due_when_it_was_written_down() {
        let text = b"0\n100ms\n100ms\n250ms\n9s";
        let replay = loadline_model::load::parse_replay(std::path::Path::new("t"), &text[..]).unwrap();
        let (offset, duration) = (Duration::from_nanos(5), Duration::from_secs(9));
        let dues = Schedule::of(&Load::Replay(replay), &mix(1), 7, offset, duration).unwrap();
        let of = |due: Due| (due.at, due.number);
        let expected = [(5, 0), (100_000_005, 1), (100_000_005, 2), (250_000_005, 3)];
        assert_eq!(dues.map(of).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_closed_loop_has_no_schedule() {
        let load = Load::Closed { think: None };
        assert!(Schedule::of(&load, &mix(1), 7, Duration::ZERO, Duration::from_secs(1)).is_none());
    }

    fn any_load() -> impl Strategy<Value = Load> {
        let segment = (0u32..20_000, 1u32..20_000, 1u32..80)
            .prop_map(|(from, to, ms)| format!("{from}/s..{to}/s@{ms}ms"));
        let profile =
            (prop::collection::vec(segment, 1..4), any::<bool>()).prop_map(|(segments, poisson)| {
                profile(&segments.join(","), if poisson { Arrivals::Poisson } else { Arrivals::Uniform })
            });
        let replay = prop::collection::vec(0u64..100_000, 1..300).prop_map(|mut times| {
            times.sort_unstable();
            let lines: Vec<String> = times.iter().map(|time| format!("{time}us")).collect();
            let text = lines.join("\n");
            Load::Replay(
                loadline_model::load::parse_replay(std::path::Path::new("t"), text.as_bytes()).unwrap(),
            )
        });
        prop_oneof![profile, replay]
    }

    proptest! {
        #[test]
        fn workers_that_share_a_schedule_take_all_of_it_once(load in any_load(), seed: u64, workers in 1usize..6) {
            let duration = Duration::from_millis(100);
            let whole = of(load.clone(), seed, duration);
            prop_assert!(whole.is_sorted_by_key(|due| due.at));
            prop_assert!(whole.iter().all(|due| due.at < 100_000_000));
            prop_assert!(whole.iter().enumerate().all(|(number, due)| due.number == number as u64));
            let mut shared: Vec<Due> = (0..workers)
                .flat_map(|worker| of(load.clone(), seed, duration).into_iter().skip(worker).step_by(workers))
                .collect();
            shared.sort_by_key(|due| due.number);
            prop_assert_eq!(shared, whole);
        }

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
