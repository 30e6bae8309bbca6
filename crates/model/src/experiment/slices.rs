//! How long the slices of a load are, and how many of them a deployment has.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::PlanSpec;
use crate::ids::LoadId;
use crate::load::LoadSpec;
use crate::platform::Limits;

/// Requests due in a slice from which its median is worth having: at 2000/s, slices of 50 ms hold this many, and gave differences as sharp as
/// slices of 100 ms in the same time, of which machine noise makes twice as much be repeated.
const REQUESTS: f64 = 100.0;
/// The shortest slice that is chosen. What a slice costs beside its load, a millisecond or two, stays small against it.
const SHORTEST: Duration = Duration::from_millis(50);
/// The shortest slice that is chosen where a limit holds a service to less than a CPU, ten of the quota's periods
/// (Documentation/scheduler/sched-bwc.rst): a slice begins in the middle of a period whose quota nobody has used, so that the service has about
/// half of a quota more than it would have all the time. In slices of 50 ms a limit of a quarter of a CPU took a quarter of the throughput.
const SHORTEST_LIMITED: Duration = Duration::from_secs(1);
/// The longest slice that is chosen of a load that is the same throughout. At lower rates a median is made of fewer requests, or the cells
/// run side by side.
const LONGEST: Duration = Duration::from_millis(1200);
/// How long a cell is measured in each deployment, at least. Longer ones narrow the interval by less than further deployments do in the same
/// time: what differs from one deployment to the next stays. With this, two platforms and a twin at 2000/s take about a minute, warm-ups,
/// deployments and repeats included.
const MEASURED: Duration = Duration::from_millis(1500);

/// The slices of a load's cells in each deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slices {
    /// Length of each.
    pub length: Duration,
    /// How many there are, each in a block of its own.
    pub count: u32,
}

impl Slices {
    /// What was asked for; what was not is chosen from the load.
    ///
    /// A slice is as short as the median of its requests allows. Noise of a machine is correlated over a second or two, and only what is
    /// near in time cancels in a paired difference: on a shared virtual machine, slices of 100 ms gave a difference of medians at 2000/s to
    /// ±1.3 µs where the same measuring time in slices of 1.2 s gave ±6 µs, and slices of 50 ms no less. A profile or replay needs all of its length, because each slice
    /// plays it from the start. The number of slices makes up for their length.
    pub fn of(load: &LoadSpec, shortest: Duration, length: Option<Duration>, count: Option<u32>) -> Slices {
        let length = length.unwrap_or_else(|| length_for(load, shortest));
        let fitting = MEASURED.as_nanos().div_ceil(length.as_nanos().max(1)).min(u32::MAX.into()) as u32;
        Slices { length, count: count.unwrap_or(fitting) }
    }

    /// The shortest that is chosen for services with these limits.
    pub fn shortest(limits: impl IntoIterator<Item = Limits>) -> Duration {
        let is_below_one = |limits: Limits| limits.cpus.is_some_and(|cpus| cpus < 1.0);
        if limits.into_iter().any(is_below_one) { SHORTEST_LIMITED } else { SHORTEST }
    }
}

fn length_for(load: &LoadSpec, shortest: Duration) -> Duration {
    let whole = load.load.shortest_slice();
    let ms = match requests_per_second(load, whole.max(LONGEST)) {
        Some(rate) => (1e3 * REQUESTS / rate).clamp(millis(shortest), millis(LONGEST)),
        None => millis(shortest),
    };
    // A round figure, as somebody would write it.
    Duration::from_millis(
        ((ms.ceil() as u64).next_multiple_of(10)).max(whole.as_nanos().div_ceil(1_000_000) as u64),
    )
}

