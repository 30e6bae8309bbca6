//! The word of a verdict and whether it is good news. Counts and rates are neither good nor bad in themselves.

use loadline_model::result::{Row, Verdict};

use crate::figures;

/// How a word should look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As is.
    #[default]
    Plain,
    /// Green.
    Good,
    /// Yellow.
    Unsure,
    /// Red.
    Bad,
}

impl Tone {
    /// The text in its colour, where there are colours.
    pub(crate) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            Tone::Plain => return text.to_owned(),
            Tone::Good => "32",
            Tone::Unsure => "33",
            Tone::Bad => "31",
        };
        if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The word as a table shows it: in parentheses where the row can't be trusted.
pub(crate) fn shown(row: &Row) -> String {
    bracketed(word(row.verdict), row.trusted)
}

/// A word that claims nothing where it can't be trusted.
pub(crate) fn bracketed(word: &str, trusted: bool) -> String {
    if trusted { word.to_owned() } else { format!("({word})") }
}

/// The word, and of what is unresolved how large the difference is at most: `unresolved, within ±3.1 %`.
pub(crate) fn shown_with_bound(row: &Row) -> String {
    let bound = row.bound.filter(|_| row.verdict == Verdict::Unresolved && row.baseline != 0.0);
    match bound.filter(|_| row.trusted) {
        Some(bound) => {
            let share = figures::unsigned_percent(bound / row.baseline);
            format!("{}, within ±{share}", word(row.verdict))
        }
        None => shown(row),
    }
}

/// The verdict as one character, for tables of many.
pub(crate) fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower | Verdict::Costlier | Verdict::More => "▲",
        Verdict::Faster | Verdict::Cheaper | Verdict::Fewer => "▼",
        Verdict::Equivalent => "=",
        Verdict::Unresolved => "?",
    }
}

pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Costlier => "costlier",
        Verdict::Cheaper => "cheaper",
        Verdict::More => "more",
        Verdict::Fewer => "fewer",
        Verdict::Equivalent => "equivalent",
        Verdict::Unresolved => "unresolved",
    }
}

/// What the verdict of a row means to the reader: where it can't be trusted, nothing cheers or warns.
pub(crate) fn tone_of(row: &Row) -> Tone {
    if row.trusted { tone(row.verdict) } else { Tone::Plain }
}

/// What a verdict means to the reader.
pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Slower | Verdict::Costlier => Tone::Bad,
        Verdict::Faster | Verdict::Cheaper | Verdict::Equivalent => Tone::Good,
        Verdict::More | Verdict::Fewer => Tone::Plain,
        Verdict::Unresolved => Tone::Unsure,
    }
}
