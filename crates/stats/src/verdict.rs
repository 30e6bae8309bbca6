//! What can be concluded about a difference, given its interval, the margin, and its p-value among all contrasts.
//! "No difference found" is never a result: either the difference is shown to be small, or the run is inconclusive.

use crate::Interval;

/// Fewer blocks than this, over all deployments, make no claim at all.
pub const MIN_BLOCKS: usize = 6;

/// The finding about a difference, independent of whether more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The difference is above zero.
    Higher,
    /// The difference is below zero.
    Lower,
    /// The difference, whatever its sign, is smaller than the margin.
    Equivalent,
    /// The run cannot tell.
    Unresolved,
}

/// Judges a difference.
///
/// - `interval`: of the difference, at confidence 1 − `alpha`, in the unit of `margin`.
/// - `margin`: the largest difference, either way, that does not matter.
/// - `adjusted_p`: the difference's p-value after [`crate::holm()`], consistent with the interval.
/// - `blocks`: in all deployments together; below [`MIN_BLOCKS`] everything is unresolved.
///
/// Equivalence needs the whole 1 − `alpha` interval within the margin and so errs with at most `alpha`/2 (the
/// two one-sided tests of Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987), at half their usual level). It
/// is not corrected for the number of contrasts, and it goes first: a difference that is certain but too
/// small to matter is equivalent.
pub fn judge(interval: Interval, margin: f64, adjusted_p: f64, alpha: f64, blocks: usize) -> Judgement {
    if blocks < MIN_BLOCKS {
        Judgement::Unresolved
    } else if -margin <= interval.low && interval.high <= margin {
        Judgement::Equivalent
    } else if adjusted_p < alpha && interval.low > 0.0 {
        Judgement::Higher
    } else if adjusted_p < alpha && interval.high < 0.0 {
        Judgement::Lower
    } else {
        Judgement::Unresolved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: f64 = 0.05;

    fn judged(low: f64, high: f64, adjusted_p: f64) -> Judgement {
        judge(Interval { low, high }, 1.0, adjusted_p, ALPHA, MIN_BLOCKS)
    }

    #[test]
    fn an_interval_within_the_margin_is_equivalent_even_when_it_leaves_out_zero() {
        assert_eq!(judged(-1.0, 1.0, 0.9), Judgement::Equivalent);
        assert_eq!(judged(0.2, 0.8, 0.001), Judgement::Equivalent);
    }

    #[test]
    fn a_difference_beyond_the_margin_has_its_sign() {
        assert_eq!(judged(0.5, 3.0, 0.01), Judgement::Higher);
        assert_eq!(judged(-3.0, -0.5, 0.01), Judgement::Lower);
    }

    #[test]
    fn a_difference_that_is_not_significant_after_holms_correction_is_unresolved() {
        assert_eq!(judged(0.5, 3.0, 0.05), Judgement::Unresolved);
    }

    #[test]
    fn an_interval_that_contains_zero_and_exceeds_the_margin_is_unresolved() {
        assert_eq!(judged(-0.1, 1.1, 0.3), Judgement::Unresolved);
    }

    #[test]
    fn what_could_not_be_computed_is_unresolved() {
        assert_eq!(judged(f64::NAN, f64::NAN, 0.001), Judgement::Unresolved);
        assert_eq!(judged(2.0, 3.0, f64::NAN), Judgement::Unresolved);
    }

    #[test]
    fn fewer_than_six_blocks_make_no_claim() {
        let clear = Interval { low: 5.0, high: 6.0 };
        let tiny = Interval { low: -0.1, high: 0.1 };
        assert_eq!(judge(clear, 1.0, 1e-9, ALPHA, MIN_BLOCKS - 1), Judgement::Unresolved);
        assert_eq!(judge(tiny, 1.0, 1.0, ALPHA, MIN_BLOCKS - 1), Judgement::Unresolved);
    }
}
