//! A distribution of times in a document: its usual figures for a reader, and the whole histogram for a program.

use std::borrow::Cow;
use std::ops::Deref;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize};

/// A histogram of times in ns that is written with its figures, as [`Figures`], and read back from the histogram in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(Histogram<u64>);

impl Distribution {
    /// The distribution of these times; `None` when there are none.
    pub fn of(times: &Histogram<u64>) -> Option<Distribution> {
        (!times.is_empty()).then(|| Distribution(times.clone()))
    }

    /// Mean and spread, ns.
    pub fn spread(&self) -> Spread {
        let (mean, stdev) = (self.mean(), self.stdev());
        let within: u64 = self
            .iter_recorded()
            .filter(|step| (self.median_equivalent(step.value_iterated_to()) as f64 - mean).abs() <= stdev)
            .map(|step| step.count_at_value())
            .sum();
        Spread { mean, stdev, max: self.max() as f64, within: within as f64 / self.len() as f64 }
    }
}

/// Mean and spread of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub stdev: f64,
    /// Largest.
    pub max: f64,
    /// Share of the figures within one standard deviation of the mean.
    pub within: f64,
}

impl Deref for Distribution {
    type Target = Histogram<u64>;

    fn deref(&self) -> &Histogram<u64> {
        &self.0
    }
}

/// A distribution as it is written, in ns.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Distribution")]
struct Figures {
    /// How many times were recorded.
    count: u64,
    /// Mean.
    mean_ns: f64,
    /// Standard deviation.
    stdev_ns: f64,
    /// Smallest.
    min_ns: u64,
    /// Median.
    p50_ns: u64,
    /// 75th percentile.
    p75_ns: u64,
    /// 90th percentile.
    p90_ns: u64,
    /// 95th percentile.
    p95_ns: u64,
    /// 99th percentile.
    p99_ns: u64,
    /// 99.9th percentile.
    p99_9_ns: u64,
    /// 99.99th percentile.
    p99_99_ns: u64,
    /// 99.999th percentile.
    p99_999_ns: u64,
    /// Largest.
    max_ns: u64,
    /// All of it: base64 of HdrHistogram's V2 encoding, compressed, as every HdrHistogram library reads it.
    hdrhistogram_v2_base64: String,
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).map_err(S::Error::custom)?;
        let at = |quantile| self.value_at_quantile(quantile);
        let figures = Figures {
            count: self.len(),
            mean_ns: self.mean(),
            stdev_ns: self.stdev(),
            min_ns: self.min(),
            p50_ns: at(0.5),
            p75_ns: at(0.75),
            p90_ns: at(0.9),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            p99_999_ns: at(0.99999),
            max_ns: self.max(),
            hdrhistogram_v2_base64: BASE64_STANDARD.encode(bytes),
        };
        figures.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Distribution, D::Error> {
        let figures = Figures::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(figures.hdrhistogram_v2_base64).map_err(D::Error::custom)?;
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map(Distribution)
            .map_err(|error| D::Error::custom(format!("not a histogram: {error}")))
    }
}

impl JsonSchema for Distribution {
    fn schema_name() -> Cow<'static, str> {
        Figures::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Figures::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_histogram;

    #[test]
    fn a_distribution_is_written_with_its_figures_and_read_back_whole() {
        let mut times = new_histogram();
        (1..=1000).for_each(|us| times.record(us * 1000).unwrap());
        let written = serde_json::to_value(Distribution::of(&times).unwrap()).unwrap();
        assert_eq!(written["count"], 1000);
        assert_eq!(written["p99_ns"], times.value_at_quantile(0.99));
        assert_eq!(serde_json::from_value::<Distribution>(written).unwrap().0, times);
        assert_eq!(Distribution::of(&new_histogram()), None);
    }

    #[test]
    fn the_spread_counts_what_lies_within_one_standard_deviation() {
        let mut times = new_histogram();
        times.record_n(1_000, 98).unwrap();
        times.record_n(101_000, 2).unwrap();
        let spread = Distribution::of(&times).unwrap().spread();
        assert!(
            (spread.mean - 3_000.0).abs() < 30.0 && (spread.stdev - 14_000.0).abs() < 140.0,
            "{spread:?}"
        );
        assert_eq!(spread.within, 0.98);
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let mut times = new_histogram();
        times.record(1).unwrap();
        let mut written = serde_json::to_value(Distribution::of(&times).unwrap()).unwrap();
        for text in ["%", "AAAA"] {
            written["hdrhistogram_v2_base64"] = text.into();
            assert!(serde_json::from_value::<Distribution>(written.clone()).is_err(), "{text}");
        }
    }
}
