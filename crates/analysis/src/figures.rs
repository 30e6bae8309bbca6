//! A metric's figure for any weighting of units: what the bootstrap asks for, thousands of times.

use std::rc::Rc;

use loadline_model::rows::SliceRow;
use loadline_stats::hodges_lehmann;

use crate::buckets::{Buckets, Cumulative, quantile_of};
use crate::metrics::{Kind, Metric};

/// A metric's data of one cell, unit by unit.
pub enum Prepared {
    /// Counts of the merged histograms' buckets.
    Buckets(Buckets),
    /// Numerators and denominators.
    Ratios(Vec<(f64, f64)>),
    /// Figures of the slices.
    Slices(Slices),
}

/// The figure of each slice, in order of value, and its unit.
pub struct Slices {
    figures: Vec<(f64, usize)>,
    units: usize,
}

impl Prepared {
    /// Gathers a metric's data. `None` when no slice has it.
    pub fn new<'a>(metric: &Metric, units: impl Iterator<Item = Vec<&'a SliceRow>>) -> Option<Prepared> {
        match metric.kind {
            Kind::Quantile(times, quantile) => {
                Some(Prepared::Buckets(Buckets::new(quantile, Rc::new(Cumulative::new(times, units)))))
            }
            Kind::Mean(_) | Kind::Ratio(_) | Kind::PerRequest | Kind::Level => {
                let sum = |slices: Vec<&SliceRow>| {
                    let seen = slices.into_iter().filter_map(|slice| metric.ratio(slice));
                    seen.fold((0.0, 0.0), |sum, slice| (sum.0 + slice.0, sum.1 + slice.1))
                };
                Some(Prepared::Ratios(units.map(sum).collect())).filter(|ratios| ratios.whole().is_finite())
            }
            Kind::OfDeployments(ref figures) => {
                // All slices of a unit are of one deployment.
                let of_deployment = |slices: Vec<&SliceRow>| {
                    let figure = slices.first().and_then(|slice| figures.at(slice));
                    figure.map_or((0.0, 0.0), |figure| (figure, 1.0))
                };
                Some(Prepared::Ratios(units.map(of_deployment).collect()))
                    .filter(|ratios| ratios.whole().is_finite())
            }
            Kind::Paired(_) => {
                let figures = |slice: &SliceRow| metric.ratio(slice).map(|(top, bottom)| top / bottom);
                Prepared::slice_by_slice(units.map(|slices| slices.into_iter().filter_map(figures).collect()))
            }
            Kind::Undisturbed(_) => {
                let robust = |slices: Vec<&SliceRow>| {
                    let ratios = slices.into_iter().filter_map(|slice| metric.ratio(slice));
                    let figures: Vec<f64> = ratios.map(|(top, bottom)| top / bottom).collect();
                    if figures.is_empty() { (0.0, 0.0) } else { (hodges_lehmann(&figures), 1.0) }
                };
                Some(Prepared::Ratios(units.map(robust).collect()))
                    .filter(|ratios| ratios.whole().is_finite())
            }
        }
    }

    /// The figure of a single slice; NaN when it has none.
    pub fn of_slice(metric: &Metric, slice: &SliceRow) -> f64 {
        match metric.kind {
            Kind::Quantile(times, quantile) => quantile_of(times.of(slice), quantile),
            Kind::OfDeployments(_) => f64::NAN,
            _ => Prepared::new(metric, std::iter::once(vec![slice])).map_or(f64::NAN, |data| data.whole()),
        }
    }

    /// Figures of slices, or their differences, unit by unit. `None` when there is none.
    pub fn slice_by_slice(units: impl Iterator<Item = Vec<f64>>) -> Option<Prepared> {
        let mut slices = Slices { figures: Vec::new(), units: 0 };
        for (unit, figures) in units.enumerate() {
            slices.units = unit + 1;
            slices
                .figures
                .extend(figures.into_iter().filter(|figure| figure.is_finite()).map(|figure| (figure, unit)));
        }
        slices.figures.sort_by(|left, right| left.0.total_cmp(&right.0));
        (!slices.figures.is_empty()).then_some(Prepared::Slices(slices))
    }

    /// The figure with each unit taken so many times; NaN when there is nothing to compute it from.
    pub fn figure(&self, weights: &[u32]) -> f64 {
        match self {
            Prepared::Buckets(buckets) => buckets.figure(weights),
            Prepared::Slices(slices) => slices.middle_half_mean(weights),
            Prepared::Ratios(ratios) => {
                let (top, bottom) =
                    ratios.iter().zip(weights).fold((0.0, 0.0), |(top, bottom), (ratio, weight)| {
                        (top + ratio.0 * f64::from(*weight), bottom + ratio.1 * f64::from(*weight))
                    });
                top / bottom
            }
        }
    }

    /// The figure with each unit taken once.
    pub fn whole(&self) -> f64 {
        self.figure(&vec![1; self.units()])
    }

    /// The figure of each unit alone.
    pub fn by_unit(&self) -> Vec<f64> {
        let units = self.units();
        let alone = |unit: usize| (0..units).map(|other| u32::from(other == unit)).collect::<Vec<u32>>();
        (0..units).map(|unit| self.figure(&alone(unit))).collect()
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        match self {
            Prepared::Buckets(buckets) => buckets.units(),
            Prepared::Ratios(ratios) => ratios.len(),
            Prepared::Slices(slices) => slices.units,
        }
    }

    /// The sum that a ratio divides: events, for a count; `None` for a quantile.
    pub fn events(&self) -> Option<f64> {
        match self {
            Prepared::Buckets(_) | Prepared::Slices(_) => None,
            Prepared::Ratios(ratios) => Some(ratios.iter().map(|ratio| ratio.0).sum()),
        }
    }

    /// Requests beyond the quantile of all units, unit by unit; empty for what has no quantile.
    pub fn beyond_by_unit(&self) -> Vec<f64> {
        match self {
            Prepared::Buckets(buckets) => buckets.beyond_by_unit(),
            Prepared::Ratios(_) | Prepared::Slices(_) => Vec::new(),
        }
    }

    /// Requests beyond an upper quantile, unit by unit; `None` for everything else. Beyond a median lies half of all requests, and no tail.
    pub fn tail_by_unit(&self) -> Option<Vec<f64>> {
        match self {
            Prepared::Buckets(buckets) if buckets.is_tail() => Some(buckets.beyond_by_unit()),
            _ => None,
        }
    }

    /// Requests beyond the quantile; `None` for a ratio, whose every request counts.
    pub fn beyond(&self) -> Option<f64> {
        match self {
            Prepared::Buckets(buckets) => Some(buckets.beyond()),
            Prepared::Ratios(_) | Prepared::Slices(_) => None,
        }
    }
}

