//! How long a run continues, and which sites are deployed at the same time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use loadline_model::experiment::Isolation;
use loadline_model::load::{Arrivals, Load};
use loadline_model::notes::Note;
use loadline_model::rows::SliceRow;
use loadline_model::{LoadId, RunState};
use loadline_run::strategy::{BlockContext, FixedPlan, NextRound, RoundsSoFar};
use loadline_run::{Strategy, Turn};

use crate::fake::{World, experiment, with};

#[test]
fn until_deploys_anew_until_the_figures_are_settled() {
    let mut world = World::new(experiment());
    let mut asked = Vec::new();
    let mut is_settled = |deployments| {
        asked.push(deployments);
        deployments == 5
    };
    assert_eq!(world.run_until(&mut is_settled).unwrap().state, RunState::Complete);
    assert_eq!(asked, [2, 3, 4, 5], "not before the planned deployments are measured");
    assert_eq!(world.journal.slices_of(0), 5 * 3);
}

#[test]
fn within_ends_a_run_that_does_not_settle_with_a_note() {
    let mut world = World::new(with(|plan| plan.within = Some(Duration::from_secs(60))));
    assert_eq!(world.run_until(&mut |_| false).unwrap().state, RunState::Complete);
    let elapsed = world.elapsed();
    assert!(elapsed > Duration::from_secs(50) && elapsed <= Duration::from_secs(60), "{elapsed:?}");
    let notes = world.journal.notes.borrow();
    assert!(notes.iter().any(|note| matches!(note, Note::TimeOver { .. })), "{notes:?}");
}

#[test]
fn within_lets_the_first_deployment_be_measured_whatever_it_takes() {
    let mut world = World::new(with(|plan| plan.within = Some(Duration::from_millis(1))));
    world.run().unwrap();
    assert_eq!(world.journal.slices_of(0), 3);
}

#[test]
fn exclusive_isolation_deploys_one_site_at_a_time() {
    let mut world = World::new(with(|plan| plan.isolation = Isolation::Exclusive));
    world.run().unwrap();
    assert_eq!(world.deployer.most_alive.load(Ordering::Relaxed), 1);
    for cell in 0..3 {
        assert_eq!(world.journal.slices_of(cell), 2 * 3);
    }
}

#[test]
fn loads_have_slices_of_their_own_length_and_number() {
    let mut experiment = experiment();
    let mut slow = experiment.loads[0].clone();
    slow.load = Load::Open { rate: "400/s".parse().unwrap(), arrivals: Arrivals::Uniform };
    experiment.loads.push(slow);
    let shortest = experiment.shortest_slice();
    experiment.plan = experiment.plan.with_slices(&experiment.loads, shortest, None, None);
    let experiment = experiment.with_every_cell();
    let mut world = World::new(experiment);
    world.run().unwrap();
    let slices = world.journal.slices.borrow();
    for (load, length_s, blocks) in [(0, 0.05, 30), (1, 0.25, 6)] {
        let cell = world.plan.cell_ids().find(|cell| world.plan.load_of(*cell) == LoadId(load)).unwrap();
        let of_cell: Vec<_> = slices.iter().filter(|slice| slice.cell == cell).collect();
        assert_eq!(of_cell.len(), 2 * blocks, "load {load}");
        assert!(of_cell.iter().all(|slice| slice.duration_s == length_s));
    }
}

#[test]
fn shared_isolation_deploys_all_sites_at_once() {
    let mut world = World::new(experiment());
    world.run().unwrap();
    assert_eq!(world.deployer.most_alive.load(Ordering::Relaxed), 3);
}

/// Halves the rate of a block whenever the one before it was measured, as a search would.
struct Halving<'a> {
    plan: FixedPlan<'a>,
    rate: f64,
    measured: usize,
}

impl Strategy for Halving<'_> {
    fn next_round(&mut self, so_far: RoundsSoFar) -> NextRound {
        self.plan.next_round(so_far)
    }

    fn next_block(&mut self, at: &BlockContext<'_>) -> Option<Vec<Turn>> {
        let mut turns = self.plan.next_block(at)?;
        for visit in turns.iter_mut().flat_map(|turn| &mut turn.visits) {
            visit.load = format!("{}/s", self.rate)
                .parse()
                .map(|rate| Load::Open { rate, arrivals: Arrivals::Uniform })
                .unwrap();
        }
        Some(turns)
    }

    fn measured(&mut self, slice: &SliceRow) {
        self.measured += 1;
        assert!(slice.answered > 0);
        if self.measured.is_multiple_of(3) {
            self.rate /= 2.0;
        }
    }
}

#[test]
fn a_strategy_may_try_loads_that_the_experiment_does_not_list() {
    let experiment = with(|plan| plan.deployments = 1);
    let mut world = World::new(experiment.clone());
    let plan = world.plan.clone();
    let mut search = Halving { plan: FixedPlan::new(&experiment, &plan), rate: 8_000.0, measured: 0 };
    world.run_by(&mut search).unwrap();
    let slices = world.journal.slices.borrow();
    let rates: Vec<f64> =
        slices.iter().filter_map(|slice| slice.load.rate()).map(|rate| rate.as_per_second()).collect();
    assert_eq!(rates, [8_000.0, 8_000.0, 8_000.0, 4_000.0, 4_000.0, 4_000.0, 2_000.0, 2_000.0, 2_000.0]);
}
