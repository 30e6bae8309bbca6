//! A metric's figure for any weighting of units: what the bootstrap asks for, thousands of times.

use std::collections::{BTreeMap, BTreeSet};

use hdrhistogram::Histogram;
use loadline_model::rows::SliceRow;
use loadline_stats::hodges_lehmann;

use crate::metrics::{Kind, Metric, Times};

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

/// Buckets that any unit has counts in, in order of value.
pub struct Buckets {
    quantile: f64,
    /// Lowest value and width of each bucket, ns.
    ranges: Vec<(f64, f64)>,
    /// By unit: how many counts lie in each bucket and those before it. A weighted sum of these is again such a series, so a
    /// quantile is found by halving instead of by adding up thousands of buckets.
    cumulative: Vec<Vec<u64>>,
}

impl Prepared {
    /// Gathers a metric's data. `None` when no slice has it.
    pub fn new<'a>(metric: &Metric, units: impl Iterator<Item = Vec<&'a SliceRow>>) -> Option<Prepared> {
        match metric.kind {
            Kind::Quantile(times, quantile) => {
                let merged: Vec<BTreeMap<(u64, u64), u64>> =
                    units.map(|slices| merge(times, &slices)).collect();
                Some(Prepared::Buckets(Buckets::new(quantile, &merged)))
            }
            Kind::Mean(_) | Kind::Ratio(_) | Kind::PerRequest | Kind::Level => {
                let sum = |slices: Vec<&SliceRow>| {
                    let seen = slices.into_iter().filter_map(|slice| metric.ratio(slice));
                    seen.fold((0.0, 0.0), |sum, slice| (sum.0 + slice.0, sum.1 + slice.1))
                };
                Some(Prepared::Ratios(units.map(sum).collect())).filter(|ratios| ratios.whole().is_finite())
            }
            Kind::LowerHalfMean(_) => Prepared::slice_by_slice(metric, units),
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
        Prepared::new(metric, std::iter::once(vec![slice])).map_or(f64::NAN, |data| data.whole())
    }

    fn slice_by_slice<'a>(
        metric: &Metric,
        units: impl Iterator<Item = Vec<&'a SliceRow>>,
    ) -> Option<Prepared> {
        let mut slices = Slices { figures: Vec::new(), units: 0 };
        for (unit, rows) in units.enumerate() {
            slices.units = unit + 1;
            let ratios = rows.into_iter().filter_map(|slice| metric.ratio(slice));
            let seen = ratios.map(|(top, bottom)| (top / bottom, unit));
            slices.figures.extend(seen.filter(|(figure, _)| figure.is_finite()));
        }
        slices.figures.sort_by(|left, right| left.0.total_cmp(&right.0));
        (!slices.figures.is_empty()).then_some(Prepared::Slices(slices))
    }

    /// The figure with each unit taken so many times; NaN when there is nothing to compute it from.
    pub fn figure(&self, weights: &[u32]) -> f64 {
        match self {
            Prepared::Buckets(buckets) => buckets.figure(weights),
            Prepared::Slices(slices) => slices.lower_half_mean(weights),
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

    /// How many units there are.
    pub fn units(&self) -> usize {
        match self {
            Prepared::Buckets(buckets) => buckets.cumulative.len(),
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

    /// Requests beyond the quantile; `None` for a ratio, whose every request counts.
    pub fn beyond(&self) -> Option<f64> {
        match self {
            Prepared::Buckets(buckets) => {
                let total: u64 = buckets.cumulative.iter().filter_map(|unit| unit.last()).sum();
                Some(total as f64 * (1.0 - buckets.quantile))
            }
            Prepared::Ratios(_) | Prepared::Slices(_) => None,
        }
    }
}

impl Slices {
    /// The mean of the figures up to the median.
    fn lower_half_mean(&self, weights: &[u32]) -> f64 {
        let weight = |unit: usize| f64::from(weights[unit]);
        let half = self.figures.iter().map(|(_, unit)| weight(*unit)).sum::<f64>() / 2.0;
        let (mut left, mut sum) = (half, 0.0);
        for (figure, unit) in &self.figures {
            let counts = weight(*unit).min(left);
            sum += figure * counts;
            left -= counts;
        }
        sum / half
    }
}

impl Buckets {
    fn new(quantile: f64, units: &[BTreeMap<(u64, u64), u64>]) -> Buckets {
        let all: BTreeSet<(u64, u64)> = units.iter().flat_map(|unit| unit.keys().copied()).collect();
        let ranges = all.iter().map(|(low, width)| (*low as f64, *width as f64)).collect();
        let cumulate = |unit: &BTreeMap<(u64, u64), u64>| {
            let mut sum = 0;
            let add = |key: &(u64, u64)| {
                sum += unit.get(key).copied().unwrap_or(0);
                sum
            };
            all.iter().map(add).collect()
        };
        Buckets { quantile, ranges, cumulative: units.iter().map(cumulate).collect() }
    }

    /// By unit: the requests in buckets above that of the quantile of all units.
    fn beyond_by_unit(&self) -> Vec<f64> {
        let figure = self.figure(&vec![1; self.cumulative.len()]);
        let Some(last_below) = self.ranges.iter().rposition(|(low, _)| *low <= figure) else {
            return Vec::new();
        };
        let beyond = |unit: &Vec<u64>| unit.last().copied().unwrap_or(0) - unit[last_below];
        self.cumulative.iter().map(|unit| beyond(unit) as f64).collect()
    }

    /// The quantile of the merged counts, interpolated within its bucket so that it does not jump by a bucket's width.
    fn figure(&self, weights: &[u32]) -> f64 {
        let up_to = |bucket: usize| -> u64 {
            self.cumulative.iter().zip(weights).map(|(unit, weight)| u64::from(*weight) * unit[bucket]).sum()
        };
        let Some(last) = self.ranges.len().checked_sub(1) else { return f64::NAN };
        let total = up_to(last);
        let rank = self.quantile * total as f64;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high) / 2;
            if up_to(middle) as f64 >= rank.max(1.0) { high = middle } else { low = middle + 1 }
        }
        let below = if low == 0 { 0 } else { up_to(low - 1) };
        if total == 0 {
            return f64::NAN;
        }
        let (value, width) = self.ranges[low];
        // A rank below 1 (a low quantile of few requests) is at the first request, not before it.
        value + width * (rank - below as f64).max(0.0) / (up_to(low) - below) as f64
    }
}

/// The merged histograms of some slices, as (lowest value, width) → count.
fn merge(times: Times, slices: &[&SliceRow]) -> BTreeMap<(u64, u64), u64> {
    let mut merged = BTreeMap::new();
    for slice in slices {
        let histogram = times.of(slice);
        for value in histogram.iter_recorded() {
            let low = histogram.lowest_equivalent(value.value_iterated_to());
            let width = histogram.equivalent_range(low);
            *merged.entry((low, width)).or_insert(0) += value.count_at_value();
        }
    }
    merged
}

/// The merged histogram of some slices.
pub fn merged<'a>(times: Times, slices: impl Iterator<Item = &'a SliceRow>) -> Histogram<u64> {
    let mut whole = loadline_model::new_histogram();
    for slice in slices {
        // Only a histogram with wider bounds could not be added, and all have the same.
        whole.add(times.of(slice)).expect("histograms of a run have the same bounds");
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(quantile: f64, units: &[&[(u64, u64)]]) -> Buckets {
        let maps: Vec<BTreeMap<(u64, u64), u64>> =
            units.iter().map(|unit| unit.iter().map(|(low, count)| ((*low, 10), *count)).collect()).collect();
        Buckets::new(quantile, &maps)
    }

    #[test]
    fn a_quantile_is_interpolated_within_its_bucket() {
        let buckets = buckets(0.5, &[&[(100, 2), (110, 2), (120, 4)]]);
        assert_eq!(buckets.figure(&[1]), 120.0, "half of eight lie below 120");
        assert_eq!(super::tests::buckets(0.75, &[&[(100, 2), (110, 2), (120, 4)]]).figure(&[1]), 125.0);
    }

    #[test]
    fn units_count_as_often_as_they_are_drawn() {
        let buckets = buckets(0.5, &[&[(100, 4)], &[(200, 4)]]);
        assert_eq!(buckets.figure(&[2, 0]), 105.0);
        assert_eq!(buckets.figure(&[0, 2]), 205.0);
        assert_eq!(buckets.figure(&[1, 1]), 110.0);
    }

    #[test]
    fn the_lower_half_is_weighted_by_units() {
        let slices = Slices { figures: vec![(1.0, 0), (2.0, 1), (3.0, 0), (100.0, 1)], units: 2 };
        assert_eq!(slices.lower_half_mean(&[1, 1]), 1.5);
        assert_eq!(slices.lower_half_mean(&[2, 0]), 1.0);
        assert!(slices.lower_half_mean(&[0, 0]).is_nan());
    }

    #[test]
    fn nothing_recorded_gives_no_figure() {
        assert!(buckets(0.5, &[&[], &[]]).figure(&[1, 1]).is_nan());
    }
}