impl Slices {
    /// The mean of the figures between their quartiles.
    fn middle_half_mean(&self, weights: &[u32]) -> f64 {
        let weight = |unit: usize| f64::from(weights[unit]);
        let whole = self.figures.iter().map(|(_, unit)| weight(*unit)).sum::<f64>();
        let (from, to) = (whole / 4.0, whole * 3.0 / 4.0);
        let (mut below, mut sum) = (0.0, 0.0);
        for (figure, unit) in &self.figures {
            let end = below + weight(*unit);
            sum += figure * (end.min(to) - below.max(from)).max(0.0);
            below = end;
        }
        sum / (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_is_weighted_by_units() {
        let slices = Slices { figures: vec![(1.0, 0), (2.0, 1), (4.0, 0), (100.0, 1)], units: 2 };
        assert_eq!(slices.middle_half_mean(&[1, 1]), 3.0);
        assert_eq!(slices.middle_half_mean(&[2, 0]), 2.5);
        // Of 1, 2, 2, 2, 4, 100, 100, 100 what is between a quarter and three quarters.
        assert_eq!(slices.middle_half_mean(&[1, 3]), (2.0 + 2.0 + 4.0 + 100.0) / 4.0);
        assert!(slices.middle_half_mean(&[0, 0]).is_nan());
    }
}
