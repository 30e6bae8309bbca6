//! The layer `cgroup`: a control group of the deployment's own.

use crate::{
    Error, Ground, Limits,
    cgroup::{CANT_WRITE, Made},
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
