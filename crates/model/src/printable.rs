//! Text that somebody else wrote, such as the output of a service, made safe to show.

use std::borrow::Cow;

/// The text with everything escaped that would steer a terminal or reorder what is read: control characters but line breaks and tabs, the
/// characters with Unicode's property Bidi_Control (UAX #9), and those that end a line without being a line break.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for next in text.chars() {
        match is_printable(next) {
            true => shown.push(next),
            false => shown.extend(next.escape_default()),
        }
    }
    Cow::Owned(shown)
}

fn is_printable(next: char) -> bool {
    let is_bidi_control = matches!(
        next,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let ends_a_line = matches!(next, '\u{2028}' | '\u{2029}');
    matches!(next, '\n' | '\t') || !(next.is_control() || is_bidi_control || ends_a_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_spelt_out() {
        for (text, shown) in [
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\0b\r", "a\\u{0}b\\r"),
            ("\u{9b}31m", "\\u{9b}31m"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        let text = "größer:\n\t16 µs ✓ 日本語 שלום";
        assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
    }
}
