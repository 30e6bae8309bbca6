//! The probes of loadline, in the order in which they read. To add one, add its line here.

use loadline_model::metrics::MetricDeclaration;

use crate::cgroup_memory::CgroupMemoryProbe;
use crate::clocks::Clocks;
use crate::go::GoProbe;
use crate::jvm::{CompilerProbe, JvmProbe};
use crate::machine_cpu::MachineCpuProbe;
use crate::memory::MemoryProbe;
use crate::pressure::PressureProbe;
use crate::probe::AnyProbe;
use crate::service_cpu::ServiceCpuProbe;
use crate::softirqs::SoftirqProbe;
use crate::tcp::TcpProbe;
use crate::threads::ThreadProbe;
use crate::throttling::ThrottlingProbe;

/// One of each, for a service and its load that run on these CPUs; none: on any. The clocks and the CPU times come first, near each other: the
/// gates compare them.
pub fn all(cpus: &[usize]) -> Vec<Box<dyn AnyProbe>> {
    vec![
        Box::new(Clocks),
        Box::new(ServiceCpuProbe),
        Box::new(MachineCpuProbe::new(cpus)),
        Box::new(SoftirqProbe),
        Box::new(ThreadProbe),
        Box::new(ThrottlingProbe),
        Box::new(PressureProbe),
        Box::new(TcpProbe),
        Box::new(MemoryProbe),
        Box::new(CgroupMemoryProbe),
        Box::new(CompilerProbe::default()),
        Box::new(JvmProbe::default()),
        Box::new(GoProbe::default()),
    ]
}

/// The metrics that all of them declare.
pub fn metrics() -> Vec<MetricDeclaration> {
    all(&[]).iter().flat_map(|probe| probe.metrics()).collect()
}
