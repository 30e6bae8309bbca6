//! A text with placeholders: `{{column}}` stands for that column's value in the row of the request.

use std::sync::Arc;

use super::feed::{Column, Feed};

/// Literal bytes and columns in turn.
#[derive(Clone, Debug, Default)]
pub struct Template {
    parts: Vec<Part>,
}

/// One part of a template.
#[derive(Clone, Debug)]
pub enum Part {
    Literal(Vec<u8>),
    Column { name: String, column: Arc<Column> },
}

/// What is wrong with a placeholder.
#[derive(Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// `{{` without `}}`.
    Unclosed,
    /// No column has this name.
    Unknown(String),
}

impl Template {
    pub fn literal(bytes: &[u8]) -> Template {
        Template { parts: vec![Part::Literal(bytes.to_owned())] }
    }

    /// Reads a text. Without a feed it is a literal, whatever braces it holds.
    pub fn parse(text: &[u8], feed: Option<&Feed>) -> Result<Template, Misplaced> {
        let Some(feed) = feed else { return Ok(Template::literal(text)) };
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = placeholder(rest) {
            let inside = &rest[open + 2..];
            let close = find(inside, b"}}").ok_or(Misplaced::Unclosed)?;
            let name = String::from_utf8_lossy(inside[..close].trim_ascii()).into_owned();
            let column = feed.column(&name).ok_or_else(|| Misplaced::Unknown(name.clone()))?.clone();
            if open > 0 {
                parts.push(Part::Literal(rest[..open].to_owned()));
            }
            parts.push(Part::Column { name, column });
            rest = &inside[close + 2..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Template { parts })
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn parts_mut(&mut self) -> &mut [Part] {
        &mut self.parts
    }

    /// Its bytes when there is no placeholder in it.
    pub fn as_fixed(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(&[]),
            [Part::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Bytes that it has in a row.
    pub fn length(&self, row: usize) -> usize {
        self.parts.iter().map(|part| part.bytes(row).len()).sum()
    }

    /// Writes it out for a row.
    pub fn append(&self, row: usize, out: &mut Vec<u8>) {
        for part in &self.parts {
            out.extend_from_slice(part.bytes(row));
        }
    }
}

impl Part {
    fn bytes(&self, row: usize) -> &[u8] {
        match self {
            Part::Literal(bytes) => bytes,
            Part::Column { column, .. } => column.value(row),
        }
    }
}

/// Where the first `{{` is; of more than two braces the last two open, for JSON has braces of its own: `{"a":{{{b}}}}`.
pub fn placeholder(text: &[u8]) -> Option<usize> {
    let first = find(text, b"{{")?;
    let braces = text[first..].iter().take_while(|byte| **byte == b'{').count();
    Some(first + braces - 2)
}

fn find(text: &[u8], pair: &[u8; 2]) -> Option<usize> {
    text.windows(2).position(|window| window == pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn rendered(text: &str) -> Result<String, Misplaced> {
        let feed = Feed::parse(Path::new("t.csv"), &b"id,user name\n1,Ann\n22,Bob\n"[..]).unwrap();
        let template = Template::parse(text.as_bytes(), Some(&feed))?;
        let mut out = Vec::new();
        template.append(1, &mut out);
        assert_eq!(template.length(1), out.len());
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn placeholders_take_the_values_of_the_row() {
        for (text, result) in [
            ("", ""),
            ("plain {x} }} text", "plain {x} }} text"),
            ("{{id}}", "22"),
            ("/u/{{ id }}/{{user name}}?x", "/u/22/Bob?x"),
            (r#"{"a":{"id":{{id}}}}"#, r#"{"a":{"id":22}}"#),
            (r#"{"a":{{{id}}:1}}"#, r#"{"a":{22:1}}"#),
        ] {
            assert_eq!(rendered(text).as_deref(), Ok(result), "{text}");
        }
    }

    #[test]
    fn a_placeholder_must_be_closed_and_known() {
        assert_eq!(rendered("a{{id"), Err(Misplaced::Unclosed));
        assert_eq!(rendered("a{{age}}"), Err(Misplaced::Unknown("age".to_owned())));
    }

    #[test]
    fn without_a_feed_braces_are_text() {
        let template = Template::parse(b"{{id}}", None).unwrap();
        assert_eq!(template.as_fixed(), Some(&b"{{id}}"[..]));
    }
}
