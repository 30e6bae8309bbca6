//! What the counters of all sites say of a turn.
//!
//! What a slice costs is counted until its last response. What the machine did is judged by the time in which requests were due, and a moment
//! more: if responses take far longer, the CPU times are read in between. Otherwise a slice with a long response would be disturbed more often,
//! measured again for it, and the response lost. The kernel adds up the time of a running thread at its ticks, so that what the load and a busy
//! service used in between may be a few milliseconds too little; no gate is that narrow.

use std::time::Duration;

use loadline_engine::Record;
use loadline_model::gates::CpuUse;
use loadline_model::metrics::{NEEDS_CPU, SHARED_NEEDS_CPU};
use loadline_model::{Observations, SiteId};

use crate::deployer::MachineId;
use crate::fleet::Fleet;
use crate::taken::TaskTimes;
use crate::turn::Visit;

/// What the counters of all sites say since the slices began.
pub(crate) struct Reading {
    /// For how long tasks ran on the services' CPUs.
    ran: Option<Duration>,
    seen: Vec<(SiteId, Observations)>,
    /// Before the load has ended, its CPU time is known only as part of this process's own.
    load_is_over: bool,
}

impl Reading {
    /// After the load.
    pub fn at_end(fleet: &mut Fleet, tasks: &dyn TaskTimes, tasks_before: Option<Duration>) -> Reading {
        let ran = ran(tasks, tasks_before);
        let seen = fleet.iter_mut().map(|member| (member.id, member.site.read_end())).collect();
        Reading { ran, seen, load_is_over: true }
    }

    /// While the load goes on, of the sites on this machine; `None` where one of them can't be read then.
    pub fn in_between(
        fleet: &mut Fleet,
        here: Option<&MachineId>,
        tasks: &dyn TaskTimes,
        tasks_before: Option<Duration>,
    ) -> Option<Reading> {
        let here = here?;
        let ran = ran(tasks, tasks_before);
        let on_this_machine = fleet.iter_mut().filter(|member| member.site.machine().as_ref() == Some(here));
        let read = on_this_machine.map(|member| Some((member.id, member.site.read_in_between()?)));
        Some(Reading { ran, seen: read.collect::<Option<_>>()?, load_is_over: false })
    }

    /// What was seen of a site.
    pub fn of_site(&self, site: SiteId) -> Option<&Observations> {
        self.seen.iter().find(|(id, _)| *id == site).map(|(_, observations)| observations)
    }

    /// What others took of the services' CPUs.
    pub fn taken(&self, fleet: &mut Fleet, here: Option<&MachineId>) -> Option<Duration> {
        let services = Duration::from_nanos(self.services_ns(fleet, here, here)?);
        Some(self.ran?.saturating_sub(services))
    }

    /// The CPU time that the hypervisor and other programs took on the machine of the visited service. Services and load of this turn on the
    /// same machine do not count as others.
    pub fn cpu_use(
        &self,
        visit: &Visit,
        records: &[(&Visit, Record)],
        fleet: &mut Fleet,
        here: Option<&MachineId>,
    ) -> Option<CpuUse> {
        let machine = fleet.get(visit.site)?.site.machine()?;
        let services_ns = self.services_ns(fleet, Some(&machine), here);
        let mut load_ns = Some(0);
        for (other, record) in records {
            let own_ns = if self.load_is_over { record.cpu_ns } else { 0 };
            match fleet.get(other.site)?.load_machine(other.cell, here) {
                Some(of_load) if of_load == machine => load_ns = load_ns.map(|ns: u64| ns + own_ns),
                Some(_) => {}
                // It is not known whether it is on this machine.
                None => load_ns = None,
            }
        }
        CpuUse::of(self.of_site(visit.site)?, services_ns.zip(load_ns))
    }

    /// The CPU time of all services of a machine, and of what they need there; `None` if one of them can't be told.
    fn services_ns(
        &self,
        fleet: &mut Fleet,
        machine: Option<&MachineId>,
        here: Option<&MachineId>,
    ) -> Option<u64> {
        // What is shared is on this machine, and each site that shares it tells of all of it.
        let shared =
            self.seen.iter().filter_map(|(_, observations)| observations.count(SHARED_NEEDS_CPU)).max();
        let mut services_ns = Some(shared.filter(|_| machine == here).unwrap_or(0));
        for (site, observations) in &self.seen {
            let Some(member) = fleet.get(*site) else { continue };
            if member.site.machine().is_some_and(|other| Some(&other) == machine) {
                // An external service may run here and cannot be distinguished from other programs.
                let own = observations.service_cpu_ns().filter(|_| !member.site.is_external());
                let own = own.map(|ns| ns + observations.count(NEEDS_CPU).unwrap_or(0));
                services_ns = services_ns.zip(own).map(|(sum, ns): (u64, u64)| sum + ns);
            }
        }
        services_ns
    }
}

/// For how long tasks ran on the services' CPUs since.
fn ran(tasks: &dyn TaskTimes, before: Option<Duration>) -> Option<Duration> {
    tasks.read().zip(before).map(|(after, before)| after.saturating_sub(before))
}
