//! Whether the figures can be trusted: each gate, cell by cell.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::gates::{self, CpuUse, Gate, GateFailure};
use loadline_model::pauses::Pauses;
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, LoadId};

use crate::RunData;
use crate::buckets::merged;
use crate::capacity;
use crate::counted::Counted;
use crate::noise;
use crate::result::{Contrast, GateFigure, GateSummary, Repeats, Statement, Trust};
use crate::times::Times;

/// Share of a cell's slices that may fail a gate, repeats used up, before the cell isn't trusted: their weight in a median or a
/// sum is then too small to carry a verdict.
const TOLERATED: f64 = 0.1;

/// Judges the gates of a run.
pub fn judge(data: &RunData, counted: &Counted<'_>, noise: &[Contrast], repeats: Repeats) -> Trust {
    // A search goes where a service cannot follow; what the generator could not send is no trial.
    let searches = data.run.experiment.capacity.is_some();
    let of_search = searches.then(|| capacity::judged(counted));
    let counted = of_search.as_ref().unwrap_or(counted);
    let slices: Vec<&SliceRow> = counted.values().flat_map(|cell| cell.values().copied()).collect();
    // How busy the load threads are says nothing in an open loop, where they spin before each request.
    let any_closed = data.run.experiment.loads.iter().any(|load| load.load.is_closed());
    let any_watched = slices.iter().any(|slice| Pauses::seen(&slice.observations).is_some());
    let asked = |gate: &Gate| match gate {
        gate if searches => gate.is_disturbance() && (*gate != Gate::Pauses || any_watched),
        Gate::Generator => any_closed,
        // Runs of earlier versions don't know their pauses.
        Gate::Pauses => any_watched,
        _ => true,
    };
    let mut gates: Vec<GateSummary> =
        Gate::OF_A_SLICE.into_iter().filter(asked).map(|gate| summary(gate, data, counted)).collect();
    if !data.run.experiment.plan.is_cold() || !data.warm_ups.is_empty() {
        gates.push(stationary(data));
    }
    Trust {
        trusted: !slices.is_empty() && gates.iter().all(|gate| gate.holds),
        gates,
        slices: data.slices.len(),
        slices_failed: data.slices.iter().filter(|slice| !slice.gate_failures.is_empty()).count(),
        repeats,
        slices_repeated: data.slices.iter().filter(|slice| slice.attempt > 0).count(),
        twins_differ: noise::differences(noise),
    }
}

fn summary(gate: Gate, data: &RunData, counted: &Counted<'_>) -> GateSummary {
    let fails = |slice: &&&SliceRow| slice.gate_failures.iter().any(|failure| failure.gate() == gate);
    // Short disturbances on the services' CPUs are worth a repeat; what other programs took in all is judged below.
    let is_grave =
        |failure: &GateFailure| failure.gate() == gate && !matches!(failure, GateFailure::Taken { .. });
    let holds_in = |cell: &BTreeMap<_, &SliceRow>| {
        let grave = cell.values().filter(|slice| slice.gate_failures.iter().any(is_grave));
        let few = grave.count() as f64 <= TOLERATED * cell.len() as f64;
        match gate {
            // A slice fails it only if the load had too much to do; but whoever made requests late, their lateness is in the response times.
            Gate::SendLag if cell.values().any(|slice| !slice.load.is_closed()) => {
                in_time(cell.values().copied())
            }
            _ => few,
        }
    };
    let mut cells: BTreeSet<CellId> =
        counted.iter().filter(|(_, cell)| !holds_in(cell)).map(|(id, _)| *id).collect();
    if gate == Gate::ForeignCpu {
        cells.extend(beside_others(data, counted));
    }
    // What fails is told by what fails, which among all the others may not look like much.
    let failing: Counted<'_> =
        counted.iter().filter(|(id, _)| cells.contains(id)).map(|(id, cell)| (*id, cell.clone())).collect();
    let told = if cells.is_empty() { counted } else { &failing };
    let slices: Vec<&SliceRow> = told.values().flat_map(|cell| cell.values().copied()).collect();
    GateSummary {
        gate,
        figure: Statement::of(figure(gate, told, &slices)),
        holds: cells.is_empty(),
        cells: cells.into_iter().collect(),
        failed: slices.iter().filter(fails).count(),
        remedy: Statement::of(gate),
    }
}

