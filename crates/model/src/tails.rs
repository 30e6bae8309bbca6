//! What happened to a service while its slowest requests waited: when it was stopped or held up, in a slice that counts as no measurement.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::Nanos;

/// Why a service did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Its CPU quota was used up.
    Throttled,
    /// Its JVM had stopped all threads to collect garbage.
    JvmCollected,
    /// Its JVM had stopped all threads for another reason.
    JvmStopped,
    /// Its Go runtime had stopped the program to collect garbage.
    GoStopped,
    /// A thread of it was ready to run and had no CPU.
    RunQueue,
    /// A thread of it waited for a disk; of any program on the machine if the service is not in a cgroup of version 2.
    Disk,
    /// A thread of it waited until memory was freed or read again; of any program on the machine if the service is not in a cgroup of version 2.
    Memory,
    /// Another client than the load had opened a connection to it, such as the kubelet with a probe.
    OtherClient,
    /// A timer of loadline on the same machine came late, because another program or the hypervisor had its CPU.
    Paused,
}

/// A time, from and to, by CLOCK_MONOTONIC of the machine of service and load, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When it began.
    pub from: Nanos,
    /// When it was over.
    pub to: Nanos,
}

/// When each cause held a service up, as exactly as the counters were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// When it was first read.
    pub began: Nanos,
    /// When it was last read.
    pub ended: Nanos,
    /// In order, without overlaps. A cause that could not be read is not there; one that did not occur has no spans.
    pub spans: BTreeMap<Cause, Vec<Span>>,
}

impl Timeline {
    /// Adds a span that ends no earlier than those before it; what overlaps becomes one.
    pub fn add(&mut self, cause: Cause, span: Span) {
        let spans = self.spans.entry(cause).or_default();
        let mut span = span;
        while let Some(last) = spans.last().filter(|last| last.to >= span.from) {
            span.from = span.from.min(last.from);
            spans.pop();
        }
        spans.push(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_or_overlap_are_one() {
        let mut timeline = Timeline::default();
        for (from, to) in [(10, 20), (20, 25), (40, 50), (30, 60), (70, 80)] {
            timeline.add(Cause::Paused, Span { from, to });
        }
        let spans: Vec<(u64, u64)> =
            timeline.spans[&Cause::Paused].iter().map(|span| (span.from, span.to)).collect();
        assert_eq!(spans, [(10, 25), (30, 60), (70, 80)]);
    }
}
