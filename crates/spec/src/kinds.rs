//! The kinds of values that keys have: quantities with their bounds, choices, texts, and lists of other kinds.

mod lists;
mod margin;
mod short;

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{Complaint, Names, Problems, suggestion};
use crate::node::Node;
use crate::options::{Detail, Kind};
use crate::schema::Definitions;
use crate::units::{parse_count, parse_duration_within, parse_size, show_duration_briefly, show_size};

pub(crate) use lists::{CommandLine, List, OneOrMore, Pairs, Word};
pub(crate) use margin::margin;
pub(crate) use short::Short;

type Parse<V> = dyn Fn(&str) -> Result<V, Complaint>;

/// A value written as a single text.
pub(crate) struct Scalar<V> {
    parse: Box<Parse<V>>,
    show: Box<dyn Fn(&V) -> String>,
    schema: Value,
    placeholder: String,
}

impl<V> Scalar<V> {
    /// `show` writes what `parse` reads back unchanged.
    pub fn new(
        parse: impl Fn(&str) -> Result<V, Complaint> + 'static,
        show: impl Fn(&V) -> String + 'static,
        schema: Value,
    ) -> Scalar<V> {
        Scalar { parse: Box::new(parse), show: Box::new(show), schema, placeholder: "VALUE".to_owned() }
    }

    /// What to do about a text that is refused.
    pub fn help(self, help: &'static str) -> Scalar<V>
    where
        V: 'static,
    {
        let parse = self.parse;
        Scalar { parse: Box::new(move |text| parse(text).map_err(|complaint| complaint.help(help))), ..self }
    }

    /// What stands for the value in help.
    pub fn placeholder(self, placeholder: impl Into<String>) -> Scalar<V> {
        Scalar { placeholder: placeholder.into(), ..self }
    }
}

impl<V: Clone> Kind for Scalar<V> {
    type Value = V;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<V> {
        node.text(key, problems)?.read(problems, &self.parse)
    }

    fn write(&self, value: &V, _: Detail) -> Node {
        Node::scalar((self.show)(value), Default::default())
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        self.schema.clone()
    }

    fn placeholder(&self) -> String {
        self.placeholder.clone()
    }
}

impl<V> fmt::Debug for Scalar<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scalar").field("placeholder", &self.placeholder).finish_non_exhaustive()
    }
}

/// `1.5s`, within bounds; `what` begins the complaint: "a slice".
pub(crate) fn duration(what: &'static str, min: Duration, max: Duration) -> Scalar<Duration> {
    let pattern = r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(ns|us|µs|ms|s|min|h)\s*$";
    Scalar::new(
        move |text| parse_duration_within(text, what, min, max),
        |duration| show_duration_briefly(*duration),
        json!({ "type": "string", "pattern": pattern }),
    )
    .placeholder("TIME")
}

/// `512Mi`, in bytes, within bounds; `what` begins the complaint: "memory".
pub(crate) fn size(what: &'static str, min: u64, max: u64) -> Scalar<u64> {
    let parse = move |text: &str| {
        let bytes = parse_size(text)?;
        if (min..=max).contains(&bytes) {
            return Ok(bytes);
        }
        let (min, max) = (show_size(min), show_size(max));
        Err(Complaint::new(format!("{what} must be from {min} to {max}, not {}", text.trim()))
            .help("write 512Mi or 1Gi"))
    };
    let pattern = r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(B|k|Ki|M|Mi|G|Gi|T|Ti)\s*$";
    Scalar::new(parse, |bytes| show_size(*bytes), json!({ "type": "string", "pattern": pattern }))
        .placeholder("SIZE")
}

/// A number, fractions allowed, within bounds; `what` begins the complaint: "CPUs".
pub(crate) fn number(what: &'static str, min: f64, max: f64, help: &'static str) -> Scalar<f64> {
    let parse = move |text: &str| match text.trim().parse::<f64>() {
        // NaN is in no range.
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => {
            let message = format!("{what} must be a number from {min} to {max}, not `{}`", text.trim());
            Err(Complaint::new(message).help(help))
        }
    };
    Scalar::new(parse, f64::to_string, json!({ "type": "number", "format": "double", "minimum": min }))
        .placeholder("N")
}

