//! The layers `cgroup` and `quota`: a control group of the deployment's own, and in it a CPU quota that is never used up.

use rustix::thread::sched_getaffinity;

use loadline_machine::{Doing, Environment, Owner};
use loadline_model::platform::Limits;
use loadline_platform::Service;

use super::{Layer, lacking::missing};
use crate::error::LocalError;

/// The service's limits, with a quota of all the CPUs that it may run on if it has none: each period ends before it is used up, and what
/// the kernel does to keep account of it remains.
pub(crate) fn with_quota(service: &Service) -> Result<Limits, LocalError> {
    let cpus = match service.cpus.len() {
        0 => sched_getaffinity(None).doing(|| "ask which CPUs this process may run on")?.count() as usize,
        cpus => cpus,
    };
    Ok(Limits { cpus: service.limits.cpus.or(Some(cpus as f64)), ..service.limits })
}

/// Makes the cgroup of an owner that nothing else belongs to.
pub(crate) fn attempt(environment: &Environment, owner: &Owner, quota: bool) -> Result<(), LocalError> {
    let layer = if quota { Layer::Quota } else { Layer::Cgroup };
    if !environment.has_cgroups() {
        let why = "no cgroup hierarchy with the CPU controllers is mounted (CONFIG_CGROUPS)";
        return Err(missing(&layer, why));
    }
    let limits = Limits { cpus: quota.then_some(1.0), memory_bytes: None };
    match environment.make_cgroup(owner, &[], &limits)?.left_out.into_iter().next() {
        Some(why) => Err(missing(&layer, why)),
        None => Ok(()),
    }
}
