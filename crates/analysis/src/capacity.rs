//! The most that services carry: each slice of a search judged by its objectives, and the trials to capacities.

mod findings;
mod knee;

use std::collections::BTreeMap;

use loadline_model::CellId;
use loadline_model::experiment::{CAPACITY, Capacity, Objective, SENT, SUCCESS};
use loadline_model::gates::Gate;
use loadline_model::notes::Note;
use loadline_model::rows::{Purpose, RunRow, SliceRow, TrialOutcome};
use loadline_search::{Confirmed, Estimate, Patience, Trial, bounds, estimate};
use loadline_stats::{holm, t_quantile, two_sided_p};

use crate::RunData;
use crate::buckets::merged;
use crate::contrasts::contrasts;
use crate::counted::{Counted, Place};
use crate::figures::Prepared;
use crate::metrics::{self, Metric};
use crate::result::{
    Capacities, CapacityDifference, Cell, CellCapacity, CurvePoint, Figure, Row, Statement, Unit, Verdict,
};
use crate::times::Times;

/// Share of runs in which a difference may be claimed that there is not.
const LEVEL: f64 = 0.02;
/// Share of runs in which capacities may be called equivalent that are not.
const EQUIVALENCE_LEVEL: f64 = 0.05;
/// Capacities are equivalent within so many times the precision: each of the two is known to that.
const EQUIVALENT_WITHIN: f64 = 2.0;
/// A normal distribution's central 95 % reach so many standard deviations.
const REACH: f64 = 1.96;
/// From so many degrees of freedom on Student's distribution is the normal one.
const MANY: f64 = 1e4;
/// Trials whose rate is within this share of the capacity are near it.
const NEAR: f64 = 0.2;

/// Judges the slices of a search.
pub struct Objectives {
    objectives: Vec<Objective>,
    metrics: Vec<Metric>,
}

impl Objectives {
    /// Those of a search, and that the service keeps up with the rate.
    pub fn of(capacity: &Capacity, run: &RunRow) -> Objectives {
        let keeps_up = Capacity::keeps_up();
        let is_asked = capacity.objectives.iter().any(|objective| objective.metric == keeps_up.metric);
        let objectives = capacity.objectives.iter().cloned().chain((!is_asked).then_some(keeps_up));
        let metrics = metrics::of_slices(run).into_iter().chain(metrics::unlisted(run));
        Objectives { objectives: objectives.collect(), metrics: metrics.collect() }
    }

    /// How a slice went.
    pub fn judge(&self, slice: &SliceRow, patience: &mut Patience) -> TrialOutcome {
        if is_not_sent(slice) {
            return TrialOutcome::NotSent;
        }
        if is_lost(slice, patience) {
            return TrialOutcome::Disturbed;
        }
        let fails = |objective: &Objective| {
            let metric = self.metrics.iter().find(|metric| metric.id == objective.metric);
            let figure = match (objective.metric.as_str(), metric) {
                (SUCCESS, _) => 1.0 - failed(slice) / slice.due.max(1) as f64,
                (SENT, _) => slice.sent_in_time as f64 / slice.due.max(1) as f64,
                (_, Some(metric)) => Prepared::of_slice(metric, slice),
                (_, None) => f64::NAN,
            };
            !objective.bound.holds(figure)
        };
        self.objectives.iter().position(fails).map_or(TrialOutcome::Passed, TrialOutcome::Failed)
    }

    /// As they were written.
    pub fn texts(&self) -> Vec<String> {
        self.objectives.iter().map(|objective| objective.text.clone()).collect()
    }
}

fn fails_any(slice: &SliceRow, gates: [Gate; 2]) -> bool {
    slice.gate_failures.iter().any(|failure| gates.contains(&failure.gate()))
}

fn is_not_sent(slice: &SliceRow) -> bool {
    fails_any(slice, [Gate::SendLag, Gate::Generator])
}

/// Whether a slice that was sent is no trial for what the machine did to the load. What others took of the services' CPUs is left out: how much is
/// usual depends on the rate.
fn is_lost(slice: &SliceRow, patience: &mut Patience) -> bool {
    !is_not_sent(slice) && patience.is_lost(fails_any(slice, [Gate::Pauses, Gate::Steal]))
}

