//! Whether a difference lies between two kinds of requests or blocks, the usual and the stalled ones: its interval would then be far wider than
//! it says.
//!
//! The thresholds are chosen by simulation (`tests/it/coverage`): where nothing stalls, at most 3 of 100 runs pass them.

use loadline_model::result::Remark;
use loadline_stats::Bootstrap;

use crate::compared::differences;
use crate::median::median;
use crate::metrics::{Kind, Metric};
use crate::sample::Paired;

/// By how much resampled quantiles may vary more than their middle 95 % says.
const MOST_TAIL_WEIGHT: f64 = 1.2;
/// How far from the median difference that of a block is of another kind, in median distances from there.
const FAR: f64 = 8.0;
/// The share of the blocks that may be: with more, resampling brings them into the middle half. On ladders of a shared machine it was 1 to 13 %.
const MOST_FAR: f64 = 1.0 / 6.0;
/// So many of few blocks are still chance.
const FAR_BY_CHANCE: f64 = 3.0;

/// Why nothing can be claimed of the difference, if so.
pub fn two_kinds(metric: &Metric, paired: &Paired<'_>, spread: Option<&Bootstrap>) -> Option<Remark> {
    match metric.kind {
        Kind::Quantile(..) => (spread?.tail_weight > MOST_TAIL_WEIGHT).then_some(Remark::BetweenKinds),
        Kind::Paired(_) => {
            let blocks: Vec<f64> = paired.units.iter().flat_map(|unit| differences(metric, unit)).collect();
            let (share, by_chance) = (far_share(&blocks), FAR_BY_CHANCE / blocks.len() as f64);
            (share > MOST_FAR.max(by_chance)).then_some(Remark::TwoKinds { share })
        }
        Kind::Mean(_)
        | Kind::Ratio(_)
        | Kind::PerRequest
        | Kind::Level
        | Kind::Undisturbed(_)
        | Kind::OfDeployments(_) => None,
    }
}

/// The share of the figures that are far from most of them; 0 where most are equal.
fn far_share(figures: &[f64]) -> f64 {
    let Some(middle) = median(figures.iter().copied()) else { return 0.0 };
    let distances = || figures.iter().map(|figure| (figure - middle).abs());
    match median(distances()) {
        Some(usual) if usual > 0.0 => {
            distances().filter(|distance| *distance > FAR * usual).count() as f64 / figures.len() as f64
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_far_from_most_are_of_another_kind() {
        let usual = (0..70).map(|at| f64::from(at % 7));
        let stalled = (0..30).map(|at| if at % 3 == 0 { -500.0 } else { 300.0 + f64::from(at) });
        assert_eq!(far_share(&usual.clone().collect::<Vec<f64>>()), 0.0);
        assert_eq!(far_share(&usual.chain(stalled).collect::<Vec<f64>>()), 0.3);
    }

    #[test]
    fn figures_of_which_most_are_equal_are_of_one_kind() {
        assert_eq!(far_share(&[]), 0.0);
        assert_eq!(far_share(&[vec![2.0; 60], vec![2.1; 40]].concat()), 0.0, "in coarse steps");
    }
}
