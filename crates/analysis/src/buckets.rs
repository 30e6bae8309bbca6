//! A quantile of the merged histograms of several units, each taken any number of times. It is interpolated within its bucket, so that it
//! does not jump by a bucket's width.

use std::rc::Rc;

use hdrhistogram::Histogram;
use loadline_model::SparseHistogram;
use loadline_model::rows::SliceRow;

use crate::times::Times;

/// A quantile of these requests.
pub struct Buckets {
    quantile: f64,
    requests: Rc<Cumulative>,
}

/// Requests of several units by bucket: of those that any unit has requests in, in order of value.
pub struct Cumulative {
    /// Lowest value and width of each bucket, ns.
    ranges: Vec<(f64, f64)>,
    /// By unit: how many requests lie in each bucket and those before it. A weighted sum of these is again such a series, so a quantile is
    /// found by halving instead of by adding up thousands of buckets.
    by_unit: Vec<Vec<u64>>,
}

/// The merged histogram of some slices.
pub fn merged<'a>(times: Times, slices: impl Iterator<Item = &'a SliceRow>) -> Histogram<u64> {
    let mut whole = loadline_model::new_histogram();
    for slice in slices {
        times.of(slice).add_to(&mut whole);
    }
    whole
}

/// The quantile of a single histogram; NaN if nothing is recorded in it.
pub fn quantile_of(histogram: &SparseHistogram, quantile: f64) -> f64 {
    if histogram.is_empty() {
        return f64::NAN;
    }
    let low = histogram.lowest_equivalent(histogram.value_at_quantile(quantile));
    let least = histogram.min();
    let below = if least < low { histogram.count_between(least, low - 1) } else { 0 };
    let range = (low as f64, histogram.equivalent_range(low) as f64);
    interpolated(range, quantile * histogram.len() as f64, below, histogram.count_between(low, low))
}

/// Where in its bucket the request of this rank lies, if requests are spread evenly over it.
fn interpolated((low, width): (f64, f64), rank: f64, below: u64, inside: u64) -> f64 {
    // A rank below 1 (a low quantile of few requests) is at the first request, not before it.
    low + width * (rank - below as f64).max(0.0) / inside as f64
}

impl Cumulative {
    /// Of the units' slices.
    pub fn new<'a>(times: Times, units: impl Iterator<Item = Vec<&'a SliceRow>>) -> Cumulative {
        Cumulative::of(units.map(|slices| merged(times, slices.into_iter())))
    }

    fn of(units: impl Iterator<Item = Histogram<u64>>) -> Cumulative {
        let units: Vec<Vec<Recorded>> = units.map(|histogram| recorded(&histogram)).collect();
        let mut ranges: Vec<(u64, u64)> = units.iter().flatten().map(|bucket| bucket.range).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let cumulate = |unit: &Vec<Recorded>| {
            let (mut buckets, mut sum) = (unit.iter().peekable(), 0);
            let up_to = |range: &(u64, u64)| {
                sum += buckets.next_if(|bucket| bucket.range == *range).map_or(0, |bucket| bucket.requests);
                sum
            };
            ranges.iter().map(up_to).collect()
        };
        let by_unit = units.iter().map(cumulate).collect();
        Cumulative {
            ranges: ranges.iter().map(|(low, width)| (*low as f64, *width as f64)).collect(),
            by_unit,
        }
    }
}

impl Buckets {
    /// The quantile of these requests.
    pub fn new(quantile: f64, requests: Rc<Cumulative>) -> Buckets {
        Buckets { quantile, requests }
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.requests.by_unit.len()
    }

    /// Whether it is an upper quantile.
    pub fn is_tail(&self) -> bool {
        self.quantile > 0.5
    }

    /// Requests of all units beyond the quantile.
    pub fn beyond(&self) -> f64 {
        let total: u64 = self.requests.by_unit.iter().filter_map(|unit| unit.last()).sum();
        total as f64 * (1.0 - self.quantile)
    }

