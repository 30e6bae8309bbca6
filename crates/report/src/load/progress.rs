//! The line that shows a load while it goes on.

use std::time::Duration;

use loadline_model::Second;

use crate::figures::{count, time};

/// The second that is over, in a line; `whole` is the length of the load and `errors` those since it began.
pub fn progress(second: &Second<'_>, whole: Duration, errors: u64) -> String {
    let passed = second.began + second.length;
    let (passed, left) = (passed.as_secs(), whole.saturating_sub(passed).as_secs());
    let at = |quantile| time(second.record.response.value_at_quantile(quantile) as f64);
    format!(
        "{passed} s, {left} s left · {}/s · p50 {} · p99 {} · {} errors",
        count(second.rate().round() as u64),
        at(0.5),
        at(0.99),
        count(errors)
    )
}
