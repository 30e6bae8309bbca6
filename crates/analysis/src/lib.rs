//! From the rows of a run to its result: figures, contrasts, verdicts, trust. Reads no clock, does no I/O, and words nothing: what it
//! finds is typed, and `report` says it. The result of a single load is made here, too.

mod buckets;
mod capacity;
mod carried;
mod cells;
mod claims;
mod compared;
mod conditions;
mod contrasts;
mod counted;
mod decide;
mod deployments;
mod doctor;
mod figures;
mod history;
mod joined;
mod joint;
mod ladder;
mod load;
mod median;
mod metrics;
mod noise;
mod of_deployments;
mod pace;
mod repeats;
mod requests;
mod runtimes;
mod sample;
mod scalability;
mod scale;
mod seconds;
mod seen;
mod settle;
mod so_far;
mod starts;
mod sweeps;
mod tails;
mod thread_rates;
mod throttling;
mod times;
mod trust;
mod two_kinds;
mod verdicts;

use loadline_model::experiment::PlanSpec;
use loadline_model::has_own_key;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Note;

pub use capacity::Objectives;
pub use decide::{Undecidable, decide};
pub use doctor::{Examination, doctor_result};
pub use history::Chronicle;
pub use joined::{NamedRun, NotComparable, changed_daemons, changed_limits, changes, comparable, join};
pub use load::{LoadRun, load_result};
pub use loadline_model::result;
pub use loadline_model::rows::RunData;
pub use pace::{Left, Pace};
pub use seconds::Seconds;
pub use settle::{StillOpen, look_at, still_open};
pub use so_far::Watch;
pub use thread_rates::ThreadRates;

use result::{PlanInfo, RunInfo, RunResult, SCHEMA, Statement};

/// Error of an interval: one in twenty leaves out the truth.
const ALPHA: f64 = 0.05;

/// Judges a run.
pub fn analyse(data: &RunData) -> RunResult {
    let counted = counted::counted(&data.run, &data.slices);
    let blocks_measured = sample::blocks(data, &counted);
    let rounds = sample::rounds(data, &counted);
    let confidence = settle::confidence(&data.run.experiment);
    let repeats = repeats::repeats(data, &counted);
    let capacities = capacity::capacities(data, &counted, confidence);
    // The slices of a search have a rate each, and are not compared with each other.
    let compares = capacities.is_none();
    let mut noise = if compares { noise::contrasts(data, &counted, confidence) } else { Vec::new() };
    let mut contrasts = if compares { contrasts::contrasts(data, &counted, confidence) } else { Vec::new() };
    requests::judge(data, &counted, &mut contrasts, confidence);
    for contrasts in [&mut contrasts, &mut noise] {
        repeats::compare_with_first_attempts(data, &counted, contrasts);
        repeats::distrust(&repeats, contrasts);
    }
    let ladders = ladder::ladders(data, &counted, confidence, &contrasts);
    let own = (!compares).then(|| capacity::at_their_own(&counted));
    let trust = trust::judge(data, &counted, &noise, repeats);
    let claims = claims::claims(data, own.as_ref().unwrap_or(&counted), &trust, confidence);
    let mut capacities = capacities;
    let of_search = capacities
        .iter_mut()
        .flat_map(|found| found.at_the_same_rate.iter_mut().chain(&mut found.at_their_own));
    for contrast in contrasts.iter_mut().chain(&mut noise).chain(of_search) {
        let trusted = trust.trusts(contrast.cells());
        contrast.all_rows_mut().for_each(|row| row.trusted = trusted);
    }
    for difference in capacities.iter_mut().flat_map(|found| &mut found.differences) {
        difference.trusted = trust.trusts([difference.baseline, difference.candidate]);
    }
    let judged = capacities.as_ref().map_or(&contrasts, |found| &found.at_their_own);
    let conditions = conditions::conditions(data, judged);
    let of_cells = capacities.as_ref().map(|found| capacity::at_capacity(&counted, found));
    let mut cells = cells::cells(data, of_cells.as_ref().unwrap_or(&counted));
    if let Some(found) = &capacities {
        capacity::enter(found, &mut cells);
    }
    let slices = cells::slices(data, &counted);
    let seconds_to_settle = settle::seconds_to_settle(data, rounds, confidence, &contrasts);
    RunResult {
        schema: SCHEMA.to_owned(),
        run: run_info(data),
        machine: data.run.machine.clone(),
        plan: PlanInfo {
            slice_s: data.run.experiment.plan.slice.as_secs_f64(),
            longest_slice_s: longest_slice_s(&data.run.experiment.plan),
            blocks: data.run.experiment.plan.blocks,
            deployments: rounds,
            deployments_planned: data.run.experiment.plan.deployments,
            blocks_measured,
            confidence,
            interval_method: Statement::of(settle::interval_method(&data.run.experiment, rounds)),
            service_cpus: data.run.service_cpus.clone(),
            load_cpus: data.run.load_cpus.clone(),
            until: data.run.experiment.plan.until.clone(),
            seconds_to_settle,
        },
        cells,
        contrasts,
        noise,
        sweeps: sweeps::sweeps(&data.run.experiment, &data.run.plan),
        scalability: if compares {
            scalability::scalability(data, &counted::all_blocks(&data.run.plan, &data.slices), confidence)
        } else {
            Vec::new()
        },
        capacities,
        ladders,
        claims,
        conditions,
        starts: starts::starts(data),
        runtimes: runtimes::runtimes(data, &counted),
        surroundings: data.run.surroundings.clone(),
        trust,
        metrics: declared(data),
        slices,
        notes: notes(data, &counted, rounds),
    }
}

/// The length of the longest slice, where loads have slices of several lengths.
fn longest_slice_s(plan: &PlanSpec) -> Option<f64> {
    plan.slices.iter().map(|slices| slices.length).max().map(|longest| longest.as_secs_f64())
}

/// The metrics whose unit a reader of the slices would not know otherwise.
fn declared(data: &RunData) -> Vec<MetricDeclaration> {
    data.run.metrics.iter().filter(|metric| !has_own_key(&metric.name)).cloned().collect()
}

fn run_info(data: &RunData) -> RunInfo {
    let run = &data.run;
    RunInfo {
        id: run.id,
        name: run.experiment.name.clone(),
        question: run.experiment.question.clone(),
        started: run.started.clone(),
        finished: run.finished.clone(),
        state: run.state,
        failures: run.failures.iter().map(|failure| failure.text.clone()).collect(),
        command_line: run.command_line.clone(),
        version: run.version.clone(),
        seed: run.experiment.plan.seed,
        time_spent: run.time_spent,
        tags: run.tags.clone(),
        experiment: serde_json::to_value(&run.experiment).unwrap_or_default(),
    }
}

fn notes(data: &RunData, counted: &counted::Counted<'_>, rounds: u32) -> Vec<Statement<Note>> {
    let alone = (rounds == 1).then_some(Note::OneDeployment);
    let warmth = match data.run.experiment.plan.is_cold() {
        true => Some(Note::Cold),
        false => runtimes::still_compiling(data, counted),
    };
    data.run.notes.iter().cloned().chain(alone).chain(warmth).map(Statement::of).collect()
}
