//! What happened between two snapshots: the differences of their counters.
//! A figure that one of the two lacks is `None`, never zero.

use loadline_model::Observations;

use crate::snapshot::Snapshot;
use crate::{process, threads};

/// What happened between `before` and `after`, two snapshots of the same subject in this order.
pub fn between(before: &Snapshot, after: &Snapshot) -> Observations {
    let service = service_cpu(before, after);
    let (service_user_ns, service_system_ns) = service.and_then(ServiceCpu::split).unzip();
    let machine = before.machine.zip(after.machine).map(|(then, now)| now.since(&then));
    let throttling = before
        .cgroup
        .and_then(|reading| reading.throttling)
        .zip(after.cgroup.and_then(|reading| reading.throttling));
    let scheduling =
        before.threads.as_ref().zip(after.threads.as_ref()).map(|(then, now)| threads::between(then, now));
    let softirqs = before.softirqs.zip(after.softirqs);
    let cgroup_memory = after.cgroup.map(|reading| reading.memory).unwrap_or_default();

    Observations {
        wall_ns: after.taken_ns.checked_sub(before.taken_ns),
        service_cpu_ns: service.map(|cpu| cpu.total_ns),
        service_user_ns,
        service_system_ns,
        machine,
        cpus: after.cpus,
        machine_busy_ns: machine.map(|cpu| cpu.busy_ns()),
        observer_cpu_ns: after.observer_cpu_ns.checked_sub(before.observer_cpu_ns),
        periods: throttling.and_then(|(then, now)| now.periods.checked_sub(then.periods)),
        throttled_periods: throttling
            .and_then(|(then, now)| now.throttled_periods.checked_sub(then.throttled_periods)),
        throttled_ns: throttling.and_then(|(then, now)| now.throttled_ns.checked_sub(then.throttled_ns)),
        voluntary_switches: scheduling.map(|s| s.voluntary_switches),
        involuntary_switches: scheduling.map(|s| s.involuntary_switches),
        run_queue_wait_ns: scheduling.map(|s| s.run_queue_wait_ns),
        net_rx_softirqs: softirqs.and_then(|(then, now)| now.net_rx.checked_sub(then.net_rx)),
        net_tx_softirqs: softirqs.and_then(|(then, now)| now.net_tx.checked_sub(then.net_tx)),
        memory_bytes: after.memory.map(|memory| memory.resident_bytes),
        memory_peak_bytes: after.memory.map(|memory| memory.peak_bytes),
        cgroup_memory_bytes: cgroup_memory.now_bytes,
        cgroup_memory_peak_bytes: cgroup_memory.peak_bytes,
        tcp_retransmits: before
            .tcp_retransmits
            .zip(after.tcp_retransmits)
            .and_then(|(then, now)| now.checked_sub(then)),
    }
}

/// CPU time of the service in the slice, with shares of user and system time in any unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ServiceCpu {
    total_ns: u64,
    user_share: u64,
    system_share: u64,
}

impl ServiceCpu {
    /// The total divided in the proportion of the shares, so that the parts add up to it.
    fn split(self) -> Option<(u64, u64)> {
        let (user, system) = (u128::from(self.user_share), u128::from(self.system_share));
        let user_ns = (u128::from(self.total_ns) * user).checked_div(user + system)?;
        let user_ns = u64::try_from(user_ns).ok()?;
        Some((user_ns, self.total_ns - user_ns))
    }
}

fn service_cpu(before: &Snapshot, after: &Snapshot) -> Option<ServiceCpu> {
    let charged =
        before.cgroup.and_then(|reading| reading.cpu).zip(after.cgroup.and_then(|reading| reading.cpu));
    if let Some((then, now)) = charged {
        return Some(ServiceCpu {
            total_ns: now.total_ns.checked_sub(then.total_ns)?,
            user_share: now.user_ns.saturating_sub(then.user_ns),
            system_share: now.system_ns.saturating_sub(then.system_ns),
        });
    }
    let used = process::cpu_between(before.processes.as_ref()?, after.processes.as_ref()?);
    Some(ServiceCpu { total_ns: used.total_ns, user_share: used.user_ticks, system_share: used.system_ticks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cpu_time_is_divided_in_the_proportion_of_the_ticks() {
        let cpu = ServiceCpu { total_ns: 1_000, user_share: 3, system_share: 1 };
        assert_eq!(cpu.split(), Some((750, 250)));
    }

    #[test]
    fn without_a_tick_the_division_is_unknown() {
        assert_eq!(ServiceCpu { total_ns: 1_000, user_share: 0, system_share: 0 }.split(), None);
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_whole(total_ns: u64, user_share: u64, system_share: u64) {
            let split = ServiceCpu { total_ns, user_share, system_share }.split();
            prop_assert_eq!(split.is_none(), user_share == 0 && system_share == 0);
            if let Some((user, system)) = split {
                prop_assert_eq!(user + system, total_ns);
            }
        }
    }
}
