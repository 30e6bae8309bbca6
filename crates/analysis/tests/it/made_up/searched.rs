//! Searches made up: of services whose slices are simulated, judged as those of a run are.

use loadline_analysis::{Objectives, RunData};
use loadline_model::experiment::{Bound, Capacity, Objective, SUCCESS};
use loadline_model::load::{Arrivals, Load};
use loadline_model::rows::{Purpose, SliceRow, TrialOutcome, TrialRow};
use loadline_model::{CellId, SparseHistogram};
use loadline_search::{Goal, Next, Patience, Trial, next};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::MadeUp;
use super::noise::normal;

/// Where searches begin, requests a second, and how sure they are to be.
const GOAL: Goal = Goal { from: 500.0, least: 1.0, most: 1e5, precision: 0.02, most_trials: 120 };
/// By how much what a cliff carries differs from slice to slice.
const NOISE: f64 = 0.01;

pub fn objectives() -> Capacity {
    let objective = |text: &str, metric: &str, bound| Objective {
        text: text.into(),
        metric: metric.into(),
        bound,
        unit: None,
    };
    let objectives = vec![
        objective("success >= 99%", SUCCESS, Bound::AtLeast(0.99)),
        objective("p99 <= 50ms", "response.p99", Bound::AtMost(50e6)),
    ];
    Capacity { objectives, precision: GOAL.precision, most: None }
}

/// A search of host and pod, and of the static pod if there is one.
pub struct Searched<S> {
    pub seed: u64,
    pub rounds: u32,
    pub static_pod: bool,
    /// Makes of a slice all of which is answered what is seen of it in a cell and a round.
    pub service: S,
}

impl<S: Fn(CellId, u32, SliceRow, &mut Pcg64) -> SliceRow> Searched<S> {
    pub fn data(&self) -> RunData {
        let mut data = MadeUp {
            seed: self.seed,
            rounds: self.rounds,
            blocks: 1,
            static_pod_us: self.static_pod.then_some(0.0),
            change: |experiment| {
                experiment.plan.twin = false;
                experiment.capacity = Some(objectives());
            },
            ..MadeUp::default()
        }
        .data();
        let template = data.slices[0].clone();
        data.slices.clear();
        let objectives = Objectives::of(&objectives(), &data.run);
        for round in 0..self.rounds {
            for cell in data.run.plan.cell_ids() {
                let seed = (self.seed << 16) + (u64::from(round) << 8) + cell.0 as u64;
                let mut random = Pcg64::seed_from_u64(seed);
                let place = SliceRow { cell, round, ..template.clone() };
                let slices =
                    search(&place, &objectives, |slice| (self.service)(cell, round, slice, &mut random));
                data.slices.extend(slices);
            }
        }
        data
    }
}

/// All trials of a cell in a round.
fn search(
    place: &SliceRow,
    objectives: &Objectives,
    mut service: impl FnMut(SliceRow) -> SliceRow,
) -> Vec<SliceRow> {
    let (mut trials, mut slices) = (Vec::new(), Vec::new());
    let mut patience = Patience::default();
    while let Next::Try(probes) = next(&GOAL, &trials) {
        for probe in probes {
            let mut slice = at_rate(place.clone(), probe.rate, probe.purpose);
            slice.block = slices.len() as u32;
            slice.trial = Some(TrialRow { purpose: probe.purpose, slices: probe.slices });
            let slice = service(slice);
            let passed = objectives.judge(&slice, &mut patience) == TrialOutcome::Passed;
            trials.push(Trial { rate: probe.rate, slices: probe.slices, passed, purpose: probe.purpose });
            slices.push(slice);
        }
    }
    slices
}

/// A service that carries so much in a cell and a round, and nothing beyond: requests take 1 ms, or 60 ms where too many come.
pub fn cliff(carried: impl Fn(CellId, u32) -> f64) -> impl Fn(CellId, u32, SliceRow, &mut Pcg64) -> SliceRow {
    move |cell, round, slice, random| {
        let passes = rate(&slice) <= carried(cell, round) * (NOISE * normal(random)).exp();
        let (service, response) = (times_of(1, slice.due), times_of(if passes { 1 } else { 60 }, slice.due));
        SliceRow { service, response, ..slice }
    }
}

pub fn rate(slice: &SliceRow) -> f64 {
    slice.load.rate().expect("an open loop").as_per_second()
}

/// The slice at a rate all of which is answered.
pub fn at_rate(slice: SliceRow, rate: f64, purpose: Purpose) -> SliceRow {
    let requests = rate as u64;
    SliceRow {
        load: Load::Open { rate: format!("{rate}/s").parse().expect("a rate"), arrivals: Arrivals::Poisson },
        trial: Some(TrialRow { purpose, slices: 1.0 }),
        due: requests,
        sent_in_time: requests,
        answered: requests,
        answered_in_time: requests,
        ..slice
    }
}

pub fn times_of(ms: u64, requests: u64) -> SparseHistogram {
    let mut times = SparseHistogram::default();
    times.record_n(ms * 1_000_000, requests);
    times
}
