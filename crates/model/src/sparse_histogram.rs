//! The times of a slice: a histogram with loadline's bounds has 33,000 buckets, of which the few hundred requests of a slice use as many at
//! most. With its empty buckets left out, ten thousand slices fit into some megabytes instead of gigabytes.

mod encoded;

use hdrhistogram::Histogram;

use crate::histogram::{HistogramError, as_text, bounds, decode_histogram, encode_histogram, new_histogram};

/// What a [`Histogram`] of times in ns holds, bucket by bucket. Its figures are those that the histogram would give.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseHistogram {
    /// The lowest value of each bucket that holds any, and how many, in ascending order.
    buckets: Vec<(u64, u64)>,
}

impl From<&Histogram<u64>> for SparseHistogram {
    fn from(histogram: &Histogram<u64>) -> SparseHistogram {
        let bucket = |step: hdrhistogram::iterators::IterationValue<u64>| {
            (bounds().lowest_equivalent(step.value_iterated_to()), step.count_at_value())
        };
        SparseHistogram { buckets: histogram.iter_recorded().map(bucket).collect() }
    }
}

impl SparseHistogram {
    /// Reads what [`SparseHistogram::encode`] wrote.
    ///
    /// # Errors
    /// When it is no histogram, or one with other bounds.
    pub fn decode(bytes: &[u8]) -> Result<SparseHistogram, HistogramError> {
        match encoded::buckets(bytes) {
            Some(buckets) => Ok(SparseHistogram { buckets }),
            None => decode_histogram(bytes).map(|histogram| SparseHistogram::from(&histogram)),
        }
    }

    /// As [`encode_histogram`] writes the whole histogram.
    pub fn encode(&self) -> Vec<u8> {
        encode_histogram(&self.whole())
    }

    /// The whole histogram.
    pub fn whole(&self) -> Histogram<u64> {
        let mut whole = new_histogram();
        self.add_to(&mut whole);
        whole
    }

    /// Adds these times to a histogram with loadline's bounds.
    pub fn add_to(&self, whole: &mut Histogram<u64>) {
        for (value, count) in &self.buckets {
            // All values are within the bounds, for they came out of such a histogram.
            whole.saturating_record_n(*value, *count);
        }
    }

    /// Adds a time, ns, so many times.
    pub fn record_n(&mut self, value: u64, count: u64) {
        let value = bounds().lowest_equivalent(value.min(bounds().high()));
        match self.buckets.binary_search_by_key(&value, |(value, _)| *value) {
            Ok(at) => self.buckets[at].1 += count,
            Err(at) => self.buckets.insert(at, (value, count)),
        }
    }

    /// The lowest value of each bucket that holds any, and how many, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets.iter().copied()
    }

    /// How many times there are.
    pub fn len(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The shortest time, ns; 0 if there is none.
    pub fn min(&self) -> u64 {
        self.buckets.first().map_or(0, |(value, _)| *value)
    }

    /// The longest time, ns, at the upper end of its bucket; 0 if there is none.
    pub fn max(&self) -> u64 {
        self.buckets.last().map_or(0, |(value, _)| bounds().highest_equivalent(*value))
    }

    /// The mean, ns, with every time in the middle of its bucket.
    pub fn mean(&self) -> f64 {
        let count = self.len() as f64;
        let sum: f64 = self.middles().map(|(middle, count)| middle * count).sum();
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// The standard deviation, ns.
    pub fn stdev(&self) -> f64 {
        let (count, mean) = (self.len() as f64, self.mean());
        let squares: f64 = self.middles().map(|(middle, count)| (middle - mean).powi(2) * count).sum();
        if count > 0.0 { (squares / count).sqrt() } else { 0.0 }
    }

    fn middles(&self) -> impl Iterator<Item = (f64, f64)> {
        self.iter().map(|(value, count)| (bounds().median_equivalent(value) as f64, count as f64))
    }

    /// The upper end of the bucket in which a quantile lies, ns; 0 if there is no time.
    pub fn value_at_quantile(&self, quantile: f64) -> u64 {
        let rank = ((quantile.min(1.0) * self.len() as f64).ceil() as u64).max(1);
        let mut below = 0;
        let bucket = self.buckets.iter().find(|(_, count)| {
            below += count;
            below >= rank
        });
        bucket.map_or(0, |(value, _)| bounds().highest_equivalent(*value))
    }

    /// How many times are in the buckets of two values and between them.
    pub fn count_between(&self, low: u64, high: u64) -> u64 {
        let (low, high) = (self.lowest_equivalent(low), self.lowest_equivalent(high));
        self.iter().filter(|(value, _)| (low..=high).contains(value)).map(|(_, count)| count).sum()
    }

    /// The lowest value of a value's bucket.
    pub fn lowest_equivalent(&self, value: u64) -> u64 {
        bounds().lowest_equivalent(value)
    }

    /// The highest value of a value's bucket.
    pub fn highest_equivalent(&self, value: u64) -> u64 {
        bounds().highest_equivalent(value)
    }

    /// How wide a value's bucket is.
    pub fn equivalent_range(&self, value: u64) -> u64 {
        bounds().equivalent_range(value)
    }

    /// The longest time that there may be.
    pub fn high(&self) -> u64 {
        bounds().high()
    }
}

impl serde::Serialize for SparseHistogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_text::serialize(&self.whole(), serializer)
    }
}

impl<'de> serde::Deserialize<'de> for SparseHistogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<SparseHistogram, D::Error> {
        as_text::deserialize(deserializer).map(|histogram| SparseHistogram::from(&histogram))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn its_figures_are_those_of_the_histogram(times in prop::collection::vec(0u64..10_000_000_000, 0..200), quantile in 0.001..1.0f64) {
            let (mut whole, mut sparse) = (new_histogram(), SparseHistogram::default());
            for time in &times {
                whole.record(*time).unwrap();
                sparse.record_n(*time, 1);
            }
            prop_assert_eq!(&SparseHistogram::from(&whole), &sparse);
            prop_assert_eq!(&SparseHistogram::decode(&sparse.encode()).unwrap(), &sparse);
            prop_assert_eq!(sparse.encode(), encode_histogram(&whole));
            let figures = (sparse.len(), sparse.min(), sparse.max(), sparse.value_at_quantile(quantile));
            let expected = (whole.len(), whole.min(), whole.max(), whole.value_at_quantile(quantile));
            prop_assert_eq!(figures, expected);
            prop_assert!((sparse.mean() - whole.mean()).abs() <= 1e-9 * whole.mean());
            prop_assert!((sparse.stdev() - whole.stdev()).abs() <= 1e-6 * whole.stdev());
            let (low, high) = (sparse.value_at_quantile(0.2), sparse.value_at_quantile(0.8).max(1));
            if low <= high && low > 0 {
                prop_assert_eq!(sparse.count_between(low, high), whole.count_between(low, high));
            }
        }
    }
}
