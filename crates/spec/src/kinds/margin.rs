//! A margin: a share of the baseline, or a time.

use std::time::Duration;

use loadline_model::experiment::Margin;
use serde_json::json;

use super::Scalar;
use crate::error::Complaint;
use crate::units::{parse_duration_within, parse_share, show_duration_briefly, show_share};

const LEAST: Duration = Duration::from_nanos(1);
const MOST: Duration = Duration::from_secs(60);
const HELP: &str = "write 1% of the baseline, or a time: 5us";

/// `1%`, `5us`.
pub(crate) fn margin() -> Scalar<Margin> {
    let pattern = r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(%|ns|us|µs|ms|s|min)\s*$";
    Scalar::new(parse, show, json!({ "type": "string", "pattern": pattern })).placeholder("SHARE|TIME")
}

fn parse(text: &str) -> Result<Margin, Complaint> {
    let has_unit = text.trim().ends_with(|end: char| end.is_alphabetic());
    if has_unit {
        return parse_duration_within(text, "a margin", LEAST, MOST).map(Margin::Time);
    }
    match text.contains('%') {
        true => parse_share(text).map(Margin::Share),
        false => {
            Err(Complaint::new("a margin needs its unit").label("percent, or which unit of time?").help(HELP))
        }
    }
}

fn show(margin: &Margin) -> String {
    match margin {
        Margin::Share(share) => show_share(*share),
        Margin::Time(time) => show_duration_briefly(*time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_share_or_a_time_and_is_read_back_as_written() {
        for (text, margin) in [
            ("1%", Margin::Share(0.01)),
            ("0.5%", Margin::Share(0.005)),
            ("5us", Margin::Time(Duration::from_micros(5))),
            ("1.5ms", Margin::Time(Duration::from_micros(1500))),
        ] {
            assert_eq!(parse(text), Ok(margin));
            assert_eq!(show(&margin), text);
        }
    }

    #[test]
    fn what_is_neither_share_nor_time_is_refused() {
        for text in ["1", "5 m", "0%", "100%", "0us", "2h", "-1us"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
