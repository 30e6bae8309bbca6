//! The order of a run follows from the experiment and its seed.

use std::collections::BTreeSet;
use std::time::Duration;

use loadline_model::experiment::{Experiment, Isolation};
use loadline_model::plan::{Plan, Role};
use loadline_model::{CellId, LoadId};
use loadline_run::order::Order;
use loadline_spec::{Flags, Machine, from_flags};
use proptest::prelude::*;

fn experiment(services: &[&str], on: &[&str], rates: &[&str], seed: u64) -> Experiment {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let flags = Flags { services: owned(services), on: owned(on), rates: owned(rates), ..Flags::default() }
        .with("--seed", &seed.to_string());
    from_flags(&flags, &Machine::this(&|_, _| Ok(()))).unwrap()
}

/// Cells that are measured together, with the offsets of their schedules.
type Group = Vec<(CellId, Duration)>;

fn order_of(plan: &Plan) -> Order {
    Order::new(plan.seed)
}

fn order(plan: &Plan, rounds: u32) -> Vec<Vec<Group>> {
    let cells: Vec<CellId> = plan.cell_ids().collect();
    (0..rounds).map(|round| order_of(plan).block(plan, round, 0, &cells, &[], &|_| Duration::ZERO)).collect()
}

#[test]
fn platforms_are_judged_against_the_first_with_their_own_service() {
    let plan = Plan::new(&experiment(&["orders", "hello"], &["host", "pod"], &["10/s", "20/s"], 1));
    let against = |cell: CellId| {
        let contrast = plan.contrasts.iter().find(|contrast| contrast.candidate == cell);
        contrast.map(|contrast| contrast.baseline.0)
    };
    let described: Vec<(usize, usize, bool, Role, Option<usize>)> = plan
        .cell_ids()
        .take(5)
        .map(|id| {
            let (site, role) = (plan.site_of(id), plan.cell(id).role);
            (site.service.0, site.platform.0, site.twin, role, against(id))
        })
        .collect();
    assert_eq!(
        described,
        [
            (0, 0, false, Role::Baseline, None),
            (0, 0, true, Role::Twin, Some(0)),
            (0, 1, false, Role::Candidate, Some(0)),
            (1, 0, false, Role::Candidate, Some(0)),
            (1, 1, false, Role::Candidate, Some(3)),
        ]
    );
    assert_eq!(plan.cells.len(), 10);
    assert_eq!(against(CellId(9)), Some(8), "contrasts stay within a load");
}

#[test]
fn the_same_seed_gives_the_same_plan_and_another_seed_another() {
    let plan = |seed| Plan::new(&experiment(&["orders"], &["host", "pod", "container"], &["10/s"], seed));
    assert_eq!(order(&plan(7), 20), order(&plan(7), 20));
    assert_ne!(order(&plan(7), 20), order(&plan(8), 20));
}

#[test]
fn every_order_of_cells_comes_about_equally_often() {
    let plan = Plan::new(&experiment(&["orders"], &["host", "pod"], &["10/s"], 7));
    let mut first = [0; 3];
    for groups in order(&plan, 3000) {
        assert!(groups.iter().all(|group| group.len() == 1), "cells are interleaved by slice");
        first[groups[0][0].0.0] += 1;
    }
    // Binomial with n = 3000 and p = 1/3: standard deviation 26; four of them.
    assert!(first.iter().all(|count| (900..=1100).contains(count)), "{first:?}");
}

#[test]
fn cells_of_a_block_share_their_schedule_and_blocks_do_not() {
    let plan = Plan::new(&experiment(&["orders"], &["host", "pod"], &["10/s"], 7));
    let seeds: BTreeSet<u64> = (0..4)
        .flat_map(|round| (0..4).map(move |block| (round, block)))
        .map(|(r, b)| order_of(&plan).schedule_seed(r, b, LoadId(0)))
        .collect();
    assert_eq!(seeds.len(), 16);
    assert_ne!(
        order_of(&plan).schedule_seed(0, 0, LoadId(0)),
        order_of(&plan).schedule_seed(0, 0, LoadId(1))
    );
}

#[test]
fn cells_of_a_load_have_adjacent_turns_and_loads_come_in_any_order() {
    let plan = Plan::new(&experiment(&["orders"], &["host", "pod"], &["10/s", "20/s", "30/s"], 7));
    let loads_of = |groups: Vec<Group>| -> Vec<LoadId> {
        let mut loads: Vec<LoadId> = groups.iter().map(|group| plan.load_of(group[0].0)).collect();
        loads.dedup();
        loads
    };
    let orders: BTreeSet<Vec<LoadId>> = order(&plan, 200).into_iter().map(loads_of).collect();
    assert_eq!(orders.len(), 6, "every order of three loads, each load once: {orders:?}");
    assert!(orders.iter().all(|order| order.len() == 3));
}

#[test]
fn side_by_side_cells_of_a_load_share_a_turn_and_spread_over_the_gap() {
    let plan = Plan::new(&experiment(&["orders"], &["host", "pod"], &["100/min", "2000/s"], 7));
    let cells: Vec<CellId> = plan.cell_ids().collect();
    let gap = |_| Duration::from_millis(600);
    let groups = order_of(&plan).block(&plan, 0, 0, &cells, &[0, 1, 2].map(CellId), &gap);
    assert_eq!(groups.len(), 4);
    let mut together = groups.into_iter().find(|group| group.len() > 1).unwrap();
    together.sort_by_key(|(_, offset)| *offset);
    let offsets: Vec<u128> = together.iter().map(|(_, offset)| offset.as_millis()).collect();
    assert_eq!(offsets, [0, 200, 400]);
}

#[test]
fn exclusive_isolation_deploys_one_site_at_a_time() {
    let plan = Plan::new(&experiment(&["orders"], &["host", "pod"], &["10/s"], 7));
    let shared = order_of(&plan).stages(&plan, Isolation::Shared, 0);
    assert_eq!((shared.len(), shared[0].len()), (1, 3));
    let exclusive = order_of(&plan).stages(&plan, Isolation::Exclusive, 0);
    assert!(exclusive.iter().all(|stage| stage.len() == 1));
    assert_eq!(exclusive.iter().flatten().collect::<BTreeSet<_>>().len(), 3);
}

proptest! {
    #[test]
    fn a_block_visits_every_cell_once(seed: u64, round in 0u32..1000, block in 0u32..1000) {
        let plan = Plan::new(&experiment(&["orders", "hello"], &["host", "pod"], &["10/s", "20/s"], seed % 1_000_000));
        let cells: Vec<CellId> = plan.cell_ids().collect();
        let groups = order_of(&plan).block(&plan, round, block, &cells, &[], &|_| Duration::ZERO);
        let mut visited: Vec<CellId> = groups.into_iter().flatten().map(|(cell, _)| cell).collect();
        visited.sort_unstable();
        prop_assert_eq!(visited, cells);
    }
}
