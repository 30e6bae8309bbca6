//! What a profile says: CPU time by layer, by side, and what could not be told. Profiles of several slices add up.

mod call_tree;
mod layer;
mod softirqs;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use call_tree::CallTree;
pub use layer::Layer;
pub use softirqs::{Reason, SoftirqReasons};

/// Where the CPU time of the watched CPUs went. Every sample is in exactly one of `kernel_ns`, `unknown_ns`, `user_ns`,
/// `foreign_ns` and `idle_ns`; all are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// CPU time that one sample stands for; one of the idle task stands for four times as much.
    pub period_ns: u64,
    /// CPU time that was watched: slices times CPUs.
    pub watched_ns: u64,
    /// Number of samples.
    pub samples: u64,
    /// The kernel's time on the path of the requests, by layer: what service and load asked for, and soft interrupts and
    /// interrupts of the idle task whomever they hit.
    pub kernel_ns: BTreeMap<Layer, u64>,
    /// The kernel's time on the path in which no function was recognised, by innermost function.
    pub unknown_ns: BTreeMap<String, u64>,
    /// Time in the programs themselves.
    pub user_ns: UserTime,
    /// Time of other processes, in their programs and in the kernel for them.
    pub foreign_ns: u64,
    /// Time in which a CPU was seen to have nothing to do. Not every CPU is seen idling: see [`Profile::unseen_ns`].
    pub idle_ns: u64,
    /// Samples for which the buffer had no room: a profile with any is short of what happened last.
    pub lost: u64,
    /// How often the kernel stopped sampling until its next tick, because it took too long (`kernel.perf_cpu_time_max_percent`).
    pub throttled: u64,
    /// The same of the slower watch of the idle task: time in which soft interrupts over the idle task may have gone unseen.
    pub idle_throttled: u64,
    /// What a request cost while it was sampled, and under the same load when it was not; `None` where that was not measured.
    #[serde(default)]
    pub cost: Option<SampledCost>,
    /// The stacks of all that is in `kernel_ns`, `unknown_ns` and `user_ns`. The outermost frame is `service`, `load` or, for work
    /// that hit another task, `softirq`; kernel functions end in `_[k]`.
    pub stacks: CallTree,
}

/// CPU time of service and load for a request, ns: each sample interrupts what it hits, and that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledCost {
    /// While it was sampled.
    pub with: f64,
    /// Without.
    pub without: f64,
}

/// CPU time in programs, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTime {
    /// In the service's processes.
    pub service: u64,
    /// In the threads that make the load.
    pub load: u64,
}

/// Two profiles that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("profiles of {ours_ns} ns and of {theirs_ns} ns a sample cannot be added")]
pub struct PeriodsDiffer {
    /// CPU time that a sample of the one stands for.
    pub ours_ns: u64,
    /// CPU time that a sample of the other stands for.
    pub theirs_ns: u64,
}

impl Profile {
    /// A profile of nothing, to add others to.
    pub fn empty(period_ns: u64) -> Profile {
        Profile {
            period_ns,
            watched_ns: 0,
            samples: 0,
            kernel_ns: BTreeMap::new(),
            unknown_ns: BTreeMap::new(),
            user_ns: UserTime::default(),
            foreign_ns: 0,
            idle_ns: 0,
            lost: 0,
            throttled: 0,
            idle_throttled: 0,
            cost: None,
            stacks: CallTree::default(),
        }
    }

    /// Adds the profile of another slice.
    ///
    /// # Errors
    /// If a sample of the other stands for another time: one of the two was then bound by a lower `perf_event_max_sample_rate`.
    pub fn merge(&mut self, other: &Profile) -> Result<(), PeriodsDiffer> {
        if self.period_ns != other.period_ns {
            return Err(PeriodsDiffer { ours_ns: self.period_ns, theirs_ns: other.period_ns });
        }
        self.watched_ns += other.watched_ns;
        self.samples += other.samples;
        for (&layer, ns) in &other.kernel_ns {
            *self.kernel_ns.entry(layer).or_default() += ns;
        }
        for (name, ns) in &other.unknown_ns {
            *self.unknown_ns.entry(name.clone()).or_default() += ns;
        }
        self.user_ns.service += other.user_ns.service;
        self.user_ns.load += other.user_ns.load;
        self.foreign_ns += other.foreign_ns;
        self.idle_ns += other.idle_ns;
        self.lost += other.lost;
        self.throttled += other.throttled;
        self.idle_throttled += other.idle_throttled;
        self.stacks.merge(&other.stacks);
        Ok(())
    }