/// The slices that a search's result rests on: all but the trials that were none because the machine disturbed them.
pub fn judged<'a>(counted: &Counted<'a>) -> Counted<'a> {
    let of_cell = |(cell, places): (&CellId, &BTreeMap<Place, &'a SliceRow>)| {
        let mut patiences: BTreeMap<u32, Patience> = BTreeMap::new();
        let mut is_lost = |slice: &SliceRow| is_lost(slice, patiences.entry(slice.round).or_default());
        (
            *cell,
            places
                .iter()
                .filter(|(_, slice)| !is_lost(slice))
                .map(|(place, slice)| (*place, *slice))
                .collect(),
        )
    };
    counted.iter().map(of_cell).collect()
}

/// Requests that failed.
fn failed(slice: &SliceRow) -> f64 {
    slice.errors.values().sum::<u64>() as f64
}

/// A slice of a search and how it went.
struct Tried<'a> {
    slice: &'a SliceRow,
    trial: Trial,
    outcome: TrialOutcome,
}

/// What a run that searches found.
pub fn capacities(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Option<Capacities> {
    let capacity = data.run.experiment.capacity.as_ref()?;
    let objectives = Objectives::of(capacity, &data.run);
    let (cells, found) = searched(data, counted, &objectives);
    let differences = differences(data, &cells, &found, capacity.precision);
    // Searches that took no turns have no block in common.
    let is_joined = data.run.notes.iter().any(|note| matches!(note, Note::NotInterleaved { .. }));
    let blocks = |purpose| if is_joined { Counted::new() } else { of_purpose(counted, purpose) };
    let mut at_their_own = contrasts(data, &blocks(Purpose::Own), confidence);
    for contrast in &mut at_their_own {
        let both = (contrast.baseline, contrast.candidate);
        let is_same = |difference: &&CapacityDifference| (difference.baseline, difference.candidate) == both;
        contrast.rows.extend(differences.iter().find(is_same).and_then(|of| row(of, &cells)));
    }
    Some(Capacities {
        objectives: objectives.texts(),
        bounds: objectives.objectives,
        precision: capacity.precision,
        cells,
        differences,
        at_the_same_rate: contrasts(data, &blocks(Purpose::Common), confidence),
        at_their_own,
    })
}

/// The capacity of each cell of a run, which searches.
pub fn of_cells(data: &RunData, counted: &Counted<'_>, objectives: &Objectives) -> Vec<CellCapacity> {
    searched(data, counted, objectives).0
}

/// The same, each with how sure it is.
fn searched(
    data: &RunData,
    counted: &Counted<'_>,
    objectives: &Objectives,
) -> (Vec<CellCapacity>, Vec<Option<Found>>) {
    let cells = data.run.plan.cell_ids();
    cells.map(|cell| of_cell(data, cell, objectives, &tried(counted, cell, objectives))).unzip()
}

/// The slices in which each cell was at its own capacity: what claims about a search are judged by.
pub fn at_their_own<'a>(counted: &Counted<'a>) -> Counted<'a> {
    of_purpose(counted, Purpose::Own)
}

/// The slices of a search that were for this.
fn of_purpose<'a>(counted: &Counted<'a>, purpose: Purpose) -> Counted<'a> {
    let is_for = |slice: &SliceRow| slice.trial.is_some_and(|trial| trial.purpose == purpose);
    let of_cell = |(cell, places): (&CellId, &BTreeMap<Place, &'a SliceRow>)| {
        let places = places.iter().filter(|(_, slice)| is_for(slice));
        (*cell, places.map(|(place, slice)| (*place, *slice)).collect())
    };
    counted.iter().map(of_cell).collect()
}

/// The slices of a search at what was found: long ones that passed, or at the lower bound. A cell's own figures are of these.
pub fn at_capacity<'a>(counted: &Counted<'a>, capacities: &Capacities) -> Counted<'a> {
    let is_at = |slice: &SliceRow, capacity: &CellCapacity| {
        let rate = slice.load.rate().map(|rate| rate.as_per_second());
        let is = |at: Option<f64>| rate.is_some() && rate == at;
        match slice.trial.map(|trial| trial.purpose) {
            Some(Purpose::Own) => true,
            Some(Purpose::Confirm) => is(capacity.for_longer),
            _ => is(capacity.lower_bound),
        }
    };
    let of_cell = |capacity: &CellCapacity| {
        let slices = counted.get(&capacity.cell)?.iter();
        let at = slices.filter(|(_, slice)| is_at(slice, capacity));
        Some((capacity.cell, at.map(|(place, slice)| (*place, *slice)).collect()))
    };
    capacities.cells.iter().filter_map(of_cell).collect()
}

