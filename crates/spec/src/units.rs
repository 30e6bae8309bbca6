//! Quantities as people write them: durations (`200us`, `1.5s`, `15min`), sizes (`512Mi`, `500M`), shares (`1%`), and
//! numbers within bounds.
//!
//! A quantity always carries its unit; decimal fractions are kept exactly, without a detour through floating point.

use std::time::Duration;

use crate::error::Complaint;

/// Units of time with their length in nanoseconds, the longest first.
const DURATIONS: [(&str, u64); 7] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Units of size with their number of bytes, the largest first. The names are Kubernetes' for its quantities.
const SIZES: [(&str, u64); 9] = [
    ("Ti", 1 << 40),
    ("T", 1_000_000_000_000),
    ("Gi", 1 << 30),
    ("G", 1_000_000_000),
    ("Mi", 1 << 20),
    ("M", 1_000_000),
    ("Ki", 1 << 10),
    ("k", 1_000),
    ("B", 1),
];

/// Reads `1.5s` and the like.
pub fn parse_duration(text: &str) -> Result<Duration, Complaint> {
    let (decimal, unit_ns) = decimal_and_unit_ns(text)?;
    decimal
        .times(unit_ns)
        .and_then(|nanos| u64::try_from(nanos).ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| too_large(text))
}

/// Reads a duration in ns, with the fraction of one.
pub(crate) fn parse_duration_ns(text: &str) -> Result<f64, Complaint> {
    let (decimal, unit_ns) = decimal_and_unit_ns(text)?;
    Ok(decimal.scaled_float(unit_ns, 0))
}

/// A duration in the unit that is shortest to write, `1.2s`; [`parse_duration`] reads it back unchanged.
pub(crate) fn show_duration_briefly(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let in_unit = |(name, unit_ns): &(&str, u64)| {
        let hundredths = (nanos * 100).checked_div(u128::from(*unit_ns))?;
        // A fraction of a longer unit is shorter to write only where it is above one.
        let is_fraction = hundredths > 100 && !hundredths.is_multiple_of(100);
        let is_exact = hundredths * u128::from(*unit_ns) == nanos * 100 && is_fraction;
        let fraction = format!("{:02}", hundredths % 100);
        let text = format!("{}.{fraction}", hundredths / 100);
        is_exact.then(|| format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.')))
    };
    let whole = std::iter::once(show_duration(duration));
    whole.chain(DURATIONS.iter().filter_map(in_unit)).min_by_key(String::len).unwrap_or_default()
}

/// A duration of so many ns; [`parse_duration_ns`] reads it back unchanged.
pub(crate) fn show_duration_ns(ns: f64) -> String {
    // Beyond this, not every integer is a float.
    if ns.fract() == 0.0 && ns < 2f64.powi(53) {
        show_duration_briefly(Duration::from_nanos(ns as u64))
    } else {
        format!("{ns}ns")
    }
}

fn decimal_and_unit_ns(text: &str) -> Result<(Decimal, u64), Complaint> {
    let help = "write 200us, 1.5s or 15min";
    let (number, unit) = split_unit(text);
    let decimal = Decimal::parse(number, text, "a duration", help)?;
    if unit.is_empty() {
        let complaint = Complaint::new("a duration needs its unit").label("which unit?");
        return Err(complaint.help(format!("write {number}s, {number}ms or {number}min")));
    }
    match DURATIONS.iter().find(|(name, _)| *name == unit) {
        Some((_, unit_ns)) => Ok((decimal, *unit_ns)),
        None => {
            let complaint = Complaint::new(format!("`{unit}` is not a unit of time"));
            Err(match unit {
                "m" => complaint.help(format!("write {number}min for minutes, {number}ms for milliseconds")),
                _ => complaint.help("units are ns, us, ms, s, min and h"),
            })
        }
    }
}

/// A duration in the largest unit that keeps it whole; [`parse_duration`] reads it back unchanged.
pub fn show_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let (name, unit_ns) = DURATIONS
        .iter()
        .find(|(_, unit_ns)| nanos > 0 && nanos.is_multiple_of(u128::from(*unit_ns)))
        .unwrap_or(&("s", 1_000_000_000));
    format!("{}{name}", nanos / u128::from(*unit_ns))
}