    /// CPU time of service and load and of the kernel for them, in nanoseconds: everything but foreign and idle.
    pub fn path_ns(&self) -> u64 {
        self.kernel_total_ns() + self.user_ns.service + self.user_ns.load
    }

    /// Time that was watched and is in no sample, in nanoseconds: idle time of CPUs whose idle task is not seen (the kernel stops
    /// looking at it where there are no ticks, and some virtual CPUs halt where no interrupt finds them), time that the hypervisor
    /// took, and what was lost.
    pub fn unseen_ns(&self) -> u64 {
        self.watched_ns.saturating_sub(self.path_ns() + self.foreign_ns + self.idle_ns)
    }

    /// Which part of the kernel's time on the path has no layer, from 0 to 1; 0 if there is none.
    pub fn unknown_share(&self) -> f64 {
        let unknown: u64 = self.unknown_ns.values().sum();
        match self.kernel_total_ns() {
            0 => 0.0,
            total => unknown as f64 / total as f64,
        }
    }

    fn kernel_total_ns(&self) -> u64 {
        self.kernel_ns.values().sum::<u64>() + self.unknown_ns.values().sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn profile() -> impl Strategy<Value = Profile> {
        let layers = prop::collection::btree_map(prop::sample::select(&Layer::ALL[..]), 0..1000u64, 0..5);
        let unknown = prop::collection::btree_map("[a-c]", 0..1000u64, 0..3);
        (layers, unknown, prop::array::uniform7(0..1000u64)).prop_map(|(kernel_ns, unknown_ns, n)| {
            let mut profile = Profile {
                watched_ns: n[0],
                samples: n[1],
                kernel_ns,
                unknown_ns,
                user_ns: UserTime { service: n[2], load: n[3] },
                foreign_ns: n[4],
                idle_ns: n[5],
                lost: n[6],
                ..Profile::empty(10)
            };
            profile.stacks.add(["service", "main"], n[2]);
            profile
        })
    }

    proptest! {
        #[test]
        fn slices_add_up_in_any_order_and_a_profile_survives_being_written(a in profile(), b in profile()) {
            let (mut ab, mut ba) = (a.clone(), b.clone());
            ab.merge(&b).unwrap();
            ba.merge(&a).unwrap();
            prop_assert_eq!(&ab, &ba);
            prop_assert_eq!(ab.path_ns(), a.path_ns() + b.path_ns());
            prop_assert_eq!(ab.stacks.total_ns(), a.user_ns.service + b.user_ns.service);
            let text = serde_json::to_string(&ab).unwrap();
            prop_assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), ab);
        }
    }

    #[test]
    fn samples_that_stand_for_other_times_are_not_added() {
        let error = Profile::empty(100).merge(&Profile::empty(50)).unwrap_err();
        assert_eq!(error.to_string(), "profiles of 100 ns and of 50 ns a sample cannot be added");
    }

    #[test]
    fn what_was_watched_without_a_sample_was_not_seen() {
        let profile = Profile { watched_ns: 1_000, foreign_ns: 300, idle_ns: 400, ..Profile::empty(100) };
        assert_eq!(profile.unseen_ns(), 300);
        assert_eq!(Profile { foreign_ns: 700, ..profile }.unseen_ns(), 0);
    }

    #[test]
    fn nothing_is_unknown_of_nothing() {
        assert_eq!(Profile::empty(1).unknown_share(), 0.0);
    }
}
