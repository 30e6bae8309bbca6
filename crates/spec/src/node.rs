//! A YAML file as a tree of texts, lists and maps, each with its place, and the reading of maps key by key.
//!
//! The tree keeps scalars as they were written (`1000`, not a number), and lets every problem of shape be told at once
//! and in our words, where deserializing into types would end at the first.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::draft::{Located, Text};
use super::error::{Complaint, Place, Problems, floor_boundary, later_version, suggestion};

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub shape: Shape,
    pub place: Place,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Null,
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Text, Node)>),
}

impl Shape {
    fn article_and_name(&self) -> &'static str {
        match self {
            Shape::Null => "nothing",
            Shape::Scalar(_) => "a single value",
            Shape::List(_) => "a list",
            Shape::Map(_) => "a map",
        }
    }
}

impl Node {
    /// The node as a text; `what` is its key.
    pub(super) fn text(self, what: &str, problems: &mut Problems) -> Option<Text> {
        match self.shape {
            Shape::Scalar(value) => Some(Located { value, place: self.place }),
            _ => self.refuse(what, "a single value", problems),
        }
    }

    /// The node as a list.
    pub(super) fn list(self, what: &str, problems: &mut Problems) -> Option<Located<Vec<Node>>> {
        match self.shape {
            Shape::List(value) => Some(Located { value, place: self.place }),
            _ => self.refuse(what, "a list", problems),
        }
    }

    /// The node as a map of known keys.
    pub(super) fn fields(self, what: &str, problems: &mut Problems) -> Option<Fields> {
        match self.shape {
            Shape::Map(entries) => Some(Fields { entries, place: self.place, asked: Vec::new() }),
            _ => self.refuse(what, "a map", problems),
        }
    }

    /// The node as a map of any keys to texts.
    pub(super) fn text_map(self, what: &str, problems: &mut Problems) -> Option<Vec<(Text, Text)>> {
        match self.shape {
            Shape::Map(entries) => entries
                .into_iter()
                .map(|(key, node)| {
                    let value = node.text(&key.value, problems)?;
                    Some((key, value))
                })
                .collect(),
            _ => self.refuse(what, "a map", problems),
        }
    }

    /// Notes that the node is not what it must be.
    pub(super) fn refuse<T>(self, what: &str, expected: &str, problems: &mut Problems) -> Option<T> {
        let complaint = match self.shape {
            Shape::Null => {
                Complaint::new(format!("`{what}` has no value")).help("give it one, or leave the key out")
            }
            other => Complaint::new(format!("`{what}` must be {expected}, not {}", other.article_and_name()))
                .label(format!("expected {expected}"))
                .help(match expected {
                    "a map" => "write keys with their values, as in `key: value`".to_owned(),
                    "a list" => {
                        format!("write `{what}: [one, another]`, or each on a line with `- ` before it")
                    }
                    _ => format!("write {expected} there"),
                }),
        };
        problems.add(&self.place, complaint);
        None
    }
}

/// A map being read key by key. What was never asked for is unknown.
#[derive(Debug)]
pub(super) struct Fields {
    entries: Vec<(Text, Node)>,
    pub place: Place,
    asked: Vec<&'static str>,
}

impl Fields {
    /// Takes the value of a key out of the map.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Node> {
        self.asked.push(key);
        let at = self.entries.iter().position(|(name, _)| name.value == key)?;
        Some(self.entries.swap_remove(at).1)
    }

    /// Takes the text of a key out of the map.
    pub(super) fn text(&mut self, key: &'static str, problems: &mut Problems) -> Option<Text> {
        self.take(key)?.text(key, problems)
    }

    /// Notes every key that wasn't asked for. `later` tells keys that a later version will know.
    pub(super) fn finish(mut self, later: &[&str], problems: &mut Problems) {
        self.entries.sort_by_key(|(key, _)| match &key.place {
            Place::Yaml(span) => span.start,
            _ => 0,
        });
        for (key, _) in &self.entries {
            let complaint = if later.contains(&key.value.as_str()) {
                later_version(&key.value)
            } else {
                Complaint::new(format!("unknown key `{}`", key.value))
                    .help(suggestion(&key.value, &self.asked))
            };
            problems.add(&key.place, complaint);
        }
    }
}

/// A node as the YAML library hands it over.
#[derive(Debug)]
pub(super) enum Raw {
    Null,
    Text(String),
    /// A number or boolean; its text is taken from the file.
    Unquoted,
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value, a list or a map")
    }

    fn visit_unit<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_bytes<E: Error>(self, _: &[u8]) -> Result<Raw, E> {
        Ok(Raw::Unquoted)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Raw::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

/// Turns the library's nodes into ours. `file` is the text that was parsed.
pub(super) fn node(raw: Spanned<Raw>, file: &str) -> Node {
    let shape = match raw.value {
        Raw::Null => Shape::Null,
        Raw::Text(text) => Shape::Scalar(text),
        // An alias stands for the text at its anchor.
        Raw::Unquoted => Shape::Scalar(file[span(&raw.defined, file)].trim().to_owned()),
        Raw::List(nodes) => Shape::List(nodes.into_iter().map(|raw| node(raw, file)).collect()),
        Raw::Map(entries) => Shape::Map(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let place = Place::Yaml(span(&key.referenced, file));
                    (Located { value: key.value, place }, node(value, file))
                })
                .collect(),
        ),
    };
    let place = span(&raw.referenced, file);
    Node { place: Place::Yaml(place.start..end(&shape, &place, file)), shape }
}

/// Where a node ends. The library gives lists and maps the place of their beginning only.
fn end(shape: &Shape, place: &Range<usize>, file: &str) -> usize {
    let last = match shape {
        Shape::List(nodes) => nodes.last(),
        Shape::Map(entries) => entries.last().map(|(_, node)| node),
        Shape::Null | Shape::Scalar(_) => return place.end,
    };
    let last_end = match last.map(|node| &node.place) {
        // What an alias stands for may be written further up.
        Some(Place::Yaml(span)) => span.end.max(place.end),
        _ => place.end,
    };
    let rest = &file[last_end..];
    let closing = rest.trim_start().strip_prefix([']', '}']);
    closing
        .filter(|_| file[place.start..].starts_with(['[', '{']))
        .map_or(last_end, |after| file.len() - after.len())
}

/// The bytes of `file` that a location covers; always within the file and on character boundaries.
pub(super) fn span(location: &Location, file: &str) -> Range<usize> {
    let line_start = file
        .split_inclusive('\n')
        .take(usize::try_from(location.line().saturating_sub(1)).unwrap_or(usize::MAX))
        .map(str::len)
        .sum::<usize>();
    let column = usize::try_from(location.column().saturating_sub(1)).unwrap_or(usize::MAX);
    let by_column = || {
        let line = &file[line_start..];
        line_start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
    };
    let in_bytes = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok());
    let start = in_bytes(location.span().byte_offset()).unwrap_or_else(by_column);
    let length = in_bytes(location.span().byte_len()).unwrap_or(0);
    let start = floor_boundary(file, start);
    let end = floor_boundary(file, start.saturating_add(length));
    start..end.max(start)
}
