//! The usage of a service as the kubelet of its node accounts for it. It says nothing of the machine.

use std::time::{Duration, Instant, UNIX_EPOCH};

use loadline_model::Observations;
use loadline_model::metrics::{CGROUP_MEMORY, MetricDeclaration, SERVICE_CPU, WALL};
use loadline_observe::{Probe, Target, probes};
use loadline_platform::UsageReader;
use serde::{Deserialize, Serialize};

/// How much the interval between a kubelet's two samples may differ from that between the two requests, as a share of the latter.
const KUBELET_TOLERANCE: f64 = 0.1;

/// Asks for the usage of a service.
pub(super) struct UsageProbe {
    reader: UsageReader,
    made: Instant,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reading {
    /// When it was so, since 1970 by the node's clock.
    at: Duration,
    /// When it was asked for, by the clock of this machine.
    asked: Duration,
    /// CPU time since the service began.
    cpu_ns: u64,
    memory_bytes: Option<u64>,
}

impl UsageProbe {
    pub(super) fn new(reader: UsageReader) -> UsageProbe {
        UsageProbe { reader, made: Instant::now() }
    }
}

impl Probe for UsageProbe {
    type Reading = Reading;

    fn name(&self) -> &'static str {
        "usage"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let given = [WALL, SERVICE_CPU, CGROUP_MEMORY];
        probes::metrics().into_iter().filter(|metric| given.contains(&metric.name.as_ref())).collect()
    }

    fn read(&mut self, _: &Target<'_>) -> Option<Reading> {
        let usage = self.reader.read()?;
        let at = usage.at.duration_since(UNIX_EPOCH).ok()?;
        Some(Reading {
            at,
            asked: self.made.elapsed(),
            cpu_ns: usage.cpu_ns,
            memory_bytes: usage.memory_bytes,
        })
    }

    /// The kubelet samples containers every 10 to 15 s and answers with its last sample. Its CPU time is that of a slice only if its samples
    /// are about as far apart as the requests; else it covers part of another slice, or nothing at all.
    fn between(&self, before: &Reading, after: &Reading, seen: &mut Observations) {
        seen.set(CGROUP_MEMORY, after.memory_bytes);
        let asked_apart = after.asked.saturating_sub(before.asked);
        let is_of_the_slice = |seen_apart: &Duration| {
            seen_apart.abs_diff(asked_apart) <= asked_apart.mul_f64(KUBELET_TOLERANCE)
        };
        if let Some(passed) = after.at.checked_sub(before.at).filter(is_of_the_slice) {
            seen.set(WALL, u64::try_from(passed.as_nanos()).ok());
            seen.set(SERVICE_CPU, after.cpu_ns.checked_sub(before.cpu_ns));
        }
    }
}

#[cfg(test)]
mod tests {

    use loadline_observe::{Observer, Subject, Wanted};
    use loadline_platform::Usage;

    use super::*;

    fn probe(read: impl Fn() -> Option<Usage> + Send + Sync + 'static) -> UsageProbe {
        UsageProbe::new(UsageReader::new(read))
    }

    /// What a slice of 60 s is said to have used by a kubelet that looked at these seconds.
    fn seen(from_s: u64, to_s: u64) -> Observations {
        let reading = |second, cpu_ns, asked_s| Reading {
            at: Duration::from_secs(second),
            asked: Duration::from_secs(asked_s),
            cpu_ns,
            memory_bytes: Some(4096),
        };
        let mut seen = Observations::default();
        Probe::between(&probe(|| None), &reading(from_s, 1_000, 5), &reading(to_s, 5_000, 65), &mut seen);
        seen
    }

    #[test]
    fn a_kubelets_figures_give_cpu_time_and_memory() {
        let seen = seen(10, 72);
        assert_eq!((seen.service_cpu_ns(), seen.count(CGROUP_MEMORY)), (Some(4_000), Some(4096)));
        assert_eq!(seen.get("cpu.machine"), None);
    }

    #[test]
    fn a_kubelets_figures_of_another_time_give_no_cpu_time() {
        assert_eq!(seen(10, 10).service_cpu_ns(), None);
        assert_eq!(seen(10, 50).service_cpu_ns(), None);
        assert_eq!(seen(10, 90).service_cpu_ns(), None);
        assert_eq!(seen(10, 90).count(CGROUP_MEMORY), Some(4096));
    }

    #[test]
    fn a_reading_that_failed_is_no_zero() {
        let mut observer = Observer::with_probes(Subject::default(), vec![Box::new(probe(|| None))]);
        let (before, after) = (observer.read(&Wanted::Everything), observer.read(&Wanted::Everything));
        assert_eq!(observer.between(&before, &after), Observations::default());
    }

    #[test]
    fn every_metric_is_one_of_loadlines_own() {
        assert_eq!(Probe::metrics(&probe(|| None)).len(), 3);
    }
}
