//! Cochran's Q test: whether several matched treatments succeed equally often, each block of them having been tried under the same conditions.
//! W. G. Cochran, "The Comparison of Percentages in Matched Samples", Biometrika 37 (1950). Of two treatments it is McNemar's test.
//!
//! Where few blocks tell the treatments apart the χ² approximation is poor (M. W. Tate & S. M. Brown, "Note on the Cochran Q Test", J. Amer.
//! Statist. Assoc. 65 (1970)); there the outcomes are permuted within their blocks instead.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Fewest outcomes in blocks that are not uniform for the χ² approximation (Tate & Brown 1970).
const LEAST_FOR_APPROXIMATION: usize = 24;
/// Permutations: a p-value of 0.01 is then known to 0.001.
const PERMUTATIONS: u32 = 10_000;

/// The p-value of "all treatments succeed equally often". `blocks`: of each block, whether each treatment succeeded; all blocks have as many.
/// `None` with fewer than two treatments. 1 when no block tells them apart. The same `seed` gives the same value.
pub fn cochran_q(blocks: &[Vec<bool>], seed: u64) -> Option<f64> {
    let treatments = blocks.first()?.len();
    if treatments < 2 || blocks.iter().any(|block| block.len() != treatments) {
        return None;
    }
    // A block in which all outcomes are alike says nothing of their difference.
    let mut telling: Vec<Vec<bool>> =
        blocks.iter().filter(|block| block.iter().any(|outcome| *outcome != block[0])).cloned().collect();
    if telling.is_empty() {
        return Some(1.0);
    }
    let observed = spread(&telling, treatments);
    if telling.len() * treatments >= LEAST_FOR_APPROXIMATION {
        let k = treatments as f64;
        let sums = telling.iter().map(|block| successes(block) as f64);
        let within: f64 = sums.map(|sum| sum * (k - sum)).sum();
        let total: f64 = telling.iter().map(|block| successes(block) as f64).sum();
        let q = (k - 1.0) * (k * observed as f64 - total * total) / within;
        return ChiSquared::new(k - 1.0).ok().map(|distribution| distribution.sf(q));
    }
    let mut random = Pcg64::seed_from_u64(seed);
    let mut as_far = 0;
    for _ in 0..PERMUTATIONS {
        telling.iter_mut().for_each(|block| shuffle(block, &mut random));
        as_far += u32::from(spread(&telling, treatments) >= observed);
    }
    Some(f64::from(as_far + 1) / f64::from(PERMUTATIONS + 1))
}

/// The sum of squares of the treatments' successes, which Q grows with while the blocks' sums stay as they are.
fn spread(blocks: &[Vec<bool>], treatments: usize) -> u64 {
    let of = |treatment: usize| blocks.iter().filter(|block| block[treatment]).count() as u64;
    (0..treatments).map(|treatment| of(treatment).pow(2)).sum()
}

fn successes(block: &[bool]) -> usize {
    block.iter().filter(|outcome| **outcome).count()
}

/// Fisher and Yates' shuffle.
fn shuffle(items: &mut [bool], random: &mut Pcg64) {
    for last in (1..items.len()).rev() {
        let chosen = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        items.swap(last, chosen);
    }
}
