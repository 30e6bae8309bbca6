//! A figure computed from the figures of several cells, with its interval: what the sums of a ladder and claims about three cells are made of.

use std::collections::BTreeSet;

use loadline_model::CellId;
use loadline_model::result::Remark;
use loadline_model::rows::SliceRow;
use loadline_stats::{Bootstrap, MIN_BLOCKS, bootstrap};

use crate::compared::{RESAMPLES, differences};
use crate::contrasts::few_beyond;
use crate::counted::{BlockAt, Counted};
use crate::figures::Prepared;
use crate::metrics::{Kind, Metric};
use crate::sample::{Block, units, units_of};
use crate::verdicts::bounds;

/// What was found, or why nothing was.
#[derive(Default)]
pub struct Joint {
    /// The figure; none when it can't be computed.
    pub found: Option<f64>,
    /// Its interval, if there is one.
    pub interval: Option<[f64; 2]>,
    /// What the interval comes from; none when nothing can be claimed.
    pub spread: Option<Bootstrap>,
    /// Why nothing can be claimed.
    pub note: Option<Remark>,
}

/// A cell's own figure of a metric; none when it can't be computed.
pub fn of_cell(counted: &Counted<'_>, metric: &Metric, cell: CellId) -> Option<f64> {
    let units = units_of(metric, counted, &[cell]);
    let slices = units.iter().map(|unit| unit.iter().map(|places| places[0]).collect::<Vec<&SliceRow>>());
    Prepared::new(metric, slices).map(|prepared| prepared.whole()).filter(|figure| figure.is_finite())
}

/// Computes `figure` of the cells' figures of a metric, which are given in the order of `cells`. The cells are paired block by block.
pub fn joint(
    counted: &Counted<'_>,
    metric: &Metric,
    cells: &[CellId],
    seed: u64,
    confidence: f64,
    figure: &dyn Fn(&[f64]) -> f64,
) -> Joint {
    let units = units_of(metric, counted, cells);
    let of_cell = |index: usize| {
        let slices =
            units.iter().map(|unit| unit.iter().map(|places| places[index]).collect::<Vec<&SliceRow>>());
        Prepared::new(metric, slices)
    };
    let prepared = (0..cells.len()).map(of_cell).collect::<Option<Vec<Prepared>>>();
    prepared.map_or_else(Joint::default, |prepared| estimate(&units, &prepared, seed, confidence, figure))
}

/// The sum of a metric's differences along steps from one cell to another, less those along other steps.
pub fn along(
    counted: &Counted<'_>,
    metric: &Metric,
    steps: &[[CellId; 2]],
    less: &[[CellId; 2]],
    seed: u64,
    confidence: f64,
) -> Joint {
    let all = [steps, less].concat();
    let total = |costs: &[f64]| {
        let (plus, minus) = costs.split_at(steps.len());
        plus.iter().sum::<f64>() - minus.iter().sum::<f64>()
    };
    if !matches!(metric.kind, Kind::Paired(_)) {
        let of_figures = |figures: &[f64]| {
            total(&figures.chunks_exact(2).map(|ends| ends[1] - ends[0]).collect::<Vec<f64>>())
        };
        return joint(counted, metric, all.as_flattened(), seed, confidence, &of_figures);
    }
    let units = units(counted, all.as_flattened());
    let of_step = |index: usize| {
        let block = |slices: &Vec<&SliceRow>| {
            let (baseline, candidate) = (slices[2 * index], slices[2 * index + 1]);
            differences(metric, &[Block { baseline, twin: None, candidate }])
        };
        Prepared::slice_by_slice(units.iter().map(|unit| unit.iter().flat_map(block).collect()))
    };
    let prepared = (0..all.len()).map(of_step).collect::<Option<Vec<Prepared>>>();
    prepared.map_or_else(Joint::default, |prepared| estimate(&units, &prepared, seed, confidence, &total))
}

fn estimate(
    units: &[Vec<Vec<&SliceRow>>],
    prepared: &[Prepared],
    seed: u64,
    confidence: f64,
    figure: &dyn Fn(&[f64]) -> f64,
) -> Joint {
    let whole: Vec<f64> = prepared.iter().map(Prepared::whole).collect();
    let found = Some(figure(&whole)).filter(|found| found.is_finite());
    let blocks: BTreeSet<BlockAt> =
        units.iter().flatten().map(|slices| (slices[0].round, slices[0].block)).collect();
    let blocks = blocks.len();
    let note = if blocks < MIN_BLOCKS {
        Some(Remark::FewBlocks { blocks, least: MIN_BLOCKS })
    } else {
        few_beyond(prepared)
    };
    if note.is_some() {
        return Joint { found, note, ..Joint::default() };
    }
    let rounds: BTreeSet<u32> = units.iter().flatten().map(|slices| slices[0].round).collect();
    let note = (rounds.len() < 2).then_some(Remark::OneDeployment);
    let spread = bootstrap(units.len(), RESAMPLES, seed, |weights| {
        let figures: Vec<f64> = prepared.iter().map(|prepared| prepared.figure(weights)).collect();
        figure(&figures)
    });
    let interval = spread.as_ref().map(|spread| bounds(spread, confidence));
    Joint { found, interval, spread: spread.filter(|_| note.is_none()), note }
}
