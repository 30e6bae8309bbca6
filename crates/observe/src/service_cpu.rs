//! CPU time of a service: as its cgroup is charged with it, which includes processes that have ended, or else the sum of its processes'
//! CPU clocks.

use std::collections::BTreeMap;

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, SERVICE_CPU, Unit};
use serde::{Deserialize, Serialize};

use crate::cgroup::{Cgroup, CpuUsage};
use crate::probe::{Probe, Target};
use crate::process::{self, ProcessCpu};

/// Reads the CPU time of a service.
pub(crate) struct ServiceCpuProbe;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ServiceCpu {
    Cgroup(CpuUsage),
    /// By process ID.
    Processes(BTreeMap<u32, ProcessCpu>),
}

impl Probe for ServiceCpuProbe {
    type Reading = ServiceCpu;

    fn name(&self) -> &'static str {
        "service_cpu"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let cost = |name, label| {
            MetricDeclaration::counter(name, Unit::Nanoseconds).shown_as(label, HigherIs::Costlier)
        };
        vec![
            cost(SERVICE_CPU, "CPU per request").primary(),
            cost("cpu.service.user", "  user"),
            cost("cpu.service.system", "  system"),
        ]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<ServiceCpu> {
        let charged = target.subject().cgroup.as_ref().and_then(Cgroup::cpu);
        charged
            .map(ServiceCpu::Cgroup)
            .or_else(|| process::cpu_of(target.proc(), target.processes()).map(ServiceCpu::Processes))
    }

    fn between(&self, before: &ServiceCpu, after: &ServiceCpu, seen: &mut Observations) {
        let Some(used) = Used::between(before, after) else { return };
        let (user_ns, system_ns) = used.split().unzip();
        seen.set(SERVICE_CPU, used.total_ns);
        seen.set("cpu.service.user", user_ns);
        seen.set("cpu.service.system", system_ns);
    }
}

/// CPU time of the service in the slice, with shares of user and system time in any unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Used {
    total_ns: u64,
    user_share: u64,
    system_share: u64,
}

impl Used {
    /// `None` if the two were read in different ways.
    fn between(before: &ServiceCpu, after: &ServiceCpu) -> Option<Used> {
        match (before, after) {
            (ServiceCpu::Cgroup(then), ServiceCpu::Cgroup(now)) => Some(Used {
                total_ns: now.total_ns.checked_sub(then.total_ns)?,
                user_share: now.user_ns.saturating_sub(then.user_ns),
                system_share: now.system_ns.saturating_sub(then.system_ns),
            }),
            (ServiceCpu::Processes(then), ServiceCpu::Processes(now)) => {
                let used = process::cpu_between(then, now);
                Some(Used {
                    total_ns: used.total_ns,
                    user_share: used.user_ticks,
                    system_share: used.system_ticks,
                })
            }
            _ => None,
        }
    }

    /// The total divided in the proportion of the shares, so that the parts add up to it.
    fn split(self) -> Option<(u64, u64)> {
        let (user, system) = (u128::from(self.user_share), u128::from(self.system_share));
        let user_ns = (u128::from(self.total_ns) * user).checked_div(user + system)?;
        let user_ns = u64::try_from(user_ns).ok()?;
        Some((user_ns, self.total_ns - user_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cpu_time_is_divided_in_the_proportion_of_the_ticks() {
        let cpu = Used { total_ns: 1_000, user_share: 3, system_share: 1 };
        assert_eq!(cpu.split(), Some((750, 250)));
    }

    #[test]
    fn without_a_tick_the_division_is_unknown() {
        assert_eq!(Used { total_ns: 1_000, user_share: 0, system_share: 0 }.split(), None);
    }

    #[test]
    fn a_cgroup_that_vanished_during_the_slice_gives_nothing() {
        let before = ServiceCpu::Cgroup(CpuUsage { total_ns: 5, user_ns: 3, system_ns: 2 });
        let after = ServiceCpu::Processes(BTreeMap::from([(1, ProcessCpu::default())]));
        let mut seen = Observations::default();
        Probe::between(&ServiceCpuProbe, &before, &after, &mut seen);
        assert_eq!(seen, Observations::default());
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_whole(total_ns: u64, user_share: u64, system_share: u64) {
            let split = Used { total_ns, user_share, system_share }.split();
            prop_assert_eq!(split.is_none(), user_share == 0 && system_share == 0);
            if let Some((user, system)) = split {
                prop_assert_eq!(user + system, total_ns);
            }
        }
    }
}