    /// By unit: the requests in buckets above that of the quantile of all units.
    pub fn beyond_by_unit(&self) -> Vec<f64> {
        let figure = self.figure(&vec![1; self.requests.by_unit.len()]);
        let Some(last_below) = self.requests.ranges.iter().rposition(|(low, _)| *low <= figure) else {
            return Vec::new();
        };
        let beyond = |unit: &Vec<u64>| unit.last().copied().unwrap_or(0) - unit[last_below];
        self.requests.by_unit.iter().map(|unit| beyond(unit) as f64).collect()
    }

    /// The quantile with each unit taken so many times; NaN if nothing is recorded in them.
    pub fn figure(&self, weights: &[u32]) -> f64 {
        let up_to = |bucket: usize| -> u64 {
            self.requests
                .by_unit
                .iter()
                .zip(weights)
                .map(|(unit, weight)| u64::from(*weight) * unit[bucket])
                .sum()
        };
        let Some(last) = self.requests.ranges.len().checked_sub(1) else { return f64::NAN };
        let total = up_to(last);
        let rank = self.quantile * total as f64;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high) / 2;
            if up_to(middle) as f64 >= rank.max(1.0) { high = middle } else { low = middle + 1 }
        }
        if total == 0 {
            return f64::NAN;
        }
        let below = if low == 0 { 0 } else { up_to(low - 1) };
        interpolated(self.requests.ranges[low], rank, below, up_to(low) - below)
    }
}

/// A bucket of a histogram that has requests in it.
struct Recorded {
    /// Lowest value and width, ns.
    range: (u64, u64),
    requests: u64,
}

fn recorded(histogram: &Histogram<u64>) -> Vec<Recorded> {
    let bucket = |value: hdrhistogram::iterators::IterationValue<u64>| {
        let low = histogram.lowest_equivalent(value.value_iterated_to());
        Recorded { range: (low, histogram.equivalent_range(low)), requests: value.count_at_value() }
    };
    histogram.iter_recorded().map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit's histogram, of these values and how often each was recorded.
    fn unit(values: &[(u64, u64)]) -> Histogram<u64> {
        let mut histogram = loadline_model::new_histogram();
        for (value, count) in values {
            histogram.record_n(*value, *count).unwrap();
        }
        histogram
    }

    fn buckets(quantile: f64, units: &[&[(u64, u64)]]) -> Buckets {
        Buckets::new(quantile, Rc::new(Cumulative::of(units.iter().map(|values| unit(values)))))
    }

    #[test]
    fn a_quantile_is_interpolated_within_its_bucket() {
        // Buckets are 4 ns wide here.
        let values: &[(u64, u64)] = &[(8_000, 2), (8_004, 2), (8_008, 4)];
        assert_eq!(buckets(0.5, &[values]).figure(&[1]), 8_008.0, "half of eight lie below 8,008");
        assert_eq!(buckets(0.75, &[values]).figure(&[1]), 8_010.0);
    }

    #[test]
    fn units_count_as_often_as_they_are_drawn() {
        let buckets = buckets(0.5, &[&[(8_000, 4)], &[(8_100, 4)]]);
        assert_eq!(buckets.figure(&[2, 0]), 8_002.0);
        assert_eq!(buckets.figure(&[0, 2]), 8_102.0);
        assert_eq!(buckets.figure(&[1, 1]), 8_004.0);
    }

    #[test]
    fn nothing_recorded_gives_no_figure() {
        assert!(buckets(0.5, &[&[], &[]]).figure(&[1, 1]).is_nan());
        assert!(quantile_of(&SparseHistogram::default(), 0.5).is_nan());
    }

    #[test]
    fn a_single_histogram_has_the_quantile_of_its_buckets() {
        let few: &[(u64, u64)] = &[(1, 1)];
        let many: Vec<(u64, u64)> = (0..1_000).map(|at| (at * at * 37 % 900_001, 1 + at % 3)).collect();
        for values in [few, &[(0, 3), (5, 1)], &many] {
            for quantile in [0.0001, 0.5, 0.9, 0.99, 0.999, 1.0] {
                let of_buckets = buckets(quantile, &[values]).figure(&[1]);
                assert_eq!(
                    quantile_of(&SparseHistogram::from(&unit(values)), quantile),
                    of_buckets,
                    "{quantile}"
                );
            }
        }
    }
}
