//! The layers `cgroup` and `quota`: a control group for the deployment, and in it a CPU quota that is never used up.

use rustix::thread::sched_getaffinity;

use loadline_machine::{Environment, ErrorContext, Owner};
use loadline_model::platform::Limits;
use loadline_platform::Service;

use super::{Layer, unavailable::unavailable};
use crate::error::LocalError;

/// The service's limits, with a quota of all the CPUs that it may run on if it has none: each period ends before it is used up, and only
/// the cost of the kernel's accounting remains.
pub(crate) fn with_quota(service: &Service) -> Result<Limits, LocalError> {
    let cpus = match service.cpus.len() {
        0 => sched_getaffinity(None).with_context(|| "determine which CPUs this process may run on")?.count()
            as usize,
        cpus => cpus,
    };
    Ok(Limits { cpus: service.limits.cpus.or(Some(cpus as f64)), ..service.limits })
}

/// Creates the cgroup of an owner that has nothing else.
pub(crate) fn try_create(environment: &Environment, owner: &Owner, quota: bool) -> Result<(), LocalError> {
    let layer = if quota { Layer::Quota } else { Layer::Cgroup };
    if !environment.has_cgroups() {
        let why = "no cgroup hierarchy with the CPU controllers is mounted (CONFIG_CGROUPS)";
        return Err(unavailable(&layer, why));
    }
    let limits = Limits { cpus: quota.then_some(1.0), memory_bytes: None };
    match environment.create_cgroup(owner, &[], &limits)?.left_out.into_iter().next() {
        Some(why) => Err(unavailable(&layer, why)),
        None => Ok(()),
    }
}
