//! A metric of a candidate against its baseline, for any weighting of the units: what the bootstrap of a contrast asks for.
//!
//! A twin is pooled into its baseline: the baseline's figure is then the mean of the figures of both. That difference is independent of the
//! one between twin and baseline if their variances are equal, and has three quarters of the variance of the difference from one of them.
//! It is the mean of two figures, not the figure of one merged histogram: a quantile of few deployments is biased by their number, and so
//! both sides of the difference are biased alike.

use loadline_stats::{Bootstrap, bootstrap, effective_units, hodges_lehmann, jackknife_variance};

use crate::buckets::Buckets;
use crate::figures::Prepared;
use crate::metrics::{Kind, Metric};
use crate::sample::{Block, Paired, Side};
use crate::scale::Scale;

/// Resamples of the bootstrap: its standard error is then known to 1.6 % (1 ÷ √(2 × 2000)).
pub const RESAMPLES: usize = 2000;

/// A metric of two cells, and of the baseline's twin if that is pooled.
pub struct Compared {
    /// The baseline's data.
    pub baseline: Prepared,
    /// The data of its twin.
    pub twin: Option<Prepared>,
    /// The candidate's data.
    pub candidate: Prepared,
    /// The scale that the difference is on.
    pub scale: Scale,
    /// The differences of units or blocks, where the whole difference is not that of the cells' figures.
    differences: Option<Prepared>,
}

impl Compared {
    /// Gathers a metric's data. `None` when one of the cells has none.
    pub fn new(metric: &Metric, paired: &Paired<'_>) -> Option<Compared> {
        let cell = |side: Side| match metric.kind {
            Kind::Quantile(times, quantile) => {
                Some(Prepared::Buckets(Buckets::new(quantile, paired.requests(side, times))))
            }
            _ => Prepared::new(metric, paired.slices(side)),
        };
        let twin = match paired.twin {
            Some(_) => Some(cell(Side::Twin)?),
            None => None,
        };
        let blocks = paired.units.iter().map(|unit| differences(metric, unit));
        let differences = match metric.kind {
            Kind::Undisturbed(_) => {
                let estimates = blocks.map(|of_unit| hodges_lehmann(&of_unit));
                // A unit without a figure, because nothing was answered, does not count.
                let counts = |figure: f64| if figure.is_finite() { (figure, 1.0) } else { (0.0, 0.0) };
                Some(Prepared::Ratios(estimates.map(counts).collect()))
            }
            Kind::Paired(_) => Some(Prepared::slice_by_slice(blocks)?),
            _ => None,
        };
        let (baseline, candidate) = (cell(Side::Baseline)?, cell(Side::Candidate)?);
        Some(Compared { baseline, twin, candidate, scale: metric.scale(), differences })
    }

    /// The baseline's figure, of all units.
    pub fn baseline_figure(&self) -> f64 {
        self.scale.figure(self.place_of_baseline(&self.once()))
    }

    /// The difference on the scale, with each unit taken so many times.
    pub fn difference(&self, weights: &[u32]) -> f64 {
        match &self.differences {
            Some(differences) => differences.figure(weights),
            None => self.scale.of(self.candidate.figure(weights)) - self.place_of_baseline(weights),
        }
    }

    /// The difference on the scale, with each unit taken once.
    pub fn whole(&self) -> f64 {
        self.difference(&self.once())
    }

    /// How far resampling the units moves a figure that is made of these.
    pub fn spread(&self, seed: u64, figure: impl FnMut(&[u32]) -> f64) -> Option<Bootstrap> {
        let spread = bootstrap(self.baseline.units(), RESAMPLES, seed, figure)?;
        Some(self.degrees_of_freedom_of_tails().map_or(spread, |most| spread.limited_to(most)))
    }

    /// The degrees of freedom left by the units that hold the requests beyond a quantile: the mean of both sides, weighted by what each
    /// contributes to the variance; the harmonic one, because the side with few units matters most. `None` for what has no tail.
    fn degrees_of_freedom_of_tails(&self) -> Option<f64> {
        let (mut baseline, candidate) = (self.baseline.tail_by_unit()?, self.candidate.tail_by_unit()?);
        if let Some(twin) = &self.twin {
            baseline.iter_mut().zip(twin.tail_by_unit()?).for_each(|(sum, twin)| *sum += twin);
        }
        let units = baseline.len();
        let of_baseline = jackknife_variance(units, |weights| self.place_of_baseline(weights));
        let of_candidate = jackknife_variance(units, |weights| self.scale.of(self.candidate.figure(weights)));
        let freedom = |own: &[f64], other: &[f64]| (effective_units(own, other) - 1.0).max(1.0);
        let sides = [freedom(&baseline, &candidate), freedom(&candidate, &baseline)];
        let mean = (of_baseline + of_candidate) / (of_baseline / sides[0] + of_candidate / sides[1]);
        Some(if mean.is_finite() { mean } else { sides[0].min(sides[1]) })
    }

    /// The cells that a claim rests on.
    pub fn sides(&self) -> impl Iterator<Item = (Side, &Prepared)> {
        let twin = self.twin.iter().map(|twin| (Side::Twin, twin));
        [(Side::Baseline, &self.baseline), (Side::Candidate, &self.candidate)].into_iter().chain(twin)
    }

    /// The baseline's place on the scale, with each unit taken so many times.
    pub fn place_of_baseline(&self, weights: &[u32]) -> f64 {
        let places = [Some(&self.baseline), self.twin.as_ref()].into_iter().flatten();
        let places: Vec<f64> = places.map(|cell| self.scale.of(cell.figure(weights))).collect();
        places.iter().sum::<f64>() / places.len() as f64
    }

    /// Each unit taken once.
    pub fn once(&self) -> Vec<u32> {
        vec![1; self.baseline.units()]
    }
}

/// Block by block: the difference of the slices' own figures, where each has one.
pub fn differences(metric: &Metric, blocks: &[Block<'_>]) -> Vec<f64> {
    let difference = |block: &Block<'_>| {
        let baseline = Prepared::of_slice(metric, block.baseline);
        let twin = block.twin.map(|twin| Prepared::of_slice(metric, twin));
        let baseline = twin.map_or(baseline, |twin| (baseline + twin) / 2.0);
        Prepared::of_slice(metric, block.candidate) - baseline
    };
    blocks.iter().map(difference).filter(|difference| difference.is_finite()).collect()
}
