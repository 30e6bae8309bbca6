//! An experiment as it was written: a tree of texts, lists and maps, each with its place.
//!
//! A file and flags both become such a tree, and an experiment is written as one. Scalars stay as they were typed (`1000`, not a number),
//! so that all problems are reported at once, in our words and at their places, where deserializing into types would end at the first.

use crate::error::{Complaint, Place, Problems};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located<T> {
    pub value: T,
    pub place: Place,
}

/// A text and where it was written.
pub(crate) type Text = Located<String>;

impl Located<String> {
    /// Reads the text with `parse`; a complaint is noted at the text's place.
    pub fn read<T>(
        &self,
        problems: &mut Problems,
        parse: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<T> {
        problems.note(&self.place, parse(&self.value))
    }
}

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub shape: Shape,
    pub place: Place,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
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
    /// A single value.
    pub fn scalar(text: impl Into<String>, place: Place) -> Node {
        Node { shape: Shape::Scalar(text.into()), place }
    }

    /// A list.
    pub fn list(nodes: Vec<Node>, place: Place) -> Node {
        Node { shape: Shape::List(nodes), place }
    }

    /// A map; each key stands where its value does.
    pub fn map<'a>(entries: impl IntoIterator<Item = (&'a str, Node)>, place: Place) -> Node {
        let key =
            |(key, node): (&str, Node)| (Located { value: key.to_owned(), place: node.place.clone() }, node);
        Node { shape: Shape::Map(entries.into_iter().map(key).collect()), place }
    }

    /// Sets the value of a key, which stands where its value does; does nothing to a node that is not a map.
    pub fn set(&mut self, key: &str, value: Node) {
        self.set_at(Located { value: key.to_owned(), place: value.place.clone() }, value);
    }

    /// Sets the value of a key that stands somewhere else.
    pub fn set_at(&mut self, key: Text, value: Node) {
        let Shape::Map(entries) = &mut self.shape else { return };
        entries.retain(|(name, _)| name.value != key.value);
        entries.push((key, value));
    }

    /// Adds the entries of another map.
    pub fn extend(&mut self, other: Node) {
        if let (Shape::Map(entries), Shape::Map(others)) = (&mut self.shape, other.shape) {
            entries.extend(others);
        }
    }

    /// Takes over what another node says, key by key where both are maps.
    pub fn merge(&mut self, other: Node) {
        match other.shape {
            Shape::Map(entries) if matches!(self.shape, Shape::Map(_)) => {
                for (key, value) in entries {
                    match self.get_mut(&key.value) {
                        Some(own) => own.merge(value),
                        None => self.set_at(key, value),
                    }
                }
            }
            _ => *self = other,
        }
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) {
        if let Shape::Map(entries) = &mut self.shape {
            entries.retain(|(name, _)| name.value != key);
        }
    }

    /// Takes the value of a key out.
    pub fn take(&mut self, key: &str) -> Option<Node> {
        let Shape::Map(entries) = &mut self.shape else { return None };
        let at = entries.iter().position(|(name, _)| name.value == key)?;
        Some(entries.remove(at).1)
    }

    /// Whether it is a scalar, or has nothing in it.
    pub fn is_single(&self) -> bool {
        matches!(self.shape, Shape::Scalar(_)) || self.is_empty()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        match &self.shape {
            Shape::Null => true,
            Shape::Scalar(_) => false,
            Shape::List(nodes) => nodes.is_empty(),
            Shape::Map(entries) => entries.is_empty(),
        }
    }

    /// The value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Shape::Map(entries) = &mut self.shape else { return None };
        entries.iter_mut().find(|(name, _)| name.value == key).map(|(_, node)| node)
    }

    /// The node as a text; `what` is its key.
    pub fn text(self, what: &str, problems: &mut Problems) -> Option<Text> {
        match self.shape {
            Shape::Scalar(value) => Some(Located { value, place: self.place }),
            _ => self.refuse(what, "a single value", problems),
        }
    }

    /// Notes that the node is not what it must be.
    pub fn refuse<T>(self, what: &str, expected: &str, problems: &mut Problems) -> Option<T> {
        let complaint = match self.shape {
            Shape::Null => {
                Complaint::new(format!("`{what}` has no value")).help("give it one, or leave the key out")
            }
            other => Complaint::new(format!("`{what}` must be {expected}, not {}", other.article_and_name()))
                .label(format!("expected {expected}"))
                .help(match expected {
                    "a map" => "write keys with values, as in `key: value`".to_owned(),
                    "a list" => {
                        format!("write `{what}: [one, another]`, or one a line, each after `- `")
                    }
                    _ => format!("write {expected} there"),
                }),
        };
        problems.add(&self.place, complaint);
        None
    }
}
