//! Capacities of several deployments, and what differs between cells, of made-up searches whose truth is known.

use loadline_analysis::result::{Capacities, CapacityDifference, Contrast, Verdict};
use loadline_analysis::{RunData, analyse};
use loadline_model::CellId;
use loadline_model::rows::{Purpose, SliceRow};
use loadline_stats::t_interval;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use crate::made_up::noise::normal;
use crate::made_up::searched::{Searched, at_rate, cliff, times_of};

const HOST: CellId = CellId(0);

/// What cells carry in each deployment.
fn searched(seed: u64, rounds: u32, carried: impl Fn(CellId, u32) -> f64) -> RunData {
    Searched { seed, rounds, static_pod: false, service: cliff(carried) }.data()
}

fn capacities(data: &RunData) -> Capacities {
    analyse(data).capacities.expect("a search")
}

/// The capacity of a cell and half the width of its interval, in logarithms.
fn rate_and_reach(capacities: &Capacities, cell: CellId) -> (f64, f64) {
    let found = &capacities.cells[cell.0];
    let [low, high] = found.interval.expect("an interval");
    let rate = found.rate_per_second.expect("a capacity");
    (rate, (high / low).ln() / 2.0)
}

#[test]
fn the_capacity_of_several_deployments_is_their_mean_and_as_unsure_as_they_differ() {
    let carried = [900.0, 1000.0, 1150.0];
    let data = searched(1, 3, |cell, round| if cell == HOST { carried[round as usize] } else { 1000.0 });
    let found = capacities(&data);
    let expected = t_interval(&carried.map(f64::ln), 0.95).expect("three deployments");
    let (rate, reach) = rate_and_reach(&found, HOST);
    assert!((rate.ln() - f64::midpoint(expected.low, expected.high)).abs() < 0.01, "{rate}/s");
    assert!((reach / ((expected.high - expected.low) / 2.0) - 1.0).abs() < 0.1, "{reach}");
    assert!(rate_and_reach(&found, CellId(1)).1 < 0.2 * reach, "deployments of the pod are alike");
}

#[test]
fn deployments_that_are_alike_by_chance_are_no_surer_than_each_of_them_is() {
    let single = capacities(&searched(1, 1, |_, _| 1000.0));
    let (rate, posterior) = rate_and_reach(&single, HOST);
    assert!((rate / 1000.0 - 1.0).abs() < 0.02 && posterior < 0.03, "{rate} ± {posterior}");
    // The same trials four times: nothing differs.
    let mut data = searched(1, 4, |_, _| 1000.0);
    let first: Vec<SliceRow> = data.slices.iter().filter(|slice| slice.round == 0).cloned().collect();
    let again = (0..4).flat_map(|round| first.iter().map(move |slice| SliceRow { round, ..slice.clone() }));
    data.slices = again.collect();
    let (same, reach) = rate_and_reach(&capacities(&data), HOST);
    assert!((same / rate - 1.0).abs() < 1e-9, "{same}, not {rate}");
    // Student's 97.5 % with three degrees of freedom, where the posterior has 1.96.
    let expected = 3.182 / 1.96 * posterior / 2.0;
    assert!((reach / expected - 1.0).abs() < 1e-3, "{reach}, not {expected}");
}

#[test]
fn a_capacity_stands_among_the_figures_of_its_cell() {
    let result = analyse(&searched(1, 1, |_, _| 1000.0));
    let found = &result.capacities.as_ref().expect("a search").cells[HOST.0];
    let figure = &result.cells[HOST.0].figures[0];
    assert_eq!(figure.metric, "capacity");
    assert_eq!((Some(figure.value), figure.t_interval), (found.rate_per_second, found.interval));
}

/// By how much what a deployment carries differs from one to the next.
const APART: f64 = 0.03;

/// The difference that is found in so many deployments of a pod that carries this share of what the host carries.
fn difference(seed: u64, rounds: u32, share: f64) -> CapacityDifference {
    let mut random = Pcg64::seed_from_u64(1_000 + seed);
    // What a single one carries is what is searched for.
    let apart = if rounds > 1 { APART } else { 0.0 };
    let each: Vec<[f64; 2]> = (0..rounds)
        .map(|_| [1.0, share].map(|level| 1000.0 * level * (apart * normal(&mut random)).exp()))
        .collect();
    let found = capacities(&searched(seed, rounds, |cell, round| each[round as usize][cell.0]));
    found.differences.into_iter().next().expect("a difference")
}

/// How often differences of searches were right.
#[derive(Debug, Default)]
pub struct Differences {
    /// The interval held what was planted.
    pub held: usize,
    /// More or less was claimed.
    pub claimed: usize,
    /// The wrong one of both was.
    pub wrong: usize,
    /// Both were called equivalent.
    pub equivalent: usize,
}

