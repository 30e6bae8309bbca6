//! The hierarchical bootstrap: the standard error, interval and p-value of any statistic of a run.
//! It resamples the highest level that was replicated, each unit with everything below it.
//!
//! Resampling blocks inside the resampled deployments as well would count the blocks' variance twice (Davison
//! & Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8, strategy 1 against strategy 2):
//! with 6 deployments of 4 blocks that differ by block alone, such intervals cover over 99 % instead of 95 %.
//!
//! The interval is estimate ± t(n−1) · √(n/(n−1)) · SE of the bootstrap, for n units. The root undoes the
//! bootstrap's downward bias (it divides by n), t accounts for the few units that the error is estimated from
//! (Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 12); for a mean this is Student's
//! interval. Chosen by simulation (`tests/coverage.rs`): with 2, 6, 8 and 12 clustered deployments it covers
//! 95, 96, 94 and 94 %; Hesterberg's expanded percentile interval ("What Teachers Should Know About the
//! Bootstrap", 2015) 52, 93, 92 and 94 %; the plain percentile interval 52, 87, 88 and 92 %; a bootstrap-t
//! does not exist for two units. Where deployments differ by more than requests do, an upper quantile depends on one or two
//! of them, and this interval too falls to 92 %, unless its degrees of freedom are [limited](Bootstrap::limited_to).

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::detectable::resolution;
use crate::{Interval, t_quantile, two_sided_p, upper_p};

/// What the bootstrap draws: the highest replicated level of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Whole deployments, each with all its blocks.
    Deployment,
    /// The blocks of the only deployment. What differs between deployments is then not covered by the
    /// interval.
    Block,
}

impl Unit {
    /// The unit to resample in a run of so many deployments.
    pub fn highest_replicated(deployments: usize) -> Self {
        if deployments >= 2 { Self::Deployment } else { Self::Block }
    }
}

/// An estimate and how far resampling moves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the data as they are.
    pub estimate: f64,
    /// Its standard error: √(n/(n−1)) times the standard deviation of the resampled statistics.
    pub standard_error: f64,
    /// Those of the standard error: one less than there are units, unless they were [limited](Bootstrap::limited_to).
    pub degrees_of_freedom: f64,
    /// The standard deviation of the resampled statistics over that of a normal distribution with the same middle 95 %: 1 for normal ones, more
    /// where a few resamples are far from all others.
    pub tail_weight: f64,
}

/// Half the length of the middle 95 % of a normal distribution, in standard deviations.
const HALF_OF_95: f64 = 1.959_964;

/// Bootstraps a statistic over `units` (two or more).
///
/// `statistic` gets the number of times that each unit is in the sample, and computes the figure from the
/// data so weighted: a merged-histogram quantile, a mean, the difference of two cells. Both cells of a
/// difference must use the same counts, which keeps them paired. It is called first with every count 1 (the
/// estimate), then `resamples` times with counts that add up to `units`. The same seed draws the same
/// samples, whatever the statistic.
///
/// The standard error itself is uncertain by 1/√(2·`resamples`): 1.6 % with 2,000. Two units need no random draws: each is taken twice, once.
///
/// None with fewer than two units or resamples, or when the statistic is not finite for some sample.
pub fn bootstrap(
    units: usize,
    resamples: usize,
    seed: u64,
    mut statistic: impl FnMut(&[u32]) -> f64,
) -> Option<Bootstrap> {
    if units < 2 || resamples < 2 {
        return None;
    }
    let mut counts = vec![1; units];
    let estimate = statistic(&counts);
    if !estimate.is_finite() {
        return None;
    }
    let degrees_of_freedom = units as f64 - 1.0;
    if units == 2 {
        // Of two units there are three samples, and the mixed one is the estimate. The two pure ones give the
        // deviation without the mixed sample's own noise, which makes intervals of quantiles cover over 97 %.
        let standard_error = (statistic(&[2, 0]) - statistic(&[0, 2])).abs() / 2.0;
        return standard_error.is_finite().then_some(Bootstrap {
            estimate,
            standard_error,
            degrees_of_freedom,
            tail_weight: 1.0,
        });
    }
    let mut random = Pcg64::seed_from_u64(seed);
    // Welford's recurrence, on distances from the estimate: figures may be large and differ little.
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut distances = Vec::with_capacity(resamples);
    for drawn in 1..=resamples {
        counts.fill(0);
        for _ in 0..units {
            counts[random.random_range(0..units)] += 1;
        }
        let distance = statistic(&counts) - estimate;
        distances.push(distance);
        let step = distance - mean;
        mean += step / drawn as f64;
        squares += step * (distance - mean);
    }
    let (variance, units_f) = (squares / (resamples as f64 - 1.0), units as f64);
    let standard_error = (variance * units_f / (units_f - 1.0)).sqrt();
    let tail_weight = tail_weight(&mut distances, variance.sqrt());
    standard_error.is_finite().then_some(Bootstrap {
        estimate,
        standard_error,
        degrees_of_freedom,
        tail_weight,
    })
}

