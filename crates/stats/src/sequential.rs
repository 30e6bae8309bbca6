//! Measuring until an interval is as narrow as was asked for: when to look, and at which confidence.
//!
//! A run that stops because its interval is narrow tends to stop where the spread happened to be underestimated, so that its 95 % interval
//! covers less than 95 % (Chow & Robbins, "On the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the Mean", Ann.
//! Math. Statist. 36 (1965), where the loss vanishes only in the limit). The run stops by width alone, never by where the interval lies,
//! so the loss is small and has a bound, which simulation finds (`tests/it/sequential.rs`): the worst of nine widths covers 92.7 % with
//! 95 % intervals, first looked at after 6 units, and 95 % with those of [`LOOK_CONFIDENCE`]. They are 8 % wider than an interval that is looked at
//! once. A confidence sequence, which would hold at every look and for any rule of stopping (Howard, Ramdas, McAuliffe & Sekhon,
//! "Time-uniform, Nonparametric, Nonasymptotic Confidence Sequences", Ann. Statist. 49 (2021)), is 20 to 70 % wider, for a promise that
//! nobody needs here: only the last interval is reported.

/// Confidence of the interval that ends such a run. What it covers is 95 %.
pub const LOOK_CONFIDENCE: f64 = 1.0 - 0.05 * 2.0 / 3.0;

/// The first look comes after no fewer units than this: the spread of two or three is too often underestimated by far.
const MIN_FIRST_LOOK: usize = 6;

/// The sizes (numbers of units, see [`crate::Unit`]) at which a run is looked at: `first` or 6, then each at least
/// 1.3 times the one before, rounded up: 6, 8, 11, 15, 20, 26 …
///
/// Ends only where the size would overflow.
pub fn look_sizes(first: usize) -> impl Iterator<Item = usize> {
    // In whole numbers, since 1.3 · 10 is a little more than 13 in floating point.
    std::iter::successors(Some(first.max(MIN_FIRST_LOOK)), |size| Some(size.checked_mul(13)?.div_ceil(10)))
}
