//! Whether a CPU limit held a service back.

use loadline_model::metrics::{THROTTLED, THROTTLED_PERIODS, THROTTLING_PERIODS};
use loadline_model::rows::SliceRow;

use crate::result::Throttling;

/// What its limit did to a service in these slices; `None` where it was never held back, or where that is not known.
pub fn throttling(slices: &[&SliceRow]) -> Option<Throttling> {
    let sum = |name: &str| slices.iter().filter_map(|slice| slice.observations.get(name)).sum::<f64>();
    let throttled_periods = sum(THROTTLED_PERIODS) as u64;
    let seconds: f64 = slices.iter().map(|slice| slice.duration_s).sum();
    (throttled_periods > 0).then(|| Throttling {
        periods: sum(THROTTLING_PERIODS) as u64,
        throttled_periods,
        ns_per_second: sum(THROTTLED) / seconds,
    })
}
