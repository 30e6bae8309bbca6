//! Numbers and times as wrk takes them, beside loadline's own: `32`, `1k`, `2M`; `30`, `30s`, `2m`, `1h`, and `500ms`.

use std::time::Duration;

use loadline_spec::Complaint;
use loadline_spec::units::{parse_count, parse_duration, show_duration};

/// Longest time that anything may take.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a whole number from `least` to `most`, which may end in one of the SI prefixes k, M and G; `what` begins the complaint.
pub fn number(text: &str, what: &str, least: u64, most: u64) -> Result<u64, Complaint> {
    let text = text.trim();
    let factor: u64 = match text.chars().last().map(|unit| unit.to_ascii_lowercase()) {
        Some('k') => 1_000,
        Some('m') => 1_000_000,
        Some('g') => 1_000_000_000,
        _ => return parse_count(text, what, least, most),
    };
    let too_much =
        || Complaint::new(format!("{what} must be a whole number from {least} to {most}, not {text}"));
    let digits = parse_count(&text[..text.len() - 1], what, 0, u64::MAX)?;
    let number = digits.checked_mul(factor).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| too_much().help("choose a number between them"))
}

/// Reads a time that may be written as wrk's: seconds without a unit, and m for minutes.
pub fn wrk_time(text: &str) -> Result<Duration, Complaint> {
    let lower = text.trim().to_ascii_lowercase();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let in_our_words = match lower.strip_suffix('m') {
        _ if is_number(&lower) => format!("{lower}s"),
        Some(minutes) if is_number(minutes) => format!("{minutes}min"),
        _ if lower.strip_suffix(['s', 'h']).is_some_and(is_number) => lower,
        _ => text.to_owned(),
    };
    time(&in_our_words)
}

/// Reads a time with its unit, longer than nothing.
pub fn time(text: &str) -> Result<Duration, Complaint> {
    let duration = parse_duration(text)?;
    if duration.is_zero() {
        return Err(Complaint::new("a time must be longer than nothing").help("write 10s or 500ms"));
    }
    if duration > LONGEST {
        let longest = show_duration(LONGEST);
        return Err(Complaint::new(format!("`{}` is too long", text.trim()))
            .help(format!("the longest is {longest}")));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_wrk_reads_them() {
        for (text, number_) in [("32", 32), ("1k", 1000), ("2M", 2_000_000), ("1K", 1000)] {
            assert_eq!(number(text, "a number", 1, 10_000_000).unwrap(), number_, "{text}");
        }
        for text in ["", "0", "k", "-1", "1.5k", "1kk", "99M", "1T", "99999999999999999999G", "µ"] {
            assert!(number(text, "a number", 1, 10_000_000).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_as_wrk_reads_them_and_as_loadline_does() {
        for (text, seconds) in
            [("30", 30.0), ("30s", 30.0), ("2m", 120.0), ("1H", 3600.0), ("500ms", 0.5), ("1.5min", 90.0)]
        {
            assert_eq!(wrk_time(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        for text in ["", "0", "0s", "m", "-1", "1.5", "1d", "9999999h", "99999999999999999999"] {
            assert!(wrk_time(text).is_err(), "{text}");
        }
        assert!(time("30").is_err());
    }
}