/// Reads `512Mi` and the like, in bytes.
pub fn parse_size(text: &str) -> Result<u64, Complaint> {
    let help = "write 512Mi, 1Gi or 500M";
    let (number, unit) = split_unit(text);
    let decimal = Decimal::parse(number, text, "a size", help)?;
    if unit.is_empty() {
        let complaint = Complaint::new("a size needs its unit").label("which unit?");
        return Err(complaint.help(format!("write {number}Mi, {number}Gi or {number}B")));
    }
    let Some((_, unit_bytes)) = SIZES.iter().find(|(name, _)| *name == unit) else {
        let complaint = Complaint::new(format!("`{unit}` is not a unit of size"));
        return Err(
            complaint.help("units are B, k, M, G, T (powers of 1000) and Ki, Mi, Gi, Ti (powers of 1024)")
        );
    };
    decimal.times(*unit_bytes).and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(|| too_large(text))
}

/// A size in the largest unit that keeps it whole; [`parse_size`] reads it back unchanged.
pub fn show_size(bytes: u64) -> String {
    let (name, unit_bytes) = SIZES
        .iter()
        .find(|(_, unit_bytes)| bytes > 0 && bytes.is_multiple_of(*unit_bytes))
        .unwrap_or(&("B", 1));
    format!("{}{name}", bytes / unit_bytes)
}

/// Reads a share above 0 % and below 100 %: `1%` is 0.01.
pub fn parse_share(text: &str) -> Result<f64, Complaint> {
    let share = parse_percentage(text)?;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        let complaint =
            Complaint::new(format!("a share must be above 0% and below 100%, not {}", text.trim()));
        Err(complaint.help("1% is usual"))
    }
}

/// Reads a percentage of any size: `150%` is 1.5.
pub(crate) fn parse_percentage(text: &str) -> Result<f64, Complaint> {
    let help = "write 1% or 0.5%";
    let (number, unit) = split_unit(text);
    let decimal = Decimal::parse(number, text, "a percentage", help)?;
    match unit {
        "%" => Ok(decimal.scaled_float(1, 2)),
        "" => {
            let complaint = Complaint::new("a percentage needs its % sign").label("percent?");
            Err(complaint.help("write one hundredth as 1%"))
        }
        _ => Err(Complaint::new(format!("`{unit}` is not a percent sign")).help(help)),
    }
}

/// A share as a percentage; [`parse_share`] reads it back unchanged.
pub fn show_share(share: f64) -> String {
    // The shortest decimal that is read as this float, its point moved by two places.
    let scientific = format!("{share:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<isize>().unwrap_or(0) + 3;
    let text = match usize::try_from(point) {
        Ok(point) if point >= digits.len() => format!("{digits:0<point$}"),
        Ok(point) if point > 0 => format!("{}.{}", &digits[..point], &digits[point..]),
        _ => format!("0.{}{digits}", "0".repeat(point.unsigned_abs())),
    };
    format!("{text}%")
}

/// Reads a whole number from `min` to `max`; `what` begins the complaint: "a number of blocks".
pub fn parse_count(text: &str, what: &str, min: u64, max: u64) -> Result<u64, Complaint> {
    let bounds = format!("{what} must be a whole number from {min} to {max}");
    match text.trim().replace('_', "").parse::<u64>() {
        Ok(count) if (min..=max).contains(&count) => Ok(count),
        Ok(_) => {
            Err(Complaint::new(format!("{bounds}, not {}", text.trim()))
                .help("choose a number in this range"))
        }
        Err(_) => Err(Complaint::new(format!("{bounds}, not `{}`", text.trim())).help("write digits only")),
    }
}

/// Reads a duration from `min` to `max`; `what` begins the complaint: "a slice".
pub fn parse_duration_within(
    text: &str,
    what: &str,
    min: Duration,
    max: Duration,
) -> Result<Duration, Complaint> {
    let duration = parse_duration(text)?;
    if (min..=max).contains(&duration) {
        return Ok(duration);
    }
    let (min, max) = (show_duration(min), show_duration(max));
    Err(Complaint::new(format!("{what} must last from {min} to {max}, not {}", text.trim()))
        .help(format!("the shortest is {min}, the longest {max}")))
}

fn too_large(text: &str) -> Complaint {
    Complaint::new(format!("`{}` is too large", text.trim())).help("check its unit")
}

/// The number and the unit of a quantity; spaces around both are dropped.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".+-_".contains(c))).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// A decimal number, exactly: `digits` / 10^`scale`.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    digits: u128,
    scale: u32,
}

