//! Cochran's Q against published figures, and how often it errs.

use loadline_stats::cochran_q;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// So many blocks with these outcomes.
fn blocks(of: &[(usize, &[u8])]) -> Vec<Vec<bool>> {
    let block = |outcomes: &[u8]| outcomes.iter().map(|outcome| *outcome == 1).collect::<Vec<bool>>();
    of.iter().flat_map(|(times, outcomes)| vec![block(outcomes); *times]).collect()
}

#[test]
fn cochrans_own_example_is_reproduced() {
    // Four media for growing diphtheria, 69 specimens (Cochran 1950, table 1): Q = 8.05, p = 0.045.
    let specimens = blocks(&[
        (4, &[1, 1, 1, 1]),
        (2, &[1, 1, 0, 1]),
        (3, &[0, 1, 1, 1]),
        (1, &[0, 1, 0, 1]),
        (59, &[0, 0, 0, 0]),
    ]);
    let p = cochran_q(&specimens, 1).unwrap();
    assert!((p - 0.045).abs() < 0.001, "{p}");
}

#[test]
fn of_two_treatments_in_few_blocks_it_is_the_exact_sign_test() {
    // Eight blocks in which only the second one failed: 2 ÷ 2⁸.
    let p = cochran_q(&blocks(&[(8, &[0, 1]), (50, &[0, 0])]), 1).unwrap();
    assert!((p - 2.0 / 256.0).abs() < 0.003, "{p}");
}

#[test]
fn where_all_fail_together_nothing_differs() {
    assert_eq!(cochran_q(&blocks(&[(20, &[1, 1, 1]), (20, &[0, 0, 0])]), 1), Some(1.0));
    assert_eq!(cochran_q(&[], 1), None);
    assert_eq!(cochran_q(&blocks(&[(3, &[1])]), 1), None, "one alone differs from nothing");
}

#[test]
fn treatments_alike_are_told_apart_no_more_often_than_the_level() {
    let mut random = Pcg64::seed_from_u64(5);
    let mut false_alarms = 0;
    for run in 0..1_000 {
        // A tenth of the outcomes fail; half of those come as a spell that hits the whole block.
        let mut chance = |per_thousand: u64| random.next_u64() % 1_000 < per_thousand;
        let run_blocks: Vec<Vec<bool>> = (0..60)
            .map(|_| {
                let spell = chance(50);
                (0..4).map(|_| spell || chance(50)).collect()
            })
            .collect();
        false_alarms += usize::from(cochran_q(&run_blocks, run).unwrap() < 0.05);
    }
    assert!((25..75).contains(&false_alarms), "{false_alarms} of 1,000 at 5 %");
}