/// Types of whole numbers.
pub(crate) trait Whole: Copy + TryFrom<u64> + fmt::Display {
    /// Name among the formats of JSON Schema's registry.
    const FORMAT: &'static str;
    /// Its largest value, where a file is likely to exceed it.
    const MAX: Option<u64>;
}

impl Whole for u16 {
    const FORMAT: &'static str = "uint16";
    const MAX: Option<u64> = Some(65_535);
}

impl Whole for u32 {
    const FORMAT: &'static str = "uint32";
    const MAX: Option<u64> = None;
}

impl Whole for u64 {
    const FORMAT: &'static str = "uint64";
    const MAX: Option<u64> = None;
}

/// A whole number within bounds; `what` begins the complaint: "the number of blocks".
pub(crate) fn count<N: Whole + 'static>(what: &'static str, min: u64, max: u64) -> Scalar<N> {
    let parse = move |text: &str| {
        let too_large = |_| Complaint::new(format!("{what} is too large"));
        N::try_from(parse_count(text, what, min, max)?).map_err(too_large)
    };
    let mut schema = json!({ "type": "integer", "format": N::FORMAT, "minimum": min });
    if let Some(max) = N::MAX {
        schema["maximum"] = max.into();
    }
    Scalar::new(parse, N::to_string, schema).placeholder("N")
}

/// `true` or `false`.
pub(crate) fn switch() -> Scalar<bool> {
    Scalar::new(parse_switch, bool::to_string, json!({ "type": "boolean" }))
}

fn parse_switch(text: &str) -> Result<bool, Complaint> {
    match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => {
            Err(Complaint::new(format!("`{other}` is neither true nor false")).help("write true or false"))
        }
    }
}

/// One of a few words; `what` ends the complaint: "an arrival process".
pub(crate) fn choice<T: Copy + PartialEq + 'static>(
    what: &'static str,
    choices: &'static [(&'static str, T)],
) -> Scalar<T> {
    let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
    Scalar::new(
        move |text| chosen(text, what, choices),
        move |value| word_of(*value, choices).to_owned(),
        json!({ "enum": words }),
    )
    .placeholder(words.join("|"))
}

/// The value that stands beside `text`.
pub(crate) fn chosen<T: Clone>(text: &str, what: &str, choices: &[(&str, T)]) -> Result<T, Complaint> {
    let word = text.trim();
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(value.clone());
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let complaint =
        Complaint::new(format!("`{word}` is not {what}")).label(format!("one of {}", Names(&names)));
    Err(complaint.help(suggestion(word, &names)))
}

/// The word that stands beside `value`.
pub(crate) fn word_of<T: PartialEq>(value: T, choices: &[(&'static str, T)]) -> &'static str {
    choices.iter().find(|(_, other)| *other == value).map_or("", |(word, _)| word)
}

/// Any text, as it was written.
pub(crate) fn text() -> Scalar<String> {
    parsed(|text| Ok(text.to_owned()))
}

/// Any text, without the spaces around it.
pub(crate) fn trimmed() -> Scalar<String> {
    parsed(|text| Ok(text.trim().to_owned()))
}

/// A text that `parse` accepts, and what it is then.
pub(crate) fn parsed(parse: impl Fn(&str) -> Result<String, Complaint> + 'static) -> Scalar<String> {
    Scalar::new(parse, String::clone, json!({ "type": "string" })).placeholder("TEXT")
}

/// Nothing but an empty map: of what takes no options.
#[derive(Debug)]
pub(crate) struct NoOptions;

impl Kind for NoOptions {
    type Value = ();

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<()> {
        use crate::node::Shape;
        let is_empty = match &node.shape {
            Shape::Null => true,
            Shape::Map(entries) => entries.is_empty(),
            Shape::Scalar(_) | Shape::List(_) => false,
        };
        if !is_empty {
            let complaint = Complaint::new(format!("`{key}` takes no options"));
            problems.add(&node.place, complaint.help(format!("write `{key}` alone, or `{key}: {{}}`")));
        }
        is_empty.then_some(())
    }

    fn write(&self, (): &(), _: Detail) -> Node {
        Node::map([], Default::default())
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        json!({ "type": "object", "additionalProperties": false })
    }
}
