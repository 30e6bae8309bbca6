//! How far the deployments of the same cell lie apart: what one start of a service tells about the next.

use loadline_model::result::{Cell, DeploymentSpread, RunResult};

use crate::figures::unsigned_percent;
use crate::groups;

/// What published benchmarks accept between repetitions without a word, and what they look into: both ±, as shares.
const ACCEPTED: f64 = 0.05;
const SUSPECT: f64 = 0.10;
/// More than these are counted, not named.
const MOST_NAMED: usize = 5;

/// `Deployments of a cell lie within ±3.2 % (response p50).`
pub(crate) fn sentence(result: &RunResult) -> Option<String> {
    let mut cells: Vec<(&Cell, &DeploymentSpread)> =
        result.cells.iter().filter_map(|cell| Some((cell, cell.deployment_spread.as_ref()?))).collect();
    cells.sort_by(|(_, a), (_, b)| b.share.total_cmp(&a.share));
    let (_, widest) = cells.first()?;
    let metrics = groups::unique(cells.iter().map(|(_, spread)| spread.metric.as_str()));
    let of = match metrics[..] {
        ["rate.achieved"] => "achieved rate",
        ["response.p50"] => "response p50",
        _ => "response p50; in closed loops, achieved rate",
    };
    if widest.share <= ACCEPTED {
        return Some(format!("Deployments of a cell lie within ±{} ({of}).", unsigned_percent(widest.share)));
    }
    let beyond = |bound: f64| cells.iter().take_while(|(_, spread)| spread.share > bound).count();
    let differ = format!(
        "Deployments of a cell differ by more than ±{} in {} of {} cells",
        unsigned_percent(ACCEPTED),
        beyond(ACCEPTED),
        cells.len()
    );
    let suspects = beyond(SUSPECT);
    if suspects == 0 {
        return Some(format!("{differ}, by ±{} at most ({of}).", unsigned_percent(widest.share)));
    }
    let mut named: Vec<String> = cells[..suspects.min(MOST_NAMED)]
        .iter()
        .map(|(cell, spread)| {
            format!("{} ±{}", groups::cell_name(result, cell), unsigned_percent(spread.share))
        })
        .collect();
    if suspects > MOST_NAMED {
        named.push(format!("and {} more", suspects - MOST_NAMED));
    }
    Some(format!("{differ} ({of}). Find out why before you quote these: {}.", named.join(", ")))
}