/// How many requests can be expected at most; `None` of a closed loop that does not pause.
fn requests_per_second(load: &LoadSpec, duration: Duration) -> Option<f64> {
    match load.load.think() {
        Some(think) => Some(load.connections as f64 / think.mean.as_secs_f64()),
        None => load.load.expected(duration).map(|requests| requests / duration.as_secs_f64()),
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl PlanSpec {
    /// More deployments than this cannot be asked for.
    pub const MOST_DEPLOYMENTS: u32 = 1_000;

    /// The same plan with the slices of these loads: of this length and so many a deployment, or chosen from each load, and no shorter than this.
    pub fn with_slices(
        self,
        loads: &[LoadSpec],
        shortest: Duration,
        length: Option<Duration>,
        count: Option<u32>,
    ) -> PlanSpec {
        let slices: Vec<Slices> =
            loads.iter().map(|load| Slices::of(load, shortest, length, count)).collect();
        let Some(shortest) = slices.iter().map(|slices| slices.length).min() else { return self };
        let most = slices.iter().map(|slices| slices.count).max().unwrap_or(1);
        let are_alike = slices.iter().all(|slices| *slices == Slices { length: shortest, count: most });
        PlanSpec {
            slice: shortest,
            blocks: most,
            slices: if are_alike { Vec::new() } else { slices },
            ..self
        }
    }

    /// The slices of a load's cells in each deployment.
    pub fn slices_of(&self, load: LoadId) -> Slices {
        let alike = Slices { length: self.slice, count: self.blocks };
        self.slices.get(load.0).copied().unwrap_or(alike)
    }

    /// Whether the cells of a load have a slice in a block: loads with fewer slices than there are blocks have them evenly spread.
    pub fn is_measured_in(&self, load: LoadId, block: u32) -> bool {
        let (count, blocks) = (u64::from(self.slices_of(load).count), u64::from(self.blocks));
        block < self.blocks && u64::from(block) * count % blocks < count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Arrivals, Load, Replay, Think, ThinkDistribution};

    fn open(rate: &str) -> LoadSpec {
        LoadSpec::new(Load::Open { rate: rate.parse().unwrap(), arrivals: Arrivals::Poisson }, 16)
    }

    fn closed(think: Option<Duration>) -> LoadSpec {
        let think = think.map(|mean| Think { mean, distribution: ThinkDistribution::Constant });
        LoadSpec::new(Load::Closed { think }, 16)
    }

    fn chosen(load: &LoadSpec) -> (u128, u32) {
        let slices = Slices::of(load, SHORTEST, None, None);
        (slices.length.as_millis(), slices.count)
    }

    #[test]
    fn a_slice_holds_a_hundred_requests_within_its_bounds() {
        for (rate, slices) in [
            ("20000/s", (50, 30)),
            ("2000/s", (50, 30)),
            ("1000/s", (100, 15)),
            ("300/s", (340, 5)),
            ("100/s", (1000, 2)),
            ("100/min", (1200, 2)),
        ] {
            assert_eq!(chosen(&open(rate)), slices, "{rate}");
        }
    }

    #[test]
    fn a_closed_loop_has_short_slices_unless_it_thinks() {
        assert_eq!(chosen(&closed(None)), (50, 30));
        assert_eq!(chosen(&closed(Some(Duration::from_millis(40)))), (250, 6), "400/s at most");
    }

    #[test]
    fn a_service_with_less_than_a_cpu_has_slices_of_many_periods() {
        let with = |cpus| Limits { cpus, ..Limits::default() };
        assert_eq!(Slices::shortest([with(None), with(Some(1.0))]), SHORTEST);
        let shortest = Slices::shortest([with(None), with(Some(0.5))]);
        let second = Slices { length: Duration::from_secs(1), count: 2 };
        for load in [open("2000/s"), closed(None)] {
            assert_eq!(Slices::of(&load, shortest, None, None), second);
        }
        let ms = Duration::from_millis(50);
        assert_eq!(Slices::of(&open("2000/s"), shortest, Some(ms), None).length, ms, "asked for");
    }

    #[test]
    fn what_changes_with_time_is_played_whole() {
        let profile = |text: &str| {
            let load = Load::Profile { profile: text.parse().unwrap(), arrivals: Arrivals::Poisson };
            LoadSpec::new(load, 16)
        };
        assert_eq!(chosen(&profile("0/s..2000/s@30s")), (30_000, 1));
        assert_eq!(chosen(&profile("0/s..9000/s@45ms,9000/s")), (50, 30));
        let replay = Replay::new("t".into(), vec![0, 2_000_000_001]);
        assert_eq!(chosen(&LoadSpec::new(Load::Replay(replay), 16)), (2001, 1));
        let empty = Replay::new("t".into(), Vec::new());
        assert_eq!(chosen(&LoadSpec::new(Load::Replay(empty), 16)), (1200, 2));
    }

    #[test]
    fn what_is_asked_for_is_not_chosen() {
        let (second, ms) = (Duration::from_secs(1), Duration::from_millis);
        let of = |length, count| Slices::of(&open("2000/s"), SHORTEST, length, count);
        assert_eq!(of(Some(second), None), Slices { length: second, count: 2 });
        assert_eq!(of(Some(9 * second), None), Slices { length: 9 * second, count: 1 });
        assert_eq!(of(None, Some(5)), Slices { length: ms(50), count: 5 });
        assert_eq!(of(Some(second), Some(5)), Slices { length: second, count: 5 });
    }

    #[test]
    fn loads_with_fewer_slices_have_them_evenly_spread_over_the_blocks() {
        let loads = [open("2000/s"), open("300/s"), open("100/s")];
        let plan = PlanSpec::default().with_slices(&loads, SHORTEST, None, None);
        let blocks =
            |load| -> Vec<u32> { (0..99).filter(|block| plan.is_measured_in(load, *block)).collect() };
        assert_eq!((plan.slice, plan.blocks), (Duration::from_millis(50), 30));
        assert_eq!(blocks(LoadId(0)), (0..30).collect::<Vec<_>>());
        assert_eq!(blocks(LoadId(1)), [0, 6, 12, 18, 24]);
        assert_eq!(blocks(LoadId(2)), [0, 15]);
    }

    #[test]
    fn a_number_of_blocks_that_is_asked_for_is_that_of_every_load() {
        let loads = [open("2000/s"), open("100/s")];
        let plan = PlanSpec::default().with_slices(&loads, SHORTEST, None, Some(4));
        assert!((0..4).all(|block| (0..2).all(|load| plan.is_measured_in(LoadId(load), block))));
        assert_eq!(plan.slices_of(LoadId(1)).length, Duration::from_secs(1));
    }

    #[test]
    fn loads_with_the_same_slices_need_no_list_of_them() {
        let plan = PlanSpec::default().with_slices(&[open("2000/s"), open("9000/s")], SHORTEST, None, None);
        assert_eq!(plan.slices, []);
        assert_eq!(plan.slices_of(LoadId(1)), Slices { length: Duration::from_millis(50), count: 30 });
    }
}