/// Of so many searches, each in so many deployments.
pub fn differences(rounds: u32, share: f64, searches: u64) -> Differences {
    let mut seen = Differences::default();
    for seed in 0..searches {
        let found = difference(seed, rounds, share);
        let [low, high] = found.interval;
        seen.held += usize::from((low..=high).contains(&(share - 1.0)));
        seen.claimed += usize::from(matches!(found.verdict, Verdict::More | Verdict::Fewer));
        seen.equivalent += usize::from(found.verdict == Verdict::Equivalent);
        seen.wrong += usize::from(match found.verdict {
            Verdict::More => share <= 1.0,
            Verdict::Fewer => share >= 1.0,
            _ => false,
        });
    }
    seen
}

#[test]
fn a_planted_difference_is_told_and_none_that_is_not_there() {
    for rounds in [1, 3] {
        let (planted, none) = (differences(rounds, 0.7, 8), differences(rounds, 1.0, 8));
        println!("{rounds} deployments: {planted:?} {none:?}");
        assert!(planted.held >= 6 && planted.claimed >= 6 && planted.wrong == 0, "{planted:?}");
        assert!(none.held >= 6 && none.claimed <= 1, "{none:?}");
    }
    let (alike, apart) = (differences(1, 1.0, 8), differences(1, 0.9, 8));
    assert!(alike.equivalent >= 6 && apart.equivalent == 0, "{alike:?} {apart:?}");
    let more = difference(1, 3, 1.5);
    assert_eq!(more.verdict, Verdict::More, "{more:?}");
    assert!((more.relative - 0.5).abs() < 0.15, "{more:?}");
}

#[test]
fn all_differences_are_corrected_together_and_what_carries_nothing_has_none() {
    let found = |of_static_pod: f64| {
        let levels = [1000.0, 900.0, of_static_pod];
        let apart = [1.02, 0.98, 1.0];
        let carried = |cell: CellId, round: u32| levels[cell.0] * apart[(round as usize + cell.0) % 3];
        let searched = Searched { seed: 3, rounds: 3, static_pod: true, service: cliff(carried) };
        capacities(&searched.data()).differences
    };
    let alone = found(0.0);
    let [pod] = &alone[..] else { panic!("{alone:?}") };
    let both = found(990.0);
    let [first, second] = &both[..] else { panic!("{both:?}") };
    assert_eq!((first.relative, first.interval), (pod.relative, pod.interval));
    assert!(first.p_holm < second.p_holm, "{both:?}");
    assert!((first.p_holm / pod.p_holm - 2.0).abs() < 1e-6, "two in place of one: {both:?}");
}

#[test]
fn cells_are_compared_in_the_slices_that_were_made_for_it() {
    let carried = |cell: CellId, _: u32| if cell == HOST { 1000.0 } else { 800.0 };
    let mut data = searched(5, 3, carried);
    // Half of the blocks at 800/s each, where the pod takes 2 ms longer, half at their own capacities, where it takes 7 ms longer.
    let template = data.slices[0].clone();
    for (round, block, cell) in
        (0..3).flat_map(|round| (100..116).flat_map(move |block| [0, 1].map(|cell| (round, block, cell))))
    {
        let own = block % 2 == 1;
        let (purpose, shift_ms) = if own { (Purpose::Own, 7) } else { (Purpose::Common, 2) };
        let rate = if own { carried(CellId(cell), round) } else { 800.0 };
        let place = SliceRow { cell: CellId(cell), round, block, ..template.clone() };
        let mut slice = at_rate(place, rate, purpose);
        // No two blocks are alike.
        let ms = 10 + u64::from(block % 5) + shift_ms * cell as u64;
        (slice.service, slice.response) = (times_of(1, slice.due), times_of(ms, slice.due));
        data.slices.push(slice);
    }
    let found = analyse(&data);
    assert!(found.contrasts.is_empty(), "slices of a search have a rate each");
    let found = found.capacities.expect("a search");
    let of = |contrasts: &[Contrast], metric: &str| {
        let [contrast] = contrasts else { panic!("{contrasts:?}") };
        contrast.rows.iter().find(|row| row.metric == metric).expect("a row").difference
    };
    let median_ms = |contrasts| of(contrasts, "response.p50") / 1e6;
    let (common, own) = (median_ms(&found.at_the_same_rate), median_ms(&found.at_their_own));
    assert!((common - 2.0).abs() < 0.05 && (own - 7.0).abs() < 0.05, "{common} ms, {own} ms");
    assert_eq!(of(&found.at_the_same_rate, "rate.achieved"), 0.0);
    assert_eq!(of(&found.at_their_own, "rate.achieved"), -200.0);
}
