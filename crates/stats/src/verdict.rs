//! What can be concluded about a difference, given its p-value among all contrasts and that of its equivalence.
//! "No difference found" is never a result: either the difference is shown to be small, or the run is inconclusive.

/// The power that a resolution is stated for: how often a difference of its size is claimed.
pub const POWER: f64 = 0.95;

/// In how many runs without a difference one may be claimed: a claim costs somebody a migration, so in one of forty at most, half as often as a
/// 95 % interval leaves out the truth.
pub const FALSE_CLAIMS: f64 = 0.025;

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

/// The levels of the tests that lead to a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Of the test that claims a difference, in either direction.
    pub difference: f64,
    /// That a difference as large as the margin is called equivalent.
    pub equivalence: f64,
}

impl Levels {
    /// The p-value of a quantile of few deployments is too small where these differ: at a level of 2.5 %, 2.4 to 3.1 % (± 0.5 %) of made-up runs
    /// without a difference claimed one. At 2 % these are [`FALSE_CLAIMS`] at most.
    pub const DEFAULT: Levels = Levels { difference: 0.02, equivalence: 0.05 };

    /// With intervals of more confidence than 95 %, as of a run that is looked at along the way, both are smaller in the same proportion.
    pub fn at(confidence: f64) -> Levels {
        let times = (1.0 - confidence) / 0.05;
        let Levels { difference, equivalence } = Levels::DEFAULT;
        Levels { difference: times * difference, equivalence: times * equivalence }
    }
}

/// Judges a difference.
///
/// - `difference`: of which only the sign counts.
/// - `adjusted_p`: of "there is no difference", after [`crate::holm()`].
/// - `equivalence_p`: of "the difference is not within the margin", see [`crate::Bootstrap::equivalence_p`].
/// - `blocks`: in all deployments together; below [`MIN_BLOCKS`] everything is unresolved.
///
/// Equivalence goes first: a difference that is certain but too small to matter is equivalent. It is not corrected for the number of
/// contrasts: each is a statement of its own.
pub fn judge(
    difference: f64,
    adjusted_p: f64,
    equivalence_p: f64,
    levels: Levels,
    blocks: usize,
) -> Judgement {
    let is_certain = adjusted_p < levels.difference;
    if blocks < MIN_BLOCKS {
        Judgement::Unresolved
    } else if equivalence_p < levels.equivalence {
        Judgement::Equivalent
    } else if is_certain && difference > 0.0 {
        Judgement::Higher
    } else if is_certain && difference < 0.0 {
        Judgement::Lower
    } else {
        Judgement::Unresolved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(difference: f64, adjusted_p: f64, equivalence_p: f64) -> Judgement {
        judge(difference, adjusted_p, equivalence_p, Levels::DEFAULT, MIN_BLOCKS)
    }

    #[test]
    fn a_difference_that_is_certain_but_within_the_margin_is_equivalent() {
        assert_eq!(judged(0.5, 0.001, 0.001), Judgement::Equivalent);
        assert_eq!(judged(0.0, 0.9, 0.049), Judgement::Equivalent);
    }

    #[test]
    fn a_difference_beyond_the_margin_has_its_sign() {
        assert_eq!(judged(3.0, 0.01, 0.7), Judgement::Higher);
        assert_eq!(judged(-3.0, 0.01, 0.7), Judgement::Lower);
    }

    #[test]
    fn what_is_neither_significant_nor_equivalent_is_unresolved() {
        assert_eq!(
            judged(3.0, Levels::DEFAULT.difference, Levels::DEFAULT.equivalence),
            Judgement::Unresolved
        );
    }

    #[test]
    fn what_could_not_be_computed_is_unresolved() {
        assert_eq!(judged(f64::NAN, 0.001, f64::NAN), Judgement::Unresolved);
        assert_eq!(judged(2.0, f64::NAN, f64::NAN), Judgement::Unresolved);
    }

    #[test]
    fn fewer_than_six_blocks_make_no_claim() {
        assert_eq!(judge(5.0, 1e-9, 1.0, Levels::DEFAULT, MIN_BLOCKS - 1), Judgement::Unresolved);
        assert_eq!(judge(0.1, 1.0, 1e-9, Levels::DEFAULT, MIN_BLOCKS - 1), Judgement::Unresolved);
    }
}
