//! Spans of time as people write them, `250ms` or `1.5s`, read exactly: a decimal fraction never passes through a float.

use super::Nanos;

/// Units of time with their length in ns, the longest first.
const UNITS: [(&str, Nanos); 7] = [
    ("h", 3_600 * SECOND),
    ("min", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// A second, ns.
pub const SECOND: Nanos = 1_000_000_000;

/// Digits kept of a fraction. The longest unit, an hour, has 13 digits in ns; what is beyond changes nothing.
const FRACTION_DIGITS: usize = 18;

/// Why a text is not a span of time. The message ends with what to write.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum TimeError {
    /// There is no number where one should stand.
    #[error("`{0}` is not a time: write 250ms or 1.5s")]
    NotATime(String),
    /// A bare number where a unit is needed.
    #[error("a time needs its unit: write {0}s or {0}ms")]
    NoUnit(String),
    /// The unit is none that is known.
    #[error("`{0}` is not a unit of time: use ns, us, ms, s, min or h")]
    UnknownUnit(String),
    /// Longer than 64 bits of ns, 584 years.
    #[error("`{0}` is too long: check its unit")]
    TooLong(String),
}

/// Reads a time in ns; digits beyond a ns are cut. A bare number is in units of `bare`, or an error if there is no such.
pub fn parse_time(text: &str, bare: Option<Nanos>) -> Result<Nanos, TimeError> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !number.contains(|c: char| c.is_ascii_digit()) || fraction.contains('.') {
        return Err(TimeError::NotATime(text.to_owned()));
    }
    let unit_ns = match (unit, bare) {
        ("", Some(bare)) => bare,
        ("", None) => return Err(TimeError::NoUnit(number.to_owned())),
        _ => UNITS
            .iter()
            .find_map(|(name, ns)| (*name == unit).then_some(*ns))
            .ok_or_else(|| TimeError::UnknownUnit(unit.to_owned()))?,
    };
    let too_long = || TimeError::TooLong(text.to_owned());
    let mut total: Nanos = 0;
    for digit in digits(whole) {
        total = total.checked_mul(10).and_then(|total| total.checked_add(digit)).ok_or_else(too_long)?;
    }
    let (mut numerator, mut denominator) = (0u128, 1u128);
    for digit in digits(fraction).take(FRACTION_DIGITS) {
        numerator = numerator * 10 + u128::from(digit);
        denominator *= 10;
    }
    // Below a unit, which fits 64 bits.
    let part = (numerator * u128::from(unit_ns) / denominator) as Nanos;
    total.checked_mul(unit_ns).and_then(|total| total.checked_add(part)).ok_or_else(too_long)
}

fn digits(text: &str) -> impl Iterator<Item = u64> {
    text.bytes().filter(u8::is_ascii_digit).map(|byte| u64::from(byte - b'0'))
}

/// A time in the largest unit that keeps it whole; [`parse_time`] reads it back unchanged.
pub fn show_time(time: Nanos) -> String {
    let (name, unit_ns) =
        UNITS.iter().find(|(_, unit_ns)| time > 0 && time.is_multiple_of(*unit_ns)).unwrap_or(&("s", SECOND));
    format!("{}{name}", time / unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_time_is_read_to_the_nanosecond() {
        for (text, ns) in [
            ("0.25", 250_000_000),
            ("250ms", 250_000_000),
            (" 1.5 s ", 1_500_000_000),
            ("40us", 40_000),
            ("40µs", 40_000),
            ("1.5min", 90_000_000_000),
            ("0.1", 100_000_000),
            ("86400.000000001", 86_400_000_000_001),
            ("0.30000000000000004", 300_000_000),
            ("0.9999999999999999999999", 999_999_999),
            (".5", 500_000_000),
            ("1_000ns", 1_000),
        ] {
            assert_eq!(parse_time(text, Some(SECOND)), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_says_what_to_write() {
        for (text, message) in [
            ("soon", "`soon` is not a time: write 250ms or 1.5s"),
            ("", "`` is not a time: write 250ms or 1.5s"),
            ("-1s", "`-1s` is not a time: write 250ms or 1.5s"),
            ("1.2.3s", "`1.2.3s` is not a time: write 250ms or 1.5s"),
            ("30", "a time needs its unit: write 30s or 30ms"),
            ("30m", "`m` is not a unit of time: use ns, us, ms, s, min or h"),
            ("99999999999h", "`99999999999h` is too long: check its unit"),
        ] {
            assert_eq!(parse_time(text, None).unwrap_err().to_string(), message, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,30}") {
            let _ = parse_time(&text, None);
            let _ = parse_time(&text, Some(SECOND));
        }

        #[test]
        fn a_time_that_is_shown_is_read_back(ns: u64) {
            prop_assert_eq!(parse_time(&show_time(ns), None), Ok(ns));
        }
    }
}
