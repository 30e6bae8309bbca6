//! Memory charged to the cgroup of a service, page cache included. Not comparable with platforms that have no cgroup, so no table shows it.

use loadline_model::Observations;
use loadline_model::metrics::{CGROUP_MEMORY, MetricDeclaration, Unit};

use crate::cgroup::{Cgroup, CgroupMemory};
use crate::probe::{Probe, Target};

/// Reads the memory of a service's cgroup.
pub(crate) struct CgroupMemoryProbe;

impl Probe for CgroupMemoryProbe {
    type Reading = CgroupMemory;

    fn name(&self) -> &'static str {
        "cgroup_memory"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        [CGROUP_MEMORY, "memory.cgroup_peak"].map(|name| MetricDeclaration::level(name, Unit::Bytes)).into()
    }

    fn read(&mut self, target: &Target<'_>) -> Option<CgroupMemory> {
        target.subject().cgroup.as_ref().map(Cgroup::memory)
    }

    fn between(&self, _: &CgroupMemory, after: &CgroupMemory, seen: &mut Observations) {
        seen.set(CGROUP_MEMORY, after.now_bytes);
        seen.set("memory.cgroup_peak", after.peak_bytes);
    }
}
