//! What was measured again or does not count, and whether all cells were disturbed equally often. If not, the disturbance may come from a cell
//! itself, and this would select its tail: then means and tails claim nothing.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::rows::{RunRow, SliceRow};
use loadline_model::{CellId, LoadId};
use loadline_stats::{cochran_q, holm};

use crate::RunData;
use crate::compared::Compared;
use crate::counted::{Attempts, BlockAt, Counted, Place, attempts, first_attempts, is_loud};
use crate::metrics;
use crate::result::{CellRepeats, Contrast, LoadRepeats, Remark, Repeats, Statement, Verdict};
use crate::sample::Paired;

/// Probability of calling rates different that are not. A run has one such test a load, and a wrong alarm costs it its tails.
const ALPHA: f64 = 0.01;
/// Share of first attempts that may be disturbed before it is said.
const MUCH: f64 = 0.05;

/// Counts what was measured again, and what does not count.
pub fn repeats(data: &RunData, counted: &Counted<'_>) -> Repeats {
    let run = &data.run;
    let mut by_load: BTreeMap<LoadId, Vec<Attempts<'_>>> = BTreeMap::new();
    let blocks = attempts(&run.plan, &data.slices);
    for ((load, _), attempts) in &blocks {
        by_load.entry(*load).or_default().push(attempts.clone());
    }
    // The cells that have a slice that counts, of each block that does, and whether one of the slices was loud.
    let mut counting: BTreeMap<(LoadId, BlockAt), (BTreeSet<CellId>, bool)> = BTreeMap::new();
    for (cell, places) in counted {
        for ((round, block, _), slice) in places {
            let (cells, loud) = counting.entry((run.plan.load_of(*cell), (*round, *block))).or_default();
            cells.insert(*cell);
            *loud |= is_loud(run, slice);
        }
    }
    let counts_in_part = |block: &(LoadId, BlockAt)| {
        let all = blocks.get(block).and_then(|attempts| attempts.values().next()).map_or(0, Vec::len);
        counting.get(block).is_some_and(|(cells, _)| cells.len() < all)
    };
    let is_disturbed = |attempts: &&Attempts<'_>| {
        attempts.values().next().is_some_and(|slices| slices.iter().any(|slice| is_loud(run, slice)))
    };
    let disturbed = blocks.values().filter(is_disturbed).count();
    let leaves_out = |load: LoadId| {
        let mut of_load = blocks.keys().filter(|(of, _)| *of == load);
        of_load.any(|block| !counting.contains_key(block) || counts_in_part(block))
    };
    let mut loads: Vec<LoadRepeats> =
        by_load.iter().map(|(load, blocks)| of_load(run, blocks, leaves_out(*load))).collect();
    let plain: Vec<f64> = loads.iter().map(|load| load.p_holm.unwrap_or(1.0)).collect();
    for (load, corrected) in loads.iter_mut().zip(holm(&plain)) {
        load.p_holm = load.p_holm.map(|_| corrected);
        load.differ = load.p_holm.is_some_and(|p| p < ALPHA);
    }
    Repeats {
        blocks: blocks.len(),
        disturbed,
        many: disturbed as f64 > MUCH * blocks.len() as f64,
        left_out: blocks.len() - counting.len(),
        in_part: counting.keys().filter(|block| counts_in_part(block)).count(),
        as_they_are: counting.values().filter(|(_, is_loud)| *is_loud).count(),
        loads,
    }
}

/// The cells of a load, each with how many of its slices were disturbed: by what a gate sees, which makes them be measured again, and where
/// blocks are left out also by stolen time. Attempts in which one of the cells is missing are left out.
fn of_load(run: &RunRow, blocks: &[Attempts<'_>], leaves_out: bool) -> LoadRepeats {
    let attempts = || blocks.iter().flat_map(|attempts| attempts.values());
    let is_disturbed = |slice: &SliceRow| if leaves_out { is_loud(run, slice) } else { slice.is_disturbed() };
    let outcomes: Vec<BTreeMap<CellId, bool>> = attempts()
        .map(|slices| slices.iter().map(|slice| (slice.cell, is_disturbed(slice))).collect())
        .collect();
    let cells: Vec<CellId> = match outcomes.iter().max_by_key(|outcomes| outcomes.len()) {
        Some(all) => all.keys().copied().collect(),
        None => Vec::new(),
    };
    let complete: Vec<Vec<bool>> = outcomes
        .iter()
        .filter(|outcomes| outcomes.len() == cells.len())
        .map(|outcomes| outcomes.values().copied().collect())
        .collect();
    let of_cell = |(at, cell): (usize, &CellId)| CellRepeats {
        cell: *cell,
        slices: complete.len(),
        disturbed: complete.iter().filter(|outcomes| outcomes[at]).count(),
    };
    LoadRepeats {
        cells: cells.iter().enumerate().map(of_cell).collect(),
        p_holm: cochran_q(&complete, run.plan.seed),
        differ: false,
    }
}

/// Why nothing is claimed of a metric of a cell, if it is a mean or tail and the cells of its load were not disturbed equally often.
pub fn selected(repeats: &Repeats, cell: CellId, metric: &str) -> Option<Remark> {
    let mut loads = repeats.loads.iter();
    let differs = loads.any(|load| load.differ && load.cells.iter().any(|of| of.cell == cell));
    (differs && metrics::is_of_the_tail(metric)).then_some(Remark::RepeatsDiffer)
}

/// Takes the claims of means and tails from contrasts whose cells were not disturbed equally often.
pub fn distrust(repeats: &Repeats, contrasts: &mut [Contrast]) {
    for contrast in contrasts {
        let candidate = contrast.candidate;
        for row in contrast.all_rows_mut() {
            // Both cells of a contrast have the same load.
            if let Some(remark) = selected(repeats, candidate, &row.metric) {
                row.verdict = Verdict::Unresolved;
                (row.p_holm, row.p_equivalent, row.bound, row.resolution) = (None, None, None, None);
                row.note = Some(Statement::of(remark));
            }
        }
    }
}

/// Adds the difference of all first attempts to the rows of means and tails in which it lies outside the interval's half-width.
pub fn compare_with_first_attempts(data: &RunData, counted: &Counted<'_>, contrasts: &mut [Contrast]) {
    let first = first_attempts(&data.run.plan, &data.slices);
    let is_same = |place: &Place, cell: &CellId, attempt: u32| {
        first.get(cell).and_then(|places| places.get(place)).is_some_and(|slice| slice.attempt == attempt)
    };
    let nothing_left_out =
        first.iter().all(|(cell, places)| counted.get(cell).map_or(0, BTreeMap::len) == places.len());
    if nothing_left_out
        && counted
            .iter()
            .all(|(cell, places)| places.iter().all(|(place, slice)| is_same(place, cell, slice.attempt)))
    {
        return;
    }
    let of_slices = metrics::of_slices(&data.run);
    for contrast in contrasts {
        let paired = Paired::new(&first, contrast.baseline, contrast.candidate, contrast.twin);
        for row in contrast.rows.iter_mut().filter(|row| metrics::is_of_the_tail(&row.metric)) {
            let Some(metric) = of_slices.iter().find(|metric| metric.id == row.metric) else { continue };
            let Some(compared) = Compared::new(metric, &paired) else { continue };
            let difference = compared.scale.difference(compared.whole(), compared.baseline_figure());
            let half = row.interval.map(|[low, high]| (high - low) / 2.0);
            let is_outside = half.is_none_or(|half| (difference - row.difference).abs() > half);
            row.first_attempts = (difference.is_finite() && is_outside).then_some(difference);
        }
    }
}
