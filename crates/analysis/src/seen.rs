//! What the profiler saw, per request: CPU time by layer of the kernel, and how it differs from the baseline.
//!
//! It is a second answer to what a layer costs, from other slices and by other means than the contrasts.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::CellId;
use loadline_model::profile::{Layer, SoftirqReasons};
use loadline_model::rows::ProfileRow;
use loadline_stats::t_interval;

use crate::RunData;
use crate::result::{Estimate, Row, Seen, SeenDifference, SeenLayer, SoftirqReason, UnknownFunction};

/// The metric that the profile is held against.
const METRIC: &str = "cpu.path";
/// By how much of a cost what is seen of it may be off, because sampling delays what it watches: 26 µs that were planted were seen as
/// 28, four times out of four (`tests/it/prove/planted_cost.rs` of the program).
const DISTURBANCE: f64 = 0.1;
/// Deployments that were profiled before the two answers are held against each other: of fewer the interval is so wide (Student's t) that
/// hardly any two disagree.
const LEAST_ROUNDS: usize = 4;
/// Names of what is no layer of the kernel.
const USER_SERVICE: &str = "user: service";
const USER_LOAD: &str = "user: load";
const UNKNOWN: &str = "unknown";
/// Functions without a layer that are named, the costliest first.
const NAMED: usize = 10;

/// Reasons with fewer raises per request are the machine's own business.
const LEAST_RAISES: f64 = 0.01;

/// CPU time per request by layer, ns.
type ByLayer = BTreeMap<String, f64>;

/// What was seen of a cell over all its profiled slices.
pub fn seen(data: &RunData, cell: CellId) -> Option<Seen> {
    let rows: Vec<&ProfileRow> = of_cell(data, cell).collect();
    let (first, rest) = rows.split_first()?;
    let mut profile = first.profile.clone();
    // A slice with another period is left out of the samples' own numbers.
    rest.iter().for_each(|row| drop(profile.merge(&row.profile)));
    let requests: u64 = rows.iter().map(|row| row.answered).sum();
    let mut cpu_ns_by_layer = ByLayer::new();
    let slowdown = slowdown(data);
    for row in &rows {
        let share = row.answered as f64 / requests as f64;
        for (layer, ns) in by_layer(row, slowdown) {
            *cpu_ns_by_layer.entry(layer).or_default() += ns * share;
        }
    }
    let unknown_ns: u64 = profile.unknown_ns.values().sum();
    let mut unknown: Vec<UnknownFunction> = profile
        .unknown_ns
        .iter()
        .map(|(function, ns)| UnknownFunction {
            function: function.clone(),
            share: *ns as f64 / unknown_ns.max(1) as f64,
        })
        .collect();
    unknown.sort_by(|left, right| right.share.total_cmp(&left.share));
    unknown.truncate(NAMED);
    Some(Seen {
        requests,
        samples: profile.samples,
        lost: profile.lost,
        cpu_ns_by_layer,
        unknown_share: profile.unknown_share(),
        unknown,
        softirqs: softirqs(&rows),
    })
}

fn of_cell(data: &RunData, cell: CellId) -> impl Iterator<Item = &ProfileRow> {
    data.profiles.iter().filter(move |row| row.cell == cell && row.answered > 0)
}

/// How many times as long requests took for being sampled, over all profiles: every sample interrupts what it hits, for longer than it seems,
/// because the clock that samples cannot sample itself. 1 where that was not measured.
fn slowdown(data: &RunData) -> f64 {
    let costs = || data.profiles.iter().filter_map(|row| row.profile.cost);
    let (with, without) =
        (costs().map(|cost| cost.with).sum::<f64>(), costs().map(|cost| cost.without).sum::<f64>());
    if without > 0.0 { (with / without).max(1.0) } else { 1.0 }
}

