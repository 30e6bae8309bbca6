//! The layers `cgroup` and `quota`: a control group of the deployment's own, and in it a CPU quota that is never used up.

use rustix::thread::sched_getaffinity;

use super::{Layer, lacking::missing};
use crate::{
    Error, Ground, Limits, Service,
    cgroup::{CANT_WRITE, Made},
    error::Doing,
    owner::Owner,
};

/// Makes the cgroup, registered before it exists. Where none can be made, says so instead of failing.
pub(crate) fn lay(ground: &Ground, owner: &Owner, cpus: &[usize], limits: &Limits) -> Result<Made, Error> {
    let Some(tree) = ground.cgroups() else {
        return Ok(Made { cgroup: None, left_out: vec![CANT_WRITE.to_owned()] });
    };
    let tops = tree.tops(owner.run);
    ground.folder().update(|state| state.cgroups = tops)?;
    tree.make(owner, cpus, limits)
}

/// The service's limits, with a quota of all the CPUs that it may run on if it has none: each period ends before it is used up, and what
/// the kernel does to keep account of it remains.
pub(crate) fn with_quota(service: &Service) -> Result<Limits, Error> {
    let cpus = match service.cpus.len() {
        0 => sched_getaffinity(None).doing(|| "ask which CPUs this process may run on")?.count() as usize,
        cpus => cpus,
    };
    Ok(Limits { cpus: service.limits.cpus.or(Some(cpus as f64)), ..service.limits })
}

/// Makes the cgroup of an owner that nothing else belongs to.
pub(crate) fn attempt(ground: &Ground, owner: &Owner, quota: bool) -> Result<(), Error> {
    let layer = if quota { Layer::Quota } else { Layer::Cgroup };
    if ground.cgroups().is_none() {
        let why = "no cgroup hierarchy with the CPU controllers is mounted (CONFIG_CGROUPS)";
        return Err(missing(&layer, why));
    }
    let limits = Limits { cpus: quota.then_some(1.0), memory_bytes: None };
    match lay(ground, owner, &[], &limits)?.left_out.into_iter().next() {
        Some(why) => Err(missing(&layer, why)),
        None => Ok(()),
    }
}