impl Decimal {
    /// Longest number that any of our quantities needs, with room; it keeps every product within 128 bits.
    const MAX_DIGITS: usize = 24;

    /// Reads `number`; the complaints quote `text` as `what`: "a duration".
    fn parse(number: &str, text: &str, what: &str, help: &str) -> Result<Decimal, Complaint> {
        let not_one = || Complaint::new(format!("`{}` is not {what}", text.trim())).help(help);
        if let Some(rest) = number.strip_prefix('-')
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(Complaint::new(format!("{what} cannot be negative")).help(help));
        }
        let number = number.replace('_', "");
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        let digits = format!("{whole}{fraction}");
        if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(not_one());
        }
        if digits.len() > Decimal::MAX_DIGITS {
            return Err(too_large(text));
        }
        let scale = u32::try_from(fraction.len()).map_err(|_| not_one())?;
        Ok(Decimal { digits: digits.parse().map_err(|_| not_one())?, scale })
    }

    /// The number times `unit`, rounded down.
    fn times(self, unit: u64) -> Option<u128> {
        Some(self.digits.checked_mul(u128::from(unit))? / 10u128.checked_pow(self.scale)?)
    }

    /// The number times `unit` / 10^`places`, rounded once.
    fn scaled_float(self, unit: u64, places: u32) -> f64 {
        // The standard library's parser rounds correctly, a division would round a second time.
        let digits = self.digits.saturating_mul(u128::from(unit));
        format!("{digits}e-{}", self.scale + places).parse().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        for (text, nanos) in [
            ("200us", 200_000),
            ("200µs", 200_000),
            ("1.5s", 1_500_000_000),
            (" 15 min ", 900_000_000_000),
            ("2h", 7_200_000_000_000),
            ("0.1ns", 0),
            ("1_000ms", 1_000_000_000),
        ] {
            assert_eq!(parse_duration(text).unwrap(), Duration::from_nanos(nanos), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_unit() {
        for (text, bytes) in [("512Mi", 512 << 20), ("1Gi", 1 << 30), ("500M", 500_000_000), ("1.5Ki", 1536)]
        {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in
            ["", "5", "-5s", "nan", "infs", "1e3s", "5 parsecs", "..5s", "s", "5m", "999999999999h", "+5s"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
            assert!(parse_size(text).is_err(), "{text}");
        }
        for text in ["0%", "100%", "-1%", "1", "nan%", "1‰"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_rounded_once() {
        assert_eq!(parse_share("1%").unwrap(), 0.01);
        assert_eq!(parse_share("0.7%").unwrap(), 0.007);
        assert_eq!(show_share(0.07), "7%");
    }

    proptest! {
        #[test]
        fn a_duration_survives_being_shown_and_read(nanos: u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&show_duration(duration)).unwrap(), duration);
        }

        #[test]
        fn a_size_survives_being_shown_and_read(bytes: u64) {
            prop_assert_eq!(parse_size(&show_size(bytes)).unwrap(), bytes);
        }

        #[test]
        fn a_share_survives_being_shown_and_read(millionths in 1u32..99_999_999) {
            let share = f64::from(millionths) / 1e8;
            prop_assert_eq!(parse_share(&show_share(share)).unwrap(), share);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = (parse_duration(&text), parse_size(&text), parse_share(&text), parse_count(&text, "it", 0, 9));
        }
    }
}
