//! Durations as a user writes them: a number and its unit, such as `200us`, `1.5ms` or `10s`.
//! A bare number is an error, as it is everywhere in loadline.

use std::time::Duration;

/// Why a duration could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is no number before the unit.
    #[error("`{0}` does not start with a number: write 200us, 1.5ms or 1s")]
    NoNumber(String),
    /// The number has no unit.
    #[error("`{0}` needs its unit: write {0}us, {0}ms or {0}s")]
    NoUnit(String),
    /// The unit is unknown.
    #[error("`{unit}` in `{text}` is not a supported unit of time: use ns, us, ms or s")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The part after the number.
        unit: String,
    },
    /// The duration is too long.
    #[error("`{0}` is too long")]
    TooLong(String),
}

/// Reads a decimal number directly followed by `ns`, `us` (or `µs`), `ms` or `s`, rounded to a nanosecond.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let number: f64 = number.parse().map_err(|_| DurationError::NoNumber(text.to_owned()))?;
    let unit_ns = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "" => return Err(DurationError::NoUnit(text.to_owned())),
        _ => return Err(DurationError::UnknownUnit { text: text.to_owned(), unit: unit.to_owned() }),
    };
    let ns = (number * unit_ns).round();
    // Above 2^53 a float no longer tells one nanosecond from the next: 104 days, far above every limit here.
    if ns > 9_007_199_254_740_992.0 {
        return Err(DurationError::TooLong(text.to_owned()));
    }
    Ok(Duration::from_nanos(ns as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_with_its_unit_is_read() {
        assert_eq!(parse("200us"), Ok(Duration::from_micros(200)));
        assert_eq!(parse("200µs"), Ok(Duration::from_micros(200)));
        assert_eq!(parse("1.5ms"), Ok(Duration::from_micros(1500)));
        assert_eq!(parse("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse("7ns"), Ok(Duration::from_nanos(7)));
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
    }

    #[test]
    fn a_bare_number_is_told_that_it_needs_its_unit() {
        assert_eq!(parse("200"), Err(DurationError::NoUnit("200".into())));
    }

    #[test]
    fn what_is_no_span_of_time_is_refused() {
        assert!(matches!(parse(""), Err(DurationError::NoNumber(_))));
        assert!(matches!(parse("fast"), Err(DurationError::NoNumber(_))));
        assert!(matches!(parse("1.2.3ms"), Err(DurationError::NoNumber(_))));
        assert!(matches!(parse("-1ms"), Err(DurationError::NoNumber(_))));
        assert!(matches!(parse("5 minutes"), Err(DurationError::UnknownUnit { .. })));
        assert!(matches!(parse("99999999999999999999s"), Err(DurationError::TooLong(_))));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn whole_microseconds_are_read_exactly(us in 0u64..60_000_000) {
            prop_assert_eq!(parse(&format!("{us}us")), Ok(Duration::from_micros(us)));
        }
    }
}
