//! What a claim says, in figures: a difference, or the part of one that a platform does not have.

use loadline_model::experiment::Says;

use crate::error::Complaint;
use crate::units::{parse_duration_ns, parse_percentage, parse_share, show_duration_ns, show_share};

/// "About 60 %" is read as 60 % give or take this part of it.
const ABOUT: f64 = 0.2;
/// What nobody would call more than negligible.
const NEGLIGIBLE: f64 = 0.05;

/// `4.5ms`, `26%..37%`, `negligible`, `negligible 2%`.
pub(super) fn difference(text: &str) -> Result<Says, Complaint> {
    if let Some(share) = text.trim().strip_prefix("negligible") {
        let share = if share.trim().is_empty() { NEGLIGIBLE } else { parse_share(share)? };
        return Ok(Says::Share { from: -share, to: share });
    }
    if text.contains('%') {
        let (from, to) = range(text, parse_percentage)?;
        return Ok(Says::Share { from, to });
    }
    let (from_ns, to_ns) = range(text, parse_duration_ns)?;
    Ok(Says::Difference { from_ns, to_ns })
}

/// `60% of nodePort`: the platform, and the least and the largest part.
pub(super) fn closes(text: &str) -> Result<(String, f64, f64), Complaint> {
    let Some((share, of)) = text.split_once(" of ") else {
        return Err(Complaint::new("which platform's difference?").help("write `60% of nodePort`"));
    };
    let (from, to) = range(share, parse_percentage)?;
    Ok((of.trim().to_owned(), from, to))
}

/// The text that [`difference`] reads as this; `None` for what closes another difference.
pub(super) fn show_difference(says: &Says) -> Option<String> {
    match says {
        Says::Difference { from_ns, to_ns } => {
            Some(show_range(*from_ns, *to_ns, parse_duration_ns, show_duration_ns))
        }
        Says::Share { from, to } => Some(show_range(*from, *to, parse_percentage, show_share)),
        Says::Closes { .. } => None,
    }
}

/// The text that [`closes`] reads as this.
pub(super) fn show_closes(of: &str, from: f64, to: f64) -> String {
    format!("{} of {of}", show_range(from, to, parse_percentage, show_share))
}

/// More than 31 years in ns, and any share; it keeps what is shown within the digits that are read.
const MAX: f64 = 1e18;
/// Most significant digits of a decimal that a 64-bit float needs to be read back.
const MAX_DIGITS: usize = 17;

/// `A` where that is read as this range, otherwise `A..B`.
fn show_range(
    from: f64,
    to: f64,
    parse: fn(&str) -> Result<f64, Complaint>,
    show: fn(f64) -> String,
) -> String {
    let signed = |value: f64| format!("{}{}", if value < 0.0 { "-" } else { "" }, show(value.abs()));
    let middle = (from + to) / 2.0;
    let exactly = [middle.next_down(), middle.next_up()];
    let mut about = (1..=MAX_DIGITS).map(|digits| rounded(middle, digits)).chain(exactly).map(signed);
    let reads_back = |text: &String| range(text, parse).is_ok_and(|read| read == (from, to));
    about.find(reads_back).unwrap_or_else(|| format!("{}..{}", signed(from), signed(to)))
}

/// The value with this many significant digits.
fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// `A..B`, or `A` for about A; either may be negative.
fn range(text: &str, parse: impl Fn(&str) -> Result<f64, Complaint>) -> Result<(f64, f64), Complaint> {
    let signed = |text: &str| match text.trim().strip_prefix(['-', '−']) {
        Some(magnitude) => Ok(-parse(magnitude)?),
        None => parse(text),
    };
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (signed(from)?, signed(to)?),
        None => {
            let about = signed(text)?;
            (about - ABOUT * about.abs(), about + ABOUT * about.abs())
        }
    };
    if from.abs().max(to.abs()) > MAX {
        return Err(Complaint::new(format!("`{}` is too large", text.trim())).help("check its unit"));
    }
    if from > to {
        return Err(Complaint::new("the range is reversed").help("write the lower end first"));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_single_figure_is_a_claim_of_about_that_much() {
        assert_eq!(difference("5ms"), Ok(Says::Difference { from_ns: 4e6, to_ns: 6e6 }));
        assert_eq!(difference("-50%"), Ok(Says::Share { from: -0.6, to: -0.4 }));
    }

    #[test]
    fn ranges_and_negligible_are_taken_as_they_are() {
        assert_eq!(difference("26%..37%"), Ok(Says::Share { from: 0.26, to: 0.37 }));
        assert_eq!(difference("negligible"), Ok(Says::Share { from: -0.05, to: 0.05 }));
        assert_eq!(difference("negligible 2%"), Ok(Says::Share { from: -0.02, to: 0.02 }));
        assert!(difference("37%..26%").is_err());
    }

    #[test]
    fn a_gap_is_closed_of_another_platform() {
        assert_eq!(closes("60% of nodePort"), Ok(("nodePort".to_owned(), 0.48, 0.72)));
        assert!(closes("60%").is_err());
    }

    #[test]
    fn what_a_claim_says_is_written_as_its_author_would() {
        for text in ["5ms", "4.5ms", "-50%", "26%..37%", "-5%..5%", "300ns..7min", "90%", "150%..200%"] {
            assert_eq!(show_difference(&difference(text).unwrap()).as_deref(), Some(text));
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(about in 1u64..u64::MAX, scale in 0u32..12, percent: bool) {
            let number = format!("{about}e-{scale}").parse::<f64>().unwrap();
            let text = if percent { format!("{number}%") } else { format!("{number}us") };
            if let Ok(says) = difference(&text) {
                prop_assert_eq!(difference(&show_difference(&says).unwrap()), Ok(says));
            }
        }

        #[test]
        fn ranges_are_read_back(from in -3.0f64..3.0, to in -3.0f64..3.0) {
            let (from, to) = (from.min(to), from.max(to));
            let says = Says::Share { from, to };
            prop_assert_eq!(difference(&show_difference(&says).unwrap()), Ok(says));
            let says = Says::Difference { from_ns: from * 1e6, to_ns: to * 1e6 };
            prop_assert_eq!(difference(&show_difference(&says).unwrap()), Ok(says));
        }
    }
}
