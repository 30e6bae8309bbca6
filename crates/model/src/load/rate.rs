//! A request rate. It always carries its unit, because published benchmarks mix requests per minute and per second.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests per unit of time, kept as it was written so that it can be printed back: `100/min`, `2000/s`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Rate {
    count: f64,
    unit: RateUnit,
}

/// The unit of time of a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    /// `/s`
    Second,
    /// `/min`
    Minute,
    /// `/h`
    Hour,
}

/// Why a text is not a rate. The message ends with what to write.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RateError {
    /// A bare number: requests per what?
    #[error("a rate needs its unit: write {0}/s or {0}/min")]
    NoUnit(String),
    /// The unit is none of `s`, `min`, `h`.
    #[error("unknown unit `/{0}` of a rate: use /s, /min or /h")]
    UnknownUnit(String),
    /// The part before the slash is not a number.
    #[error("`{0}` is not a number of requests: write a rate as 2000/s or 100/min")]
    NotANumber(String),
    /// Zero, negative or beyond [`Rate::MAX_PER_SECOND`].
    #[error("a rate must be above 0 and at most {max}/s, not {0}", max = Rate::MAX_PER_SECOND)]
    OutOfRange(String),
}

impl Rate {
    /// Above this a due time would no longer fit the nanosecond clock's useful resolution.
    pub const MAX_PER_SECOND: u64 = 10_000_000;

    /// A rate of `count` requests a second.
    pub fn per_second(count: f64) -> Result<Rate, RateError> {
        Rate { count, unit: RateUnit::Second }.checked()
    }

    /// Requests per second.
    pub fn as_per_second(&self) -> f64 {
        self.count / self.unit.seconds()
    }

    /// Requests per minute.
    pub fn as_per_minute(&self) -> f64 {
        self.as_per_second() * 60.0
    }

    /// The mean time between two requests.
    pub fn mean_gap(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.as_per_second())
    }

    fn checked(self) -> Result<Rate, RateError> {
        let per_second = self.as_per_second();
        // Below one request a day nothing is measured; it also keeps `mean_gap` within a Duration.
        if per_second.is_finite() && (1.0 / 86_400.0..=Rate::MAX_PER_SECOND as f64).contains(&per_second) {
            Ok(self)
        } else {
            Err(RateError::OutOfRange(self.to_string()))
        }
    }
}

impl RateUnit {
    fn seconds(self) -> f64 {
        match self {
            RateUnit::Second => 1.0,
            RateUnit::Minute => 60.0,
            RateUnit::Hour => 3600.0,
        }
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Rate, RateError> {
        let text = text.trim();
        let (count, unit) = match text.split_once('/') {
            Some((count, unit)) => (count.trim(), Some(unit.trim())),
            None => (text, None),
        };
        let number: f64 =
            count.replace('_', "").parse().map_err(|_| RateError::NotANumber(count.to_owned()))?;
        let unit = match unit {
            Some("s") => RateUnit::Second,
            Some("min") => RateUnit::Minute,
            Some("h") => RateUnit::Hour,
            Some(other) => return Err(RateError::UnknownUnit(other.to_owned())),
            None => return Err(RateError::NoUnit(count.to_owned())),
        };
        Rate { count: number, unit }.checked()
    }
}

impl TryFrom<String> for Rate {
    type Error = RateError;

    fn try_from(text: String) -> Result<Rate, RateError> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> String {
        rate.to_string()
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            RateUnit::Second => "s",
            RateUnit::Minute => "min",
            RateUnit::Hour => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

/// Requests a second of a rate that, as one of several, may be zero: `0/min`.
///
/// # Errors
/// When it is neither a [`Rate`] nor zero with a unit.
pub fn parse_rate_or_zero(text: &str) -> Result<f64, RateError> {
    match text.parse::<Rate>() {
        Ok(rate) => Ok(rate.as_per_second()),
        Err(RateError::OutOfRange(_)) if is_zero(text) => Ok(0.0),
        Err(error) => Err(error),
    }
}

fn is_zero(rate: &str) -> bool {
    let count = rate.split('/').next().unwrap_or_default();
    count.trim().parse::<f64>() == Ok(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_is_read_with_its_unit() {
        for (text, per_second) in
            [("2000/s", 2000.0), ("120/min", 2.0), ("7200/h", 2.0), (" 1_000 / s ", 1000.0)]
        {
            assert_eq!(text.parse::<Rate>().unwrap().as_per_second(), per_second, "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_an_error_that_says_what_to_write() {
        let error = "1000".parse::<Rate>().unwrap_err();
        assert_eq!(error.to_string(), "a rate needs its unit: write 1000/s or 1000/min");
    }

    #[test]
    fn what_is_no_positive_finite_number_is_refused() {
        for text in
            ["0/s", "-1/s", "nan/s", "inf/s", "1e300/s", "99999999/s", "/s", "", "ten/s", "1/fortnight"]
        {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,30}") {
            let _ = text.parse::<Rate>();
        }

        #[test]
        fn a_rate_prints_as_it_was_written(count in 1u32..1_000_000, unit in "s|min|h") {
            let text = format!("{count}/{unit}");
            if let Ok(rate) = text.parse::<Rate>() {
                prop_assert_eq!(rate.to_string(), text);
            }
        }
    }
}
