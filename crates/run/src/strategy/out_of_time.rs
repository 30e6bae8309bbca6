//! Whether a search can find what it is to find in the time that it has.

use std::time::Duration;

use loadline_model::experiment::{Capacity, Experiment};
use loadline_model::plan::Plan;

use super::capacity::least_s;

/// Precisions that are proposed in place of one that takes too long.
const PROPOSED: [f64; 8] = [0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5];

/// A search that ends before its intervals are as narrow as they are to be, whatever its service does.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "cannot find {} to ±{} within {}: the fewest trials take {}; allow that long (--within){}",
    capacities(*cells),
    percent(*precision),
    words(*within),
    words(*least),
    way_out(*possible)
)]
pub struct OutOfTime {
    /// What is searched for.
    pub cells: usize,
    /// The precision that was asked for.
    pub precision: f64,
    /// The time that there is.
    pub within: Duration,
    /// The time that the search of a deployment takes at least.
    pub least: Duration,
    /// The finest precision that is possible in that time, if there is one.
    pub possible: Option<f64>,
}

/// Whether the search of the first deployment can end in time.
pub(crate) fn in_time(experiment: &Experiment, capacity: &Capacity, plan: &Plan) -> Result<(), OutOfTime> {
    let Some(within) = experiment.plan.within else { return Ok(()) };
    let least =
        |precision: f64| Duration::from_secs_f64(least_s(&Capacity { precision, ..capacity.clone() }, plan));
    let precision = capacity.precision;
    if least(precision) <= within {
        return Ok(());
    }
    let mut coarser = PROPOSED.into_iter().filter(|proposed| *proposed > precision);
    let possible = coarser.find(|proposed| least(*proposed) <= within);
    Err(OutOfTime { cells: plan.cells.len(), precision, within, least: least(precision), possible })
}

fn capacities(cells: usize) -> String {
    if cells == 1 { "a capacity".to_owned() } else { format!("{cells} capacities") }
}

fn way_out(possible: Option<f64>) -> String {
    possible
        .map(|precision| format!(", or ask for less: --precision {}", percent(precision)))
        .unwrap_or_default()
}

/// `0.5%`
fn percent(share: f64) -> String {
    format!("{}%", (share * 1e4).round() / 1e2)
}

/// In whole minutes or seconds, no less: `90s`, `15min`.
fn words(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    if seconds > 120 { format!("{}min", seconds.div_ceil(60)) } else { format!("{seconds}s") }
}
