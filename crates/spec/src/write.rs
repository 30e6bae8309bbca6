//! An experiment as YAML: in the order of the documentation, on one line what is short.

use std::fmt::Write;

use crate::Experiment;
use crate::experiment;
use crate::node::{Node, Shape, Text};
use crate::options::Detail;

/// Longest line that several values are put into.
const MAX_LINE_CHARS: usize = 110;
/// Longest number without quotes, as long as the largest seed.
const MAX_DIGITS: usize = 20;
/// Spaces of a level.
const INDENT: usize = 2;

/// The experiment file that [`from_yaml`](crate::from_yaml) reads as this experiment; what has its default is left out.
pub fn to_yaml(experiment: &Experiment) -> String {
    yaml(&experiment::written(experiment, Detail::Essential))
}

/// As [`to_yaml`], with every value.
pub fn to_yaml_with_defaults(experiment: &Experiment) -> String {
    yaml(&experiment::written(experiment, Detail::All))
}

fn yaml(root: &Node) -> String {
    let mut text = String::new();
    if let Shape::Map(entries) = &root.shape {
        for entry in entries {
            key_and_value(&mut text, entry, 0);
        }
    }
    text
}

/// A key with its value, at this depth of spaces; the line's indentation is already there.
fn key_and_value(text: &mut String, (key, node): &(Text, Node), indent: usize) {
    let start = format!("{}:", scalar(&key.value));
    // Lists of the experiment itself have an item a line: platforms, loads.
    let is_list_of_parts = indent == 0 && matches!(&node.shape, Shape::List(nodes) if nodes.len() > 1);
    let line = flow(node);
    if node.is_single() || !is_list_of_parts && fits(indent, &start, &line) {
        push_line(text, &format!("{start} {line}"));
    } else {
        push_line(text, &start);
        block(text, node, indent + INDENT);
    }
}

/// A map or list with a line for each entry.
fn block(text: &mut String, node: &Node, indent: usize) {
    let margin = " ".repeat(indent);
    match &node.shape {
        Shape::Map(entries) => {
            for entry in entries {
                text.push_str(&margin);
                key_and_value(text, entry, indent);
            }
        }
        Shape::List(nodes) => {
            for node in nodes {
                text.push_str(&margin);
                text.push_str("- ");
                item(text, node, indent + INDENT);
            }
        }
        Shape::Null | Shape::Scalar(_) => {}
    }
}

/// An item of a list, after its dash.
fn item(text: &mut String, node: &Node, indent: usize) {
    let line = flow(node);
    match &node.shape {
        Shape::Map(entries) if !fits(indent, "", &line) => {
            for (at, entry) in entries.iter().enumerate() {
                if at > 0 {
                    text.push_str(&" ".repeat(indent));
                }
                key_and_value(text, entry, indent);
            }
        }
        _ => push_line(text, &line),
    }
}

fn fits(indent: usize, start: &str, line: &str) -> bool {
    indent + start.chars().count() + 1 + line.chars().count() <= MAX_LINE_CHARS
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// `{key: value}`, `[one, another]`, `text`
fn flow(node: &Node) -> String {
    match &node.shape {
        Shape::Null => "null".to_owned(),
        Shape::Scalar(text) => scalar(text),
        Shape::List(nodes) => {
            format!("[{}]", nodes.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Shape::Map(entries) => {
            let entries = entries.iter().map(|(key, node)| format!("{}: {}", scalar(&key.value), flow(node)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text as it is, if YAML then reads it as this text, otherwise in quotes.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let is_printable = |c: char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if text.chars().all(is_printable) && !text.contains('\'') {
        return format!("'{text}'");
    }
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_printable(c) => quoted.push(c),
            // Writing to a String cannot fail.
            c => drop(write!(quoted, "\\u{:04X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text needs no quotes, in a list or map on one line either (YAML 1.2, 7.3.3).
fn is_plain(text: &str) -> bool {
    let is_null = matches!(text, "~" | "null" | "Null" | "NULL");
    let is_inner = |c: char| c.is_alphanumeric() || " ·_./%+-=@()".contains(c);
    // A colon separates a key from its value before a space or at the end.
    let mut previous = None;
    let is_harmless = text.chars().all(|c| {
        let colon_is_harmless = previous != Some(':') || c.is_ascii_alphanumeric() || c == '/';
        previous = Some(c);
        colon_is_harmless && (is_inner(c) || c == ':')
    });
    let starts = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphanumeric())
        || text.starts_with('/');
    // What may be a number in a notation of its own (1e3, 0x1f) is not left to the reader.
    let is_number_like = text.chars().all(|c| c.is_ascii_hexdigit() || "+-._xXoO".contains(c));
    let is_decimal = text.len() <= MAX_DIGITS && text.chars().all(|c| c.is_ascii_digit() || "-.".contains(c));
    let may_be_odd_number = is_number_like && !is_decimal && text.contains(|c: char| c.is_ascii_digit());
    starts
        && is_harmless
        && !may_be_odd_number
        && !is_null
        && !text.ends_with([':', ' '])
        && !text.starts_with("---")
}
