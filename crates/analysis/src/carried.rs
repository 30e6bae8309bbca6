//! Whether one slice or one deployment carries so much of a difference that nothing can be claimed of it.
//!
//! The thresholds are chosen by simulation (`tests/it/coverage`): many stalls of one length, or exponential ones, leave a row alone; those of
//! which the longest outweighs all others, where no interval covers, do not pass.

use loadline_model::result::{Carrier, Remark};
use loadline_model::rows::SliceRow;
use loadline_stats::{Bootstrap, dominant};

use crate::compared::{Compared, differences};
use crate::figures::Prepared;
use crate::metrics::{Kind, Metric};
use crate::sample::{Block, Paired, Side};
use crate::times::Times;

/// Share of all requests' squared deviations from their mean that one slice may carry. With stalls of a finite variance it vanishes as slices
/// become more; with those of a Pareto distribution of index 1.3, which have none, it is larger in 19 of 20 runs of any length.
const MOST_OF_REQUESTS: f64 = 0.15;
/// Of few blocks each has a large share: this, divided by their number, is still chance.
const EVEN_SHARES: f64 = 5.0;
/// Standard errors of the difference that such a slice must have moved it by. A single slow request of very many requests that are alike has
/// nearly all of their squares, and moves nothing.
const LEAST_MOVED: f64 = 0.25;
/// Share of the squared deviations of all blocks that one may carry. What a slice costs is bounded by its length, so that it has a variance.
const MOST_OF_BLOCKS: f64 = 0.5;
/// Share of the squared deviations of all deployments that one may carry.
const MOST_OF_DEPLOYMENTS: f64 = 0.5;
/// Share of the requests beyond a quantile that may be from one deployment, or one slice.
const MOST_BEYOND: f64 = 0.5;

/// What the difference hangs on, if it does.
pub fn carried(
    metric: &Metric,
    paired: &Paired<'_>,
    compared: &Compared,
    spread: Option<&Bootstrap>,
) -> Option<Remark> {
    if paired.deployments() < 2 {
        return None;
    }
    match metric.kind {
        Kind::Quantile(times, _) => beyond(times, paired, compared),
        Kind::Mean(times) => by_requests(times, paired, compared, spread?.standard_error)
            .or_else(|| by_deployment(paired, compared)),
        Kind::Ratio(_) | Kind::PerRequest | Kind::Level => {
            by_block(metric, paired).or_else(|| by_deployment(paired, compared))
        }
        // What neither a slice nor a few of them can move.
        Kind::Paired(_) | Kind::Undisturbed(_) | Kind::OfDeployments(_) => by_deployment(paired, compared),
    }
}

/// Whether the requests of one slice make most of what requests vary by, and with that a part of the difference that is not small against its
/// standard error. A block's mean shows this less clearly: what its other requests vary by is in it, too.
fn by_requests(
    times: Times,
    paired: &Paired<'_>,
    compared: &Compared,
    standard_error: f64,
) -> Option<Remark> {
    let of_side = |(side, cell): (Side, &Prepared)| {
        let slices = || paired.blocks().filter_map(move |block| Some((block, times.of(block.slice(side)?))));
        let requests: u64 = slices().map(|(_, histogram)| histogram.len()).sum();
        // The weight of a request in the difference: each of a pooled pair has half.
        let share = if paired.twin.is_some() && side != Side::Candidate { 0.5 } else { 1.0 };
        let (weight, mean) = (share / requests as f64, cell.whole());
        slices().filter(|(_, histogram)| !histogram.is_empty()).map(move |(block, histogram)| {
            let (count, off) = (histogram.len() as f64, histogram.mean() - mean);
            let squares = count * (histogram.stdev().powi(2) + off.powi(2));
            Part { block, squares: weight.powi(2) * squares, moves: (weight * count * off).abs() }
        })
    };
    let parts: Vec<Part<'_>> = compared.sides().flat_map(of_side).collect();
    let total: f64 = parts.iter().map(|part| part.squares).sum();
    let largest = parts.into_iter().max_by(|left, right| left.squares.total_cmp(&right.squares))?;
    let most = MOST_OF_REQUESTS.max(EVEN_SHARES / paired.count() as f64);
    let matters = largest.moves > LEAST_MOVED * standard_error;
    (largest.squares > most * total && matters)
        .then(|| Remark::Carried { by: slice(largest.block.baseline), share: largest.squares / total })
}

/// What one slice's requests make of a difference of means.
struct Part<'a> {
    block: Block<'a>,
    /// Their squared deviations from the mean of their cell, as they weigh in the difference.
    squares: f64,
    /// By how much they move it.
    moves: f64,
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
    let (placed, figures): (Vec<usize>, Vec<f64>) =
        (0..units).map(|unit| (unit, alone(unit))).filter(|(_, figure)| figure.is_finite()).unzip();
    let found = dominant(&figures, MOST_OF_DEPLOYMENTS)?;
    Some(Remark::Carried { by: deployment(paired, placed[found.index])?, share: found.share })
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
        let quantile = cell.whole() as u64;
        let in_slice = |block: &Block<'_>| {
            let histogram = times.of(block.slice(side)?);
            // Above the quantile's own bucket, as in `by_unit`.
            let from = histogram.highest_equivalent(quantile) + 1;
            Some(histogram.count_between(from, histogram.high().max(from)) as f64)
        };
        let slices = paired.units[unit].iter().filter_map(|block| Some((block, in_slice(block)?)));
        let (block, most_of_slices) = slices.max_by(|left, right| left.1.total_cmp(&right.1))?;
        if most_of_slices > MOST_BEYOND * total {
            return Some(Remark::Carried { by: slice(block.baseline), share: most_of_slices / total });
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
