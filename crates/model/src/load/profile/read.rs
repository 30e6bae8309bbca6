//! Reading a profile, and what can be wrong with its text.

use std::str::FromStr;

use super::{Profile, Segment};
use crate::load::{Nanos, RateError, TimeError, parse_rate_or_zero, parse_time};

/// Why a text is not a profile. The message ends with what to write.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProfileError {
    /// Nothing stands where a segment should.
    #[error("a rate is missing in `{0}`: write 2000/s, or 1000/s@10s,2000/s@10s for steps")]
    Missing(String),
    /// A rate of a segment is none.
    #[error("in `{segment}`: {error}")]
    Rate {
        /// The segment as it was written.
        segment: String,
        /// What is wrong with the rate.
        error: RateError,
    },
    /// The time of a segment is none.
    #[error("in `{segment}`: {error}")]
    Time {
        /// The segment as it was written.
        segment: String,
        /// What is wrong with the time.
        error: TimeError,
    },
    /// A segment of no length.
    #[error("`{0}` lasts no time: write a time above 0 after the @")]
    NoTime(String),
    /// A segment that goes on until the end has another one after it.
    #[error("`{0}` goes on until the end, but more follows: write {0}@10s, or put it last")]
    NotLast(String),
    /// A ramp among other segments must say how long it takes.
    #[error("`{0}` does not say how long the ramp takes: write {0}@30s")]
    RampWithoutTime(String),
    /// All rates are zero.
    #[error("`{0}` asks for no request at all: write a rate above 0/s somewhere")]
    Nothing(String),
    /// The segments last longer than 64 bits of ns, 584 years.
    #[error("`{0}` is too long: check the units after the @")]
    TooLong(String),
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Profile, ProfileError> {
        let text = text.trim();
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut segments = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            if part.is_empty() {
                return Err(ProfileError::Missing(text.to_owned()));
            }
            let segment = segment(part)?;
            if segment.lasts.is_none() {
                if segment.is_ramp() && parts.len() > 1 {
                    return Err(ProfileError::RampWithoutTime((*part).to_owned()));
                }
                if index + 1 < parts.len() {
                    return Err(ProfileError::NotLast((*part).to_owned()));
                }
            }
            segments.push(segment);
        }
        if segments.iter().all(|segment| segment.from == 0.0 && segment.to == 0.0) {
            return Err(ProfileError::Nothing(text.to_owned()));
        }
        let mut times = segments.iter().filter_map(|segment| segment.lasts);
        if times.try_fold(0, Nanos::checked_add).is_none() {
            return Err(ProfileError::TooLong(text.to_owned()));
        }
        Ok(Profile { text: text.to_owned(), segments })
    }
}

impl Segment {
    fn is_ramp(&self) -> bool {
        self.from != self.to
    }
}

fn segment(text: &str) -> Result<Segment, ProfileError> {
    let (rates, time) = match text.split_once('@') {
        Some((rates, time)) => (rates, Some(time)),
        None => (text, None),
    };
    let per_second = |rate: &str| {
        parse_rate_or_zero(rate).map_err(|error| ProfileError::Rate { segment: text.to_owned(), error })
    };
    let (from, to) = match rates.split_once("..") {
        Some((from, to)) => (per_second(from)?, per_second(to)?),
        None => (per_second(rates)?, per_second(rates)?),
    };
    let lasts = match time.map(|time| parse_time(time, None)) {
        Some(Ok(0)) => return Err(ProfileError::NoTime(text.to_owned())),
        Some(Ok(lasts)) => Some(lasts),
        Some(Err(error)) => return Err(ProfileError::Time { segment: text.to_owned(), error }),
        None => None,
    };
    Ok(Segment { from, to, lasts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn a_profile_prints_as_it_was_written() {
        for text in [
            "2000/s",
            "100/min@90s",
            "1000/s..5000/s",
            "1000/s..5000/s@30s",
            "0/s..5000/s@1.5min,5000/s",
            "1000/s@10s,2000/s@10s",
            "500/s@1s,0/s@1s,500/s@1s",
        ] {
            assert_eq!(text.parse::<Profile>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_duration_is_that_of_all_segments() {
        let duration = |text: &str| text.parse::<Profile>().unwrap().duration();
        assert_eq!(duration("1000/s@10s,1000/s..2000/s@500ms"), Some(Duration::from_millis(10_500)));
        assert_eq!(duration("1000/s@10s,2000/s"), None);
        assert_eq!(duration("1000/s..2000/s"), None);
    }

    #[test]
    fn only_a_bare_rate_is_constant() {
        let constant = |text: &str| text.parse::<Profile>().unwrap().as_constant();
        assert_eq!(constant("90/min"), Some("90/min".parse().unwrap()));
        assert_eq!(constant("90/min@10s"), None);
        assert_eq!(constant("90/min..90/min"), None);
    }

    #[test]
    fn what_is_no_profile_says_what_to_write() {
        for (text, message) in [
            ("", "a rate is missing in ``: write 2000/s, or 1000/s@10s,2000/s@10s for steps"),
            (
                "1000/s@1s,",
                "a rate is missing in `1000/s@1s,`: write 2000/s, or 1000/s@10s,2000/s@10s for steps",
            ),
            ("1000..5000/s@3s", "in `1000..5000/s@3s`: a rate needs its unit: write 1000/s or 1000/min"),
            ("1000/s@3", "in `1000/s@3`: a time needs its unit: write 3s or 3ms"),
            ("1000/s@0s", "`1000/s@0s` lasts no time: write a time above 0 after the @"),
            (
                "1000/s, 2000/s@10s",
                "`1000/s` goes on until the end, but more follows: write 1000/s@10s, or put it last",
            ),
            ("1000/s@1s,1/s..2/s", "`1/s..2/s` does not say how long the ramp takes: write 1/s..2/s@30s"),
            ("0/s", "`0/s` asks for no request at all: write a rate above 0/s somewhere"),
            ("0/s..0/min@1s", "`0/s..0/min@1s` asks for no request at all: write a rate above 0/s somewhere"),
            ("1/s@500y", "in `1/s@500y`: `y` is not a unit of time: use ns, us, ms, s, min or h"),
            (
                "1/s@5000000h,1/s@5000000h",
                "`1/s@5000000h,1/s@5000000h` is too long: check the units after the @",
            ),
            ("-1/s@1s", "in `-1/s@1s`: a rate must be above 0 and at most 10000000/s, not -1/s"),
        ] {
            assert_eq!(text.parse::<Profile>().unwrap_err().to_string(), message, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "[0-9./@, smin-]{0,40}") {
            let _ = text.parse::<Profile>();
        }
    }
}
