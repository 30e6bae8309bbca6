//! The warm-up test: have the figures of successive warm-up cycles become stationary?
//! Two conditions must hold over the last eight: no material shift between their halves, and no trend.
//! The shift is the second half's mean relative to the first's. Over [`MATERIAL_SHIFT`] it always fails the test:
//! the trend test may miss a step. Under [`NEGLIGIBLE_SHIFT`] it never does: a trend can be
//! certain and still too small to matter, and a warm-up that waits for it would not end. In between, the Mann–Kendall test distinguishes a drift from noise at [`TREND_LEVEL`]. Level figures pass 97 % of looks with noise
//! of 2 %, and a look that failed by chance is followed by another one cycle later. When a decay that loses
//! 1/e every 2, 4 or 8 cycles first passes, 0.2, 1.3 or 5.3 % of the floor is left of it at the median
//! (`tests/warm_up.rs`): eight cycles cannot distinguish a slower one from a stationary cell, and the rest must cancel between
//! the cells of a block.

use crate::mann_kendall::trend_p_value;

/// The number of latest cycles that are tested.
pub const WINDOW: usize = 8;

/// A relative shift between the window's halves that counts as warm-up whatever the noise: 10 %.
pub const MATERIAL_SHIFT: f64 = 0.10;

/// A relative shift between the window's halves that does not matter: 1 %, the default margin.
pub const NEGLIGIBLE_SHIFT: f64 = 0.01;

/// The two-sided level of the trend test: with eight figures it finds a trend in 3.1 % of random orders.
pub const TREND_LEVEL: f64 = 0.05;

/// The state of a warm-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stationarity {
    /// Fewer than [`WINDOW`] cycles so far.
    TooFew,
    /// Still changing, or indistinguishable from it.
    Trending {
        /// The second half's mean over the first's, less one: −0.2 for a fall by 20 %. Not finite when it is undefined.
        shift: f64,
        /// The Mann–Kendall test's two-sided p-value.
        p_value: f64,
    },
    /// Stationary.
    Stationary,
}

/// Judges the last [`WINDOW`] of `figures`, one a warm-up cycle in their order, in any unit (loadline gives
/// the median service time). A figure that is not finite makes its window `Trending`.
pub fn stationary(figures: &[f64]) -> Stationarity {
    let Some(window) = figures.last_chunk::<WINDOW>() else { return Stationarity::TooFew };
    let (first, second) = window.split_at(WINDOW / 2);
    let (before, after): (f64, f64) = (first.iter().sum(), second.iter().sum());
    let shift = if before == after && before.is_finite() { 0.0 } else { after / before - 1.0 };
    let p_value = trend_p_value(window);
    // Both comparisons are false for a NaN, which so never passes.
    let level = shift.abs() <= NEGLIGIBLE_SHIFT || (shift.abs() <= MATERIAL_SHIFT && p_value >= TREND_LEVEL);
    if level { Stationarity::Stationary } else { Stationarity::Trending { shift, p_value } }
}