fn tail_weight(statistics: &mut [f64], deviation: f64) -> f64 {
    if deviation == 0.0 {
        return 1.0;
    }
    statistics.sort_unstable_by(f64::total_cmp);
    let beyond = statistics.len() / 40;
    let middle = statistics[statistics.len() - 1 - beyond] - statistics[beyond];
    deviation * 2.0 * HALF_OF_95 / middle
}

impl Bootstrap {
    /// The same with at most so many degrees of freedom, for a statistic that rests on a part of the units: the others say next to nothing of
    /// how it varies.
    pub fn limited_to(self, degrees_of_freedom: f64) -> Bootstrap {
        Bootstrap { degrees_of_freedom: self.degrees_of_freedom.min(degrees_of_freedom), ..self }
    }

    /// The interval at `confidence` (0.95 for 95 %), strictly between 0 and 1, in the statistic's unit.
    pub fn interval(&self, confidence: f64) -> Interval {
        let t = t_quantile(0.5 + confidence / 2.0, self.degrees_of_freedom);
        Interval::around(self.estimate, t * self.standard_error)
    }

    /// The two-sided p-value of "the statistic is zero".
    ///
    /// It is below α exactly where the interval at 1 − α leaves out zero, so that both lead to the same conclusion. When resampling changes nothing, it is 1 for an estimate of zero and 0 for any other.
    pub fn p_value(&self) -> f64 {
        self.p_value_of(0.0)
    }

    /// The two-sided p-value of "the statistic is `value`", consistent with the interval in the same way.
    pub fn p_value_of(&self, value: f64) -> f64 {
        if self.estimate == value {
            return 1.0;
        }
        two_sided_p((self.estimate - value) / self.standard_error, self.degrees_of_freedom)
    }

    /// The p-value of "the statistic lies outside `margin`, or on its edge": below α, it is equivalent to zero at that level. The larger of two
    /// one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987)), so below α exactly where the interval at 1 − 2α lies within the
    /// margin. The margin must be fixed before the data are seen: one that grows with the noise makes equivalent whatever could not be told.
    pub fn equivalence_p(&self, margin: Interval) -> f64 {
        let nearer_edge = (margin.high - self.estimate).min(self.estimate - margin.low);
        if self.standard_error == 0.0 {
            return if nearer_edge >= 0.0 { 0.0 } else { 1.0 };
        }
        upper_p(nearer_edge / self.standard_error, self.degrees_of_freedom)
    }

    /// The difference that a run like this claims at this two-sided level with a power of 95 %. One as large as the interval's half-width at the
    /// same level is claimed half of the time.
    pub fn resolution(&self, level: f64) -> f64 {
        resolution(self.standard_error, self.degrees_of_freedom, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_far_from_the_middle_make_the_tails_heavy() {
        let weight = |figures: &[f64]| {
            let mean = |counts: &[u32]| {
                let sum: f64 =
                    figures.iter().zip(counts).map(|(figure, count)| figure * f64::from(*count)).sum();
                sum / figures.len() as f64
            };
            let of = |statistic: &dyn Fn(f64) -> f64| {
                bootstrap(figures.len(), 2_000, 1, |counts| statistic(mean(counts)))
                    .expect("a spread")
                    .tail_weight
            };
            (of(&|mean| mean), of(&|mean| if mean > 1.45 { mean + 100.0 } else { mean }))
        };
        let figures: Vec<f64> = (0..20).map(|at| f64::from(at % 3)).collect();
        let (plain, jumping) = weight(&figures);
        assert!((0.9..1.1).contains(&plain), "{plain}");
        // A few resamples in a thousand jump.
        assert!(jumping > 1.2, "{jumping}");
    }
}
