//! The search for what cells carry: which trials come in which block, and how it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::CellId;
use loadline_model::experiment::{Capacity, Experiment};
use loadline_model::load::{Arrivals, Load};
use loadline_model::notes::Note;
use loadline_model::rows::{Purpose, SliceRow, TrialOutcome};
use loadline_run::strategy::{Patience, SearchCapacity};
use loadline_search::{Trial, estimate};

use crate::fake::{World, with};

/// What host, its twin and the pod carry, requests a second. Searches begin at 2000/s.
const CARRIED: [f64; 3] = [4_100.0, 3_900.0, 3_000.0];
/// The purposes of trials that belong to a cell's search.
const OF_THE_SEARCH: [Purpose; 4] = [Purpose::Search, Purpose::Confirm, Purpose::Overload, Purpose::Recover];

/// A slice of a search.
#[derive(Clone, Copy, Debug)]
struct Tried {
    round: u32,
    block: u32,
    cell: CellId,
    rate: f64,
    slices: f64,
    purpose: Purpose,
    begins_s: f64,
}

fn rate_of(slice: &SliceRow) -> f64 {
    slice.load.rate().expect("an open loop").as_per_second()
}

/// Whether the cell of a slice carries its rate.
fn by_rate(slice: &SliceRow) -> TrialOutcome {
    if rate_of(slice) <= CARRIED[slice.cell.0] { TrialOutcome::Passed } else { TrialOutcome::Failed(0) }
}

/// Searches in so many deployments, each slice judged by `judge`; returns the slices in order.
fn search(
    deployments: u32,
    within: Option<Duration>,
    judge: fn(&SliceRow) -> TrialOutcome,
) -> (World, Vec<Tried>) {
    search_in(with(|plan| (plan.deployments, plan.within) = (deployments, within)), judge)
}

/// The search of an experiment.
fn search_in(mut experiment: Experiment, judge: fn(&SliceRow) -> TrialOutcome) -> (World, Vec<Tried>) {
    let capacity = Capacity { objectives: Vec::new(), precision: 0.02, most: None };
    experiment.capacity = Some(capacity.clone());
    let mut world = World::new(experiment.clone());
    let plan = world.plan.clone();
    let judge = |slice: &SliceRow, _: &mut Patience| judge(slice);
    world.run_by(&mut SearchCapacity::new(&experiment, &capacity, &plan, &judge)).unwrap();
    let tried = |slice: &SliceRow| {
        let trial = slice.trial.expect("a slice of a search");
        Tried {
            round: slice.round,
            block: slice.block,
            cell: slice.cell,
            rate: rate_of(slice),
            slices: trial.slices,
            purpose: trial.purpose,
            begins_s: slice.at_s,
        }
    };
    let tried = world.journal.slices.borrow().iter().map(tried).collect();
    (world, tried)
}

fn of_cell(tried: &[Tried], cell: usize) -> Vec<Tried> {
    tried.iter().copied().filter(|one| one.cell == CellId(cell)).collect()
}

/// What the trials of a cell say of what it carries.
fn found(trials: &[Tried]) -> f64 {
    let trial = |one: &Tried| {
        let Tried { rate, slices, purpose, cell, .. } = *one;
        Trial { rate, slices, passed: rate <= CARRIED[cell.0], purpose }
    };
    estimate(&trials.iter().map(trial).collect::<Vec<Trial>>()).expect("a capacity").rate
}

#[test]
fn each_block_has_one_trial_of_every_cell_whose_search_goes_on() {
    let (_, tried) = search(1, None, by_rate);
    let searches: Vec<Vec<u32>> = (0..CARRIED.len())
        .map(|cell| {
            let trials = of_cell(&tried, cell);
            let of_the_search = trials.iter().filter(|one| OF_THE_SEARCH.contains(&one.purpose));
            of_the_search.map(|one| one.block).collect()
        })
        .collect();
    for (cell, blocks) in searches.iter().enumerate() {
        let every = (0..blocks.len() as u32).collect::<Vec<u32>>();
        assert_eq!(*blocks, every, "cell {cell}: one in each block from the first on");
    }
    let longest = searches.iter().map(Vec::len).max();
    let compared = tried.iter().find(|one| !OF_THE_SEARCH.contains(&one.purpose)).expect("a comparison");
    assert_eq!(Some(compared.block as usize), longest, "once the last search is over");
}

#[test]
fn nothing_but_overloads_comes_between_an_overload_and_the_trial_after_it() {
    let (_, tried) = search(1, None, by_rate);
    for (cell, carried) in CARRIED.into_iter().enumerate() {
        let trials = of_cell(&tried, cell);
        let overloads: Vec<usize> =
            (0..trials.len()).filter(|at| trials[*at].purpose == Purpose::Overload).collect();
        assert_eq!(overloads.len(), 2, "cell {cell}");
        for at in overloads {
            assert!(trials[at].rate > carried, "{:?}", trials[at]);
            assert_eq!(trials[at + 1].purpose, Purpose::Recover, "cell {cell}");
            assert!(trials[at + 1].rate < carried, "{:?}", trials[at + 1]);
        }
    }
    let mut after_overload = false;
    for one in &tried {
        match one.purpose {
            Purpose::Overload => after_overload = true,
            Purpose::Recover => assert!(after_overload, "{one:?}"),
            _ => after_overload = false,
        }
    }
}

