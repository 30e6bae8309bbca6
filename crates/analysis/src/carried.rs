//! Whether one slice or one deployment carries so much of a difference that nothing can be claimed of it.
//!
//! The thresholds are chosen by simulation (`tests/it/coverage`): many stalls of one length, or exponential ones, leave a row alone; those of
//! which the longest outweighs all others, where no interval covers, do not pass.

use hdrhistogram::Histogram;
use loadline_model::result::{Carrier, Remark};
use loadline_model::rows::SliceRow;
use loadline_stats::dominant;

use crate::compared::{Compared, differences};
use crate::figures::Prepared;
use crate::metrics::{Kind, Metric, Times};
use crate::sample::{Block, Paired, Side};

/// Share of all requests' squared deviations from their mean that one slice may carry. With stalls of a finite variance it vanishes as slices
/// become more; with those of a Pareto distribution of index 1.3, which have none, it is larger in 19 of 20 runs of any length.
const MOST_OF_REQUESTS: f64 = 0.15;
/// Of few slices each has a large share: so many times an even one is still chance.
const EVEN_SHARES: f64 = 5.0;
/// Share of the squared deviations of all blocks that one may carry.
const MOST_OF_BLOCKS: f64 = 0.25;
/// Share of the squared deviations of all deployments that one may carry.
const MOST_OF_DEPLOYMENTS: f64 = 0.5;
/// Share of the requests beyond a quantile that may be from one deployment, or one slice.
const MOST_BEYOND: f64 = 0.5;

/// What the difference hangs on, if it does.
pub fn carried(metric: &Metric, paired: &Paired<'_>, compared: &Compared) -> Option<Remark> {
    if paired.deployments() < 2 {
        return None;
    }
    match metric.kind {
        Kind::Quantile(times, _) => beyond(times, paired, compared),
        Kind::Mean(times) => by_requests(times, paired, compared).or_else(|| by_deployment(paired, compared)),
        Kind::Ratio(_) | Kind::PerRequest | Kind::Level => {
            by_block(metric, paired).or_else(|| by_deployment(paired, compared))
        }
        // What neither a slice nor a few of them can move.
        Kind::LowerHalfMean(_) | Kind::Undisturbed(_) => by_deployment(paired, compared),
    }
}

/// Whether the requests of one slice make most of what the mean's standard error is estimated from. A block's mean shows that less clearly: what
/// its other requests vary by is in it, too.
fn by_requests(times: Times, paired: &Paired<'_>, compared: &Compared) -> Option<Remark> {
    let of_side = |(side, cell): (Side, &Prepared)| {
        // Each of a pooled pair has half of the weight in the difference.
        let weight = if paired.twin.is_some() && side != Side::Candidate { 0.25 } else { 1.0 };
        let mean = cell.whole();
        let squares = move |slice: &SliceRow| weight * squared_deviations(times.of(slice), mean);
        paired.blocks().filter_map(move |block| Some((block, squares(block.slice(side)?))))
    };
    let squares: Vec<(Block<'_>, f64)> = compared.sides().flat_map(of_side).collect();
    let total: f64 = squares.iter().map(|(_, squares)| squares).sum();
    let (block, largest) = squares.into_iter().max_by(|left, right| left.1.total_cmp(&right.1))?;
    let most = MOST_OF_REQUESTS.max(EVEN_SHARES / paired.count() as f64);
    (largest > most * total).then(|| Remark::Carried { by: slice(block.baseline), share: largest / total })
}

/// The sum of the requests' squared deviations from `mean`.
fn squared_deviations(histogram: &Histogram<u64>, mean: f64) -> f64 {
    if histogram.is_empty() {
        return 0.0;
    }
    histogram.len() as f64 * (histogram.stdev().powi(2) + (histogram.mean() - mean).powi(2))
}

fn by_block(metric: &Metric, paired: &Paired<'_>) -> Option<Remark> {
    // Blocks without a figure have no difference; with them left out, the others' places are still needed.
    let placed: Vec<(&Block<'_>, f64)> = paired
        .units
        .iter()
        .flatten()
        .filter_map(|block| Some((block, *differences(metric, std::slice::from_ref(block)).first()?)))
        .collect();
    let figures: Vec<f64> = placed.iter().map(|(_, difference)| *difference).collect();
    let found = dominant(&figures, MOST_OF_BLOCKS)?;
    Some(Remark::Carried { by: slice(placed[found.index].0.baseline), share: found.share })
}

fn by_deployment(paired: &Paired<'_>, compared: &Compared) -> Option<Remark> {
    let units = paired.units.len();
    let alone = |unit: usize| {
        let mut weights = vec![0; units];
        weights[unit] = 1;
        compared.difference(&weights)
    };
    let figures: Vec<f64> = (0..units).map(alone).collect();
    let found = dominant(&figures, MOST_OF_DEPLOYMENTS)?;
    Some(Remark::Carried { by: deployment(paired, found.index)?, share: found.share })
}

/// Whether most of the requests beyond the quantile, in one of the cells, are from one deployment, or even one slice of it.
fn beyond(times: Times, paired: &Paired<'_>, compared: &Compared) -> Option<Remark> {
    // Of so few deployments, each has a large share.
    let most = MOST_BEYOND.max(2.0 / paired.units.len() as f64);
    compared.sides().find_map(|(side, cell)| {
        let by_unit = cell.beyond_by_unit();
        let total: f64 = by_unit.iter().sum();
        let (unit, largest) = by_unit.iter().enumerate().max_by(|left, right| left.1.total_cmp(right.1))?;
        if *largest <= most * total {
            return None;
        }
        let from = cell.whole() as u64;
        let in_slice = |block: &Block<'_>| {
            let histogram = times.of(block.slice(side)?);
            Some(histogram.count_between(from, histogram.high()) as f64)
        };
        let slices = paired.units[unit].iter().filter_map(|block| Some((block, in_slice(block)?)));
        let (block, most_of_slices) = slices.max_by(|left, right| left.1.total_cmp(&right.1))?;
        if most_of_slices > MOST_BEYOND * total {
            return Some(Remark::Carried {
                by: slice(block.baseline),
                share: (most_of_slices / total).min(1.0),
            });
        }
        Some(Remark::Carried { by: deployment(paired, unit)?, share: largest / total })
    })
}

fn slice(row: &SliceRow) -> Carrier {
    Carrier::Slice { round: row.round, block: row.block }
}

fn deployment(paired: &Paired<'_>, unit: usize) -> Option<Carrier> {
    Some(Carrier::Deployment { round: paired.units.get(unit)?.first()?.baseline.round })
}