/// The capacity among the figures of each cell, so that it stands where these do: over a number in which cells differ, for example.
pub fn enter(found: &Capacities, cells: &mut [Cell]) {
    for CellCapacity { cell, rate_per_second, interval, .. } in &found.cells {
        let figure = rate_per_second.map(|value| Figure {
            metric: CAPACITY.to_owned(),
            label: CAPACITY.to_owned(),
            primary: false,
            unit: Unit::PerSecond,
            value,
            t_interval: *interval,
        });
        cells[cell.0].figures.splice(0..0, figure);
    }
}

/// The trials of a cell in the order of measurement.
fn tried<'a>(counted: &Counted<'a>, cell: CellId, objectives: &Objectives) -> Vec<Tried<'a>> {
    let slices = counted.get(&cell).into_iter().flat_map(|places| places.values());
    let mut patiences: BTreeMap<u32, Patience> = BTreeMap::new();
    let tried = |slice: &&'a SliceRow| {
        let (row, rate) = (slice.trial?, slice.load.rate()?.as_per_second());
        let outcome = objectives.judge(slice, patiences.entry(slice.round).or_default());
        let passed = outcome == TrialOutcome::Passed;
        let trial = Trial { rate, slices: row.slices, passed, purpose: row.purpose };
        Some(Tried { slice, trial, outcome })
    };
    slices.filter_map(tried).collect()
}