/// Everything on the path but the profiling itself, nor what it slows.
fn by_layer(row: &ProfileRow, slowdown: f64) -> ByLayer {
    let profile = &row.profile;
    let kernel =
        profile.kernel_ns.iter().filter(|(layer, _)| !matches!(layer, Layer::Profiler | Layer::Idle));
    let kernel = kernel.map(|(layer, ns)| (layer.to_string(), *ns));
    let rest = [
        (USER_SERVICE.to_owned(), profile.user_ns.service),
        (USER_LOAD.to_owned(), profile.user_ns.load),
        (UNKNOWN.to_owned(), profile.unknown_ns.values().sum()),
    ];
    kernel.chain(rest).map(|(layer, ns)| (layer, ns as f64 / slowdown / row.answered.max(1) as f64)).collect()
}

fn softirqs(rows: &[&ProfileRow]) -> Vec<SoftirqReason> {
    let (mut all, mut requests) = (SoftirqReasons::default(), 0);
    for reasons in rows.iter().filter_map(|row| row.reasons.as_ref()) {
        all.merge(&reasons.reasons);
        requests += reasons.answered;
    }
    if requests == 0 {
        return Vec::new();
    }
    let network = all.raises.iter().filter(|(vector, _)| vector.starts_with("NET_"));
    let mut reasons: Vec<SoftirqReason> = network
        .flat_map(|(vector, reasons)| reasons.iter().map(move |reason| (vector, reason)))
        .map(|(vector, reason)| SoftirqReason {
            vector: vector.clone(),
            function: reason.function.clone(),
            layer: reason.layer.map(|layer| layer.to_string()),
            per_request: reason.count as f64 / requests as f64,
        })
        .filter(|reason| reason.per_request >= LEAST_RAISES)
        .collect();
    reasons.sort_by(|left, right| right.per_request.total_cmp(&left.per_request));
    reasons
}

/// How what was seen of a cell differs from its baseline, deployment by deployment; `rows` are the contrast's own answers.
pub fn difference(
    data: &RunData,
    cell: CellId,
    baseline: CellId,
    rows: &[Row],
    confidence: f64,
) -> Option<SeenDifference> {
    let slowdown = slowdown(data);
    let rounds: Vec<(ByLayer, ByLayer)> = of_cell(data, cell)
        .filter_map(|here| {
            let there = of_cell(data, baseline).find(|there| there.round == here.round)?;
            Some((by_layer(here, slowdown), by_layer(there, slowdown)))
        })
        .collect();
    if rounds.is_empty() {
        return None;
    }
    let difference = |of: &dyn Fn(&ByLayer) -> f64| {
        let differences: Vec<f64> = rounds.iter().map(|(here, there)| of(here) - of(there)).collect();
        let interval = t_interval(&differences, confidence).map(|interval| [interval.low, interval.high]);
        Estimate {
            value: differences.iter().sum::<f64>() / differences.len() as f64,
            interval: interval.filter(|ends| ends.iter().all(|end| end.is_finite())),
        }
    };
    let names: BTreeSet<&String> =
        rounds.iter().flat_map(|(here, there)| here.keys().chain(there.keys())).collect();
    let mut layers: Vec<SeenLayer> = names
        .into_iter()
        .map(|name| SeenLayer {
            layer: name.clone(),
            difference: difference(&|layers| layers.get(name).copied().unwrap_or(0.0)),
        })
        .collect();
    layers.sort_by(|left, right| right.difference.value.total_cmp(&left.difference.value));
    let total = difference(&|layers| layers.values().sum());
    let agrees = agrees(&total, rows).filter(|_| rounds.len() >= LEAST_ROUNDS);
    Some(SeenDifference { agrees, total, layers })
}

/// Whether the two answers are the same within the margin, or surely not; they come from different slices.
fn agrees(seen: &Estimate, rows: &[Row]) -> Option<bool> {
    let row = rows.iter().find(|row| row.metric == METRIC)?;
    let half = |[low, high]: [f64; 2]| (high - low) / 2.0;
    let by_chance = half(seen.interval?).hypot(half(row.interval?));
    let margin = row.margin.max(DISTURBANCE * row.difference.abs());
    let apart = (seen.value - row.difference).abs();
    match () {
        () if apart + by_chance <= margin => Some(true),
        () if apart - by_chance > margin => Some(false),
        () => None,
    }
}
