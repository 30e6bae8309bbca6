//! Examining a run repeatedly, and stopping when its interval is narrow, without losing the nominal level. The run is looked at only at sizes fixed beforehand, and look k may err with probability α / (k
//! (k+1)), which sums to α over all looks ever made, so *every* interval shown, hence also the last, has confidence 1 − α.
//!
//! The union bound over geometrically spaced looks is Darling & Robbins, "Confidence Sequences for Mean,
//! Variance, and Median", PNAS 58 (1967); Howard, Ramdas, McAuliffe & Sekhon, "Time-uniform, Nonparametric,
//! Nonasymptotic Confidence Sequences", Ann. Statist. 49 (2021), section 3.1, call it stitching. Spacing the
//! looks keeps them few, so the price is small: at the fifth look (20 units) the interval is 1.7 times as
//! wide as one that is looked at only once.
//!
//! When a time limit ends the run between look k and look k+1, its last interval may use look k+1's level: a look may be moved to any size that does not depend on the figures.

/// The sizes (numbers of units, see [`crate::Unit`]) at which a run is looked at: `first`, then each at least
/// 1.3 times the one before, rounded up: 6, 8, 11, 15, 20, 26 …
///
/// Ends only where the size would overflow. `first` should be 6 or more: below that, the t factor costs more than a look is worth.
pub fn look_sizes(first: usize) -> impl Iterator<Item = usize> {
    // In whole numbers, since 1.3 · 10 is a little more than 13 in floating point.
    std::iter::successors(Some(first.max(1)), |size| Some(size.checked_mul(13)?.div_ceil(10)))
}

/// The confidence of the interval at look `k`, counted from 1, when all of them together may err with
/// `alpha`.
pub fn look_confidence(alpha: f64, k: usize) -> f64 {
    let k = k.max(1) as f64;
    1.0 - alpha / (k * (k + 1.0))
}