fn of_cell(
    data: &RunData,
    cell: CellId,
    objectives: &Objectives,
    tried: &[Tried<'_>],
) -> (CellCapacity, Option<Found>) {
    let usable: Vec<&Tried<'_>> = tried.iter().filter(|tried| tried.outcome.is_of_the_service()).collect();
    let trials: Vec<Trial> = usable.iter().map(|tried| tried.trial).collect();
    let rounds = by_round(&usable);
    let found = Found::of(&rounds);
    let bounds = bounds(&trials);
    let rate = found.map(|found| found.rate);
    let carried = found.and_then(|found| carried(&rounds, found.interval[0]));
    let curve = curve(&usable);
    let at_lower = bounds.lower.map(|lower| {
        let at = usable.iter().filter(|tried| tried.trial.counts() && tried.trial.rate == lower);
        achieved(&at.map(|tried| tried.slice).collect::<Vec<&SliceRow>>())
    });
    let capacity = CellCapacity {
        cell,
        rate_per_second: rate,
        interval: found.map(|found| found.interval),
        lower_bound: bounds.lower,
        upper_bound: bounds.upper,
        conditional_throughput: at_lower,
        for_longer: for_longer(&rounds),
        carried_per_second: carried,
        slice_s: data
            .run
            .experiment
            .capacity
            .as_ref()
            .zip(rate)
            .map(|(capacity, rate)| capacity.slice_s(rate)),
        knee: knee::knee(&curve),
        limited_by: rate.and_then(|rate| limited_by(&usable, rate, objectives)),
        generator_limit: generator_limit(tried),
        trials: tried.len(),
        findings: findings::findings(data, cell, tried, &rounds, rate, carried)
            .into_iter()
            .map(Statement::of)
            .collect(),
        curve,
    };
    (capacity, found)
}

/// A capacity and how sure it is.
#[derive(Clone, Copy)]
struct Found {
    rate: f64,
    interval: [f64; 2],
    log: Log,
}

impl Found {
    /// The posterior of a single deployment; of several, Student's interval over the capacities that each has, but no surer than their posteriors
    /// are.
    fn of(rounds: &[Vec<Trial>]) -> Option<Found> {
        let found: Vec<Estimate> = rounds.iter().filter_map(|trials| estimate(trials)).collect();
        if let [Estimate { rate, interval, half_width, .. }] = found[..] {
            let log = Log { value: rate.ln(), standard_error: half_width / REACH, degrees_of_freedom: MANY };
            return Some(Found { rate, interval, log });
        }
        let count = found.len() as f64;
        let value = found.iter().map(|one| one.rate.ln()).sum::<f64>() / count;
        let within = found.iter().map(|one| (one.half_width / REACH).powi(2)).sum::<f64>() / count;
        let between = found.iter().map(|one| (one.rate.ln() - value).powi(2)).sum::<f64>() / (count - 1.0);
        (!found.is_empty()).then(|| {
            let standard_error = (between.max(within) / count).sqrt();
            let log = Log { value, standard_error, degrees_of_freedom: count - 1.0 };
            Found { rate: value.exp(), interval: log.interval().map(f64::exp), log }
        })
    }
}

/// The logarithm of a rate, or of a ratio of two.
#[derive(Clone, Copy)]
struct Log {
    value: f64,
    standard_error: f64,
    degrees_of_freedom: f64,
}

impl Log {
    fn interval(self) -> [f64; 2] {
        let reach = t_quantile(0.975, self.degrees_of_freedom) * self.standard_error;
        [self.value - reach, self.value + reach]
    }

    /// Of the ratio to another rate, by Welch and Satterthwaite.
    fn minus(self, other: Log) -> Log {
        let [one, another] = [self, other].map(|log| log.standard_error.powi(2));
        let spread = one.powi(2) / self.degrees_of_freedom + another.powi(2) / other.degrees_of_freedom;
        Log {
            value: self.value - other.value,
            standard_error: (one + another).sqrt(),
            degrees_of_freedom: (one + another).powi(2) / spread,
        }
    }

    /// How often as much is seen by chance where there is nothing.
    fn p_value(self) -> f64 {
        two_sided_p(self.value / self.standard_error, self.degrees_of_freedom)
    }

    /// How often as little is seen by chance where the ratio is as far from one as the margin, by two one-sided tests.
    fn equivalence_p(self, margin: f64) -> f64 {
        let inside = (margin - self.value.abs()) / self.standard_error;
        let half = two_sided_p(inside, self.degrees_of_freedom) / 2.0;
        if inside > 0.0 { half } else { 1.0 - half }
    }
}

/// The trials of each deployment.
fn by_round(usable: &[&Tried<'_>]) -> Vec<Vec<Trial>> {
    let mut rounds: BTreeMap<u32, Vec<Trial>> = BTreeMap::new();
    for tried in usable {
        rounds.entry(tried.slice.round).or_default().push(tried.trial);
    }
    rounds.into_values().collect()
}

/// What long trials passed in each deployment.
fn for_longer(rounds: &[Vec<Trial>]) -> Option<f64> {
    let each: Option<Vec<f64>> = rounds.iter().map(|trials| Confirmed::of(trials).passed).collect();
    each?.into_iter().reduce(f64::min)
}

/// What is carried for longer in each deployment, by the lower end of the interval over all of them.
fn carried(rounds: &[Vec<Trial>], low: f64) -> Option<f64> {
    let each: Option<Vec<f64>> = rounds.iter().map(|trials| Confirmed::of(trials).carried(low)).collect();
    each?.into_iter().reduce(f64::min)
}

/// Candidates against baselines, of cells of which it is known what they carry for longer.
///
/// The capacity in slices is another one than that in longer slices, of which a few trials alone are known. So the difference and its p-value are
/// those of slices; but where a longer slice failed its interval reaches to what both carry for longer, and a verdict holds for that as well.
fn differences(
    data: &RunData,
    cells: &[CellCapacity],
    found: &[Option<Found>],
    precision: f64,
) -> Vec<CapacityDifference> {
    let both = data.run.plan.planned_contrasts().filter_map(|planned| {
        let (baseline, candidate) = (planned.baseline.0, planned.candidate.0);
        let log = found[candidate]?.log.minus(found[baseline]?.log);
        let for_longer = (cells[candidate].carried_per_second? / cells[baseline].carried_per_second?).ln();
        let [low, high] = log.interval();
        let fails = cells[baseline].fails_for_longer() || cells[candidate].fails_for_longer();
        let interval = if fails { [low.min(for_longer), high.max(for_longer)] } else { [low, high] };
        // What is carried for longer counts where it was seen to be less.
        Some((planned, log, interval, if fails { for_longer } else { log.value }))
    });
    let all: Vec<_> = both.collect();
    let margin = EQUIVALENT_WITHIN * precision;
    let corrected = holm(&all.iter().map(|(_, log, ..)| log.p_value()).collect::<Vec<f64>>());
    all.into_iter()
        .zip(corrected)
        .map(|((planned, log, interval, for_longer), p_holm)| {
            let p_equivalent = log.equivalence_p(margin.ln_1p());
            let is_equivalent = p_equivalent < EQUIVALENCE_LEVEL && for_longer.abs() < margin.ln_1p();
            CapacityDifference {
                baseline: planned.baseline,
                candidate: planned.candidate,
                relative: log.value.exp_m1(),
                interval: interval.map(f64::exp_m1),
                p_holm,
                margin,
                p_equivalent: Some(p_equivalent),
                verdict: match interval {
                    _ if is_equivalent => Verdict::Equivalent,
                    [low, _] if p_holm < LEVEL && low > 0.0 => Verdict::More,
                    [_, high] if p_holm < LEVEL && high < 0.0 => Verdict::Fewer,
                    _ => Verdict::Unresolved,
                },
                // Told once the gates are judged.
                trusted: false,
            }
        })
        .collect()
}

/// A difference among what is compared of each cell at its own capacity, where conditions find it.
fn row(difference: &CapacityDifference, cells: &[CellCapacity]) -> Option<Row> {
    let rate = |cell: CellId| cells[cell.0].rate_per_second;
    let (baseline, candidate) = (rate(difference.baseline)?, rate(difference.candidate)?);
    Some(Row {
        metric: CAPACITY.to_owned(),
        label: CAPACITY.to_owned(),
        primary: false,
        unit: Unit::PerSecond,
        baseline,
        candidate,
        difference: candidate - baseline,
        relative: Some(difference.relative),
        interval: Some(difference.interval.map(|end| end * baseline)),
        degrees_of_freedom: None,
        p_holm: Some(difference.p_holm),
        margin: difference.margin * baseline,
        p_equivalent: difference.p_equivalent,
        bound: None,
        resolution: None,
        first_attempts: None,
        verdict: difference.verdict,
        trusted: difference.trusted,
        note: None,
        block_differences: Vec::new(),
    })
}

/// What most of the failing trials near the capacity failed.
fn limited_by(usable: &[&Tried<'_>], rate: f64, objectives: &Objectives) -> Option<String> {
    let mut counts = vec![0; objectives.objectives.len()];
    for tried in usable.iter().filter(|tried| (tried.trial.rate / rate).ln().abs() <= NEAR) {
        if let TrialOutcome::Failed(objective) = tried.outcome {
            counts[objective] += 1;
        }
    }
    let (most, count) = counts.iter().enumerate().max_by_key(|(_, count)| **count)?;
    (*count > 0).then(|| objectives.objectives[most].text.clone())
}

/// From the least CPU time that a request cost a load thread in a slice.
fn generator_limit(tried: &[Tried<'_>]) -> Option<f64> {
    let each_ns = tried.iter().filter_map(|tried| {
        let slice = tried.slice;
        let worked_ns = slice.load_cpu_ns.saturating_sub(slice.load_spun_ns?);
        (slice.answered > 0 && worked_ns > 0).then(|| worked_ns as f64 / slice.answered as f64)
    });
    each_ns.reduce(f64::min).map(|ns| 1e9 / ns)
}

/// Answered before the slices were over, requests a second.
fn achieved(slices: &[&SliceRow]) -> f64 {
    let seconds: f64 = slices.iter().map(|slice| slice.duration_s).sum();
    slices.iter().map(|slice| slice.answered_in_time as f64).sum::<f64>() / seconds
}

fn curve(usable: &[&Tried<'_>]) -> Vec<CurvePoint> {
    let mut points: BTreeMap<(u64, Purpose), Vec<&Tried<'_>>> = BTreeMap::new();
    for tried in usable {
        // Rates are positive, whose bits are in their order.
        points.entry((tried.trial.rate.to_bits(), tried.trial.purpose)).or_default().push(tried);
    }
    let point = |((bits, purpose), tried): ((u64, Purpose), Vec<&Tried<'_>>)| {
        let slices: Vec<&SliceRow> = tried.iter().map(|tried| tried.slice).collect();
        let times = merged(Times::Response, slices.iter().copied());
        let due: f64 = slices.iter().map(|slice| slice.due as f64).sum();
        let passed = tried.iter().filter(|tried| tried.trial.passed).count();
        CurvePoint {
            rate_per_second: f64::from_bits(bits),
            achieved_per_second: achieved(&slices),
            success: 1.0 - slices.iter().map(|slice| failed(slice)).sum::<f64>() / due.max(1.0),
            p50_ns: times.value_at_quantile(0.5),
            p99_ns: times.value_at_quantile(0.99),
            passed,
            failed: tried.len() - passed,
            purpose,
        }
    };
    points.into_iter().map(point).collect()
}