/// The gate's figure over all slices.
fn figure(gate: Gate, counted: &Counted<'_>, slices: &[&SliceRow]) -> GateFigure {
    let sum = |of: &dyn Fn(&SliceRow) -> u64| slices.iter().map(|slice| of(slice)).sum::<u64>();
    match gate {
        Gate::Rate => {
            let (sent, due) = (sum(&|slice| slice.sent_in_time) as f64, sum(&|slice| slice.due) as f64);
            GateFigure::Sent { share: if due > 0.0 { sent / due } else { 1.0 } }
        }
        Gate::SendLag => {
            // Of the cell that has the largest, as each is judged by its own.
            let of_cell = |cell: &BTreeMap<_, &SliceRow>| {
                merged(Times::SendLag, cell.values().copied()).value_at_quantile(0.99)
            };
            GateFigure::SendLag { p99_ns: counted.values().map(of_cell).max().unwrap_or(0) }
        }
        Gate::Pauses => GateFigure::Paused { ms_per_second: paused(slices) },
        Gate::Errors => GateFigure::Errors { count: sum(&|slice| slice.errors.values().sum()) },
        Gate::Steal => {
            let capacity_ns = sum(&|slice| slice.cpu_use.map_or(0, |cpu| cpu.capacity_ns));
            let steal_ns = sum(&|slice| slice.cpu_use.map_or(0, |cpu| cpu.steal_ns));
            let share = (capacity_ns > 0).then(|| steal_ns as f64 / capacity_ns as f64);
            GateFigure::Stolen { share }
        }
        Gate::ForeignCpu => GateFigure::Foreign { share: foreign_share(slices) },
        // No slice fails the latter.
        Gate::Generator | Gate::Stationary => GateFigure::Generator,
    }
}

/// Whether the requests of a cell, taken together, were sent in time: a few late ones in many slices do no more harm than the same
/// number in one. What waited for a connection, and so for the service, is not late.
fn in_time<'a>(slices: impl Iterator<Item = &'a SliceRow> + Clone) -> bool {
    let of = |times| merged(times, slices.clone());
    let sum = |count: fn(&SliceRow) -> u64| slices.clone().map(count).sum::<u64>() as f64;
    let sent = sum(|slice| slice.sent_in_time + slice.waited) >= gates::SENT_SHARE * sum(|slice| slice.due);
    sent && gates::late(&of(Times::SendLag), &of(Times::Service)).is_none()
}

/// Pauses of 1 ms and more in a second of measuring, ms: `None` when no slice knows them.
fn paused(slices: &[&SliceRow]) -> Option<f64> {
    let known =
        slices.iter().filter_map(|slice| Some((Pauses::seen(&slice.observations)?, slice.duration_s)));
    let (ns, seconds) = known.fold((0, 0.0), |(ns, seconds), (pauses, duration_s)| {
        (ns + pauses.over_1ms.total_ns, seconds + duration_s)
    });
    (seconds > 0.0).then(|| ns as f64 / 1e6 / seconds)
}

/// The cells of the loads during which other programs used too much of the machine. The bound of a short slice is wide, for the kernel tells
/// CPU time in steps, so that of many together is narrower.
fn beside_others(data: &RunData, counted: &Counted<'_>) -> BTreeSet<CellId> {
    let mut loads: BTreeMap<LoadId, (Vec<CellId>, Vec<&SliceRow>)> = BTreeMap::new();
    for (id, cell) in counted {
        let (cells, slices) = loads.entry(data.run.plan.load_of(*id)).or_default();
        cells.push(*id);
        slices.extend(cell.values().copied());
    }
    let is_shared =
        |slices: &[&SliceRow]| foreign_share(slices).is_some_and(|share| share > gates::FOREIGN_SHARE);
    loads.into_values().filter(|(_, slices)| is_shared(slices)).flat_map(|(cells, _)| cells).collect()
}

/// What other programs used of the machine: `None` when it is not known of every slice. Of one short slice it is rough.
fn foreign_share(slices: &[&SliceRow]) -> Option<f64> {
    let uses: Vec<CpuUse> = slices.iter().map(|slice| slice.cpu_use).collect::<Option<_>>()?;
    let foreign_ns: i64 = uses.iter().map(|cpu| cpu.foreign_ns).sum::<Option<i64>>()?;
    let capacity_ns: u64 = uses.iter().map(|cpu| cpu.capacity_ns).sum();
    (capacity_ns > 0).then(|| (foreign_ns as f64 / capacity_ns as f64).max(0.0))
}

/// Whether the warm-ups ended because the cells were warm.
fn stationary(data: &RunData) -> GateSummary {
    let mut by_cell: BTreeMap<CellId, (usize, usize)> = BTreeMap::new();
    for warm_up in &data.warm_ups {
        let (failed, all) = by_cell.entry(warm_up.cell).or_default();
        *failed += usize::from(!warm_up.stationary);
        *all += 1;
    }
    let is_cold = |(failed, all): &(usize, usize)| *failed as f64 > TOLERATED * *all as f64;
    let cells: Vec<CellId> =
        by_cell.iter().filter(|(_, counts)| is_cold(counts)).map(|(cell, _)| *cell).collect();
    let told = by_cell.iter().filter(|(cell, _)| cells.is_empty() || cells.contains(cell));
    let (failed, warm_ups) =
        told.fold((0, 0), |(failed, warm_ups), (_, counts)| (failed + counts.0, warm_ups + counts.1));
    GateSummary {
        gate: Gate::Stationary,
        figure: Statement::of(GateFigure::Stationary { failed, warm_ups }),
        holds: cells.is_empty(),
        cells,
        failed,
        remedy: Statement::of(Gate::Stationary),
    }
}