#[test]
fn a_rate_that_was_twice_not_sent_is_the_generators_limit_in_all_deployments() {
    const SENT: f64 = 2_900.0;
    let (world, tried) = search(2, None, |slice| match rate_of(slice) > SENT {
        true => TrialOutcome::NotSent,
        false => by_rate(slice),
    });
    for cell in 0..CARRIED.len() {
        let rates: Vec<f64> = of_cell(&tried, cell).iter().map(|one| one.rate).collect();
        let unsent: Vec<f64> = rates.iter().copied().filter(|rate| *rate > SENT).collect();
        // 4000/s, 0.95 of it, and so on: each is tried again once, then never.
        assert_eq!(unsent[..2], [4_000.0; 2], "{rates:?}");
        for pair in unsent.chunks(2) {
            assert_eq!(pair[0], pair[1], "{rates:?}");
        }
        let steps = unsent.chunks(2).map(|pair| pair[0]).collect::<Vec<f64>>();
        assert!(steps.windows(2).all(|two| (two[1] / two[0] - 0.95).abs() < 1e-3), "{steps:?}");
        // All that can be sent is carried: the search ends there.
        let last = *rates.last().expect("a trial");
        assert!(last <= SENT && last > 0.95 * SENT, "{rates:?}");
        let again = of_cell(&tried, cell).into_iter().filter(|one| one.round == 1);
        assert!(again.clone().count() > 0 && again.into_iter().all(|one| one.rate <= SENT), "known by then");
    }
    assert!(world.journal.notes.borrow().is_empty());
}

#[test]
fn cells_are_compared_at_the_smallest_of_their_capacities_and_each_at_its_own_in_turns() {
    let (_, tried) = search(1, None, by_rate);
    let mut blocks: BTreeMap<u32, Vec<Tried>> = BTreeMap::new();
    for one in tried.iter().filter(|one| !OF_THE_SEARCH.contains(&one.purpose)) {
        blocks.entry(one.block).or_default().push(*one);
    }
    let purposes: Vec<Purpose> = blocks.values().map(|block| block[0].purpose).collect();
    assert_eq!(purposes, [Purpose::Common, Purpose::Own].repeat(8));
    let own: BTreeMap<CellId, f64> =
        blocks.values().nth(1).expect("a block").iter().map(|one| (one.cell, one.rate)).collect();
    for (cell, carried) in CARRIED.into_iter().enumerate() {
        let own = own[&CellId(cell)];
        assert!(own <= carried && own > 0.95 * carried, "cell {cell}: {own}");
    }
    let least = own.values().copied().fold(f64::INFINITY, f64::min);
    for one in blocks.values().flatten() {
        assert_eq!(one.slices, 1.0);
        let expected = if one.purpose == Purpose::Common { least } else { own[&one.cell] };
        assert_eq!(one.rate, expected, "{one:?}");
    }
    assert!(blocks.values().all(|block| block.len() == CARRIED.len()), "{blocks:?}");
}

#[test]
fn the_search_of_a_later_deployment_begins_below_what_the_earlier_one_found() {
    let (_, tried) = search(2, None, by_rate);
    for (cell, carried) in CARRIED.into_iter().enumerate() {
        let trials = of_cell(&tried, cell);
        let (first, second): (Vec<Tried>, Vec<Tried>) = trials.into_iter().partition(|one| one.round == 0);
        assert_eq!(first[0].rate, 2_000.0, "the load's own rate");
        let expected = 0.8 * found(&first);
        assert!((second[0].rate / expected - 1.0).abs() < 1e-3, "{} of {expected}", second[0].rate);
        let searched = |of: &[Tried]| of.iter().filter(|one| one.purpose == Purpose::Search).count();
        assert!(searched(&second) > 5, "it finds out anew what this deployment carries");
        assert!((found(&second) / carried - 1.0).abs() < 0.02);
    }
}

#[test]
fn a_search_ends_with_the_time_and_says_so() {
    let whole = search(2, None, by_rate).0.elapsed();
    let within = whole / 4;
    let (world, tried) = search(2, Some(within), by_rate);
    assert!(tried.iter().all(|one| one.round == 0), "{whole:?}");
    // A block that has begun is measured to its end.
    let last = tried.last().expect("a trial");
    let began = tried.iter().find(|one| one.block == last.block).expect("a trial").begins_s;
    assert!(began < within.as_secs_f64() && world.elapsed() >= within, "{began} {:?}", world.elapsed());
    let notes = world.journal.notes.borrow();
    assert!(notes.iter().any(|note| matches!(note, Note::TimeOver { .. })), "{notes:?}");
}

#[test]
fn a_search_may_begin_below_one_a_second_and_fall_no_further() {
    let mut experiment = with(|plan| plan.deployments = 1);
    let rate = "10/min".parse().expect("a rate");
    experiment.loads[0].load = Load::Open { rate, arrivals: Arrivals::Uniform };
    let (_, tried) = search_in(experiment, |_| TrialOutcome::Failed(0));
    let rates: Vec<f64> = of_cell(&tried, 0).iter().map(|one| one.rate).collect();
    assert_eq!(rates.len(), 1, "{rates:?}");
    assert!((rates[0] - 1.0 / 6.0).abs() < 1e-3, "{rates:?}");
}
