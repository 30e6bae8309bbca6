//! What the YAML library hands over, turned into nodes with their places.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use crate::error::{Place, floor_boundary};
use crate::node::{Located, Node, Shape};

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
