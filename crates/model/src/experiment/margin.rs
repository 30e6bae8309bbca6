//! The margin: the largest difference that does not matter, fixed before anything is measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::metrics::Unit;

/// The largest difference that does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Margin {
    /// This share of the baseline's figure, whatever the metric: 0.01 is 1 %.
    Share(f64),
    /// This much, for times and CPU times; other metrics have the default margin.
    Time(Duration),
}

impl Margin {
    /// The margin of an experiment that names none.
    pub const DEFAULT: Margin = Margin::Share(0.01);

    /// The margin of a metric whose figure is `baseline`, in the metric's unit.
    pub fn of(self, baseline: f64, unit: Unit) -> f64 {
        match (self, unit) {
            (Margin::Share(share), _) => share * baseline.abs(),
            (Margin::Time(time), Unit::Nanoseconds) => time.as_nanos() as f64,
            (Margin::Time(_), _) => Margin::DEFAULT.of(baseline, unit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_share_of_any_metric_or_a_time_of_times() {
        assert_eq!(Margin::Share(0.02).of(-50_000.0, Unit::Nanoseconds), 1_000.0);
        let time = Margin::Time(Duration::from_micros(2));
        assert_eq!(time.of(50_000.0, Unit::Nanoseconds), 2_000.0);
        assert_eq!(time.of(300.0, Unit::Count), 3.0, "1 % of a count");
    }

    #[test]
    fn a_margin_of_an_earlier_store_is_a_share() {
        assert_eq!(serde_json::from_str::<Margin>("0.03").unwrap(), Margin::Share(0.03));
        let time = Margin::Time(Duration::from_micros(2));
        let written = serde_json::to_string(&time).unwrap();
        assert_eq!(serde_json::from_str::<Margin>(&written).unwrap(), time);
    }
}
