//! What CPU quotas did to a service: `cpu.stat` of its cgroup and of those above it.

use loadline_model::Observations;
use loadline_model::metrics::{
    HigherIs, MetricDeclaration, THROTTLED, THROTTLED_PERIODS, THROTTLING_PERIODS, Unit,
};

use crate::cgroup::{Cgroup, Throttling};
use crate::probe::{Probe, Target};

/// Reads the throttling of a service.
pub(crate) struct ThrottlingProbe;

impl Probe for ThrottlingProbe {
    type Reading = Throttling;

    fn name(&self) -> &'static str {
        "throttling"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        vec![
            MetricDeclaration::counter(THROTTLED, Unit::Nanoseconds)
                .shown_as("throttled per request", HigherIs::Slower),
            MetricDeclaration::counter(THROTTLING_PERIODS, Unit::Count),
            MetricDeclaration::counter(THROTTLED_PERIODS, Unit::Count),
        ]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Throttling> {
        target.subject().cgroup.as_ref().and_then(Cgroup::throttling)
    }

    fn between(&self, before: &Throttling, after: &Throttling, seen: &mut Observations) {
        seen.set(THROTTLED, after.throttled_ns.checked_sub(before.throttled_ns));
        let periods = after.periods.checked_sub(before.periods);
        let throttled = after.throttled_periods.checked_sub(before.throttled_periods);
        seen.set(THROTTLING_PERIODS, periods);
        seen.set(THROTTLED_PERIODS, throttled.zip(periods).map(|(throttled, all)| throttled.min(all)));
    }
}
