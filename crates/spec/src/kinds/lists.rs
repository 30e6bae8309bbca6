//! Texts with their places, alone and as values that are made of several: lists, command lines, and names with their values.

use serde_json::{Value, json};

use crate::error::{Complaint, Problems};
use crate::node::{Node, Shape, Text};
use crate::options::{Detail, Flag, Kind};
use crate::schema::Definitions;
use crate::words::split;

/// A text that is checked later, so that it keeps its place.
#[derive(Debug)]
pub(crate) struct Word;

impl Kind for Word {
    type Value = Text;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Text> {
        node.text(key, problems)
    }

    fn write(&self, text: &Text, _: Detail) -> Node {
        Node::scalar(text.value.as_str(), Default::default())
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        json!({ "type": "string" })
    }
}

/// A list of values of one kind.
#[derive(Debug)]
pub(crate) struct List<K> {
    pub element: K,
    /// Whether the JSON Schema asks for at least one.
    pub needs_one: bool,
}

impl<K: Kind> Kind for List<K> {
    type Value = Vec<K::Value>;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Vec<K::Value>> {
        let Shape::List(nodes) = node.shape else { return node.refuse(key, "a list", problems) };
        let count = nodes.len();
        // Every element is read, so that the problems of all are reported.
        let values: Vec<_> =
            nodes.into_iter().filter_map(|node| self.element.read(node, key, problems)).collect();
        (values.len() == count).then_some(values)
    }

    fn write(&self, values: &Vec<K::Value>, detail: Detail) -> Node {
        let nodes = values.iter().map(|value| self.element.write(value, detail));
        Node::list(nodes.collect(), Default::default())
    }

    fn schema(&self, definitions: &mut Definitions) -> Value {
        let mut schema = json!({ "type": "array", "items": self.element.schema(definitions) });
        if self.needs_one {
            schema["minItems"] = 1.into();
        }
        schema
    }

    fn flags(&self) -> Vec<Flag> {
        self.element.flags()
    }
}

/// A list of texts, or a single one: `0`, `0,2-3` or `[0, 2-3]`.
#[derive(Debug)]
pub(crate) struct OneOrMore {
    /// JSON Schemas of a single text that may stand alone.
    pub alone: Vec<Value>,
    /// The JSON Schema of an element.
    pub element: Value,
    /// What divides a single text into several.
    pub separator: char,
    pub placeholder: &'static str,
}

impl Kind for OneOrMore {
    type Value = Vec<Text>;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Vec<Text>> {
        let place = node.place.clone();
        match node.shape {
            Shape::Scalar(text) => {
                let words = text.split(self.separator).map(str::trim).filter(|word| !word.is_empty());
                Some(words.map(|word| Text { value: word.to_owned(), place: place.clone() }).collect())
            }
            Shape::List(nodes) => texts(nodes, key, problems),
            _ => node.refuse(key, "a list", problems),
        }
    }

    fn write(&self, words: &Vec<Text>, _: Detail) -> Node {
        match words.as_slice() {
            [only] => Node::scalar(&only.value, Default::default()),
            words => list_of(words),
        }
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        let list = json!({ "type": "array", "minItems": 1, "items": self.element });
        json!({ "anyOf": self.alone.iter().cloned().chain([list]).collect::<Vec<_>>() })
    }

    fn placeholder(&self) -> String {
        self.placeholder.to_owned()
    }
}

/// Words of a command line: one text split as a shell would, or a list.
#[derive(Debug)]
pub(crate) struct CommandLine;

impl Kind for CommandLine {
    type Value = Vec<Text>;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Vec<Text>> {
        let place = node.place.clone();
        let words = match node.shape {
            Shape::Scalar(text) => {
                let words = problems.note(&place, split(&text))?;
                words.into_iter().map(|value| Text { value, place: place.clone() }).collect()
            }
            Shape::List(nodes) => texts(nodes, key, problems)?,
            _ => return node.refuse(key, "a text or a list of texts", problems),
        };
        // execve(2) takes words that end with a zero byte, so none can contain one.
        if let Some(word) = words.iter().find(|word| word.value.contains('\0')) {
            let complaint = Complaint::new(format!("`{}` contains a zero byte", word.value));
            problems.add(&place, complaint.help("remove it: no program can receive one"));
            return None;
        }
        Some(words)
    }

    fn write(&self, words: &Vec<Text>, _: Detail) -> Node {
        list_of(words)
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        json!({ "anyOf": [
            { "type": "string", "description": "Split into words as a shell would." },
            { "type": "array", "items": { "type": ["string", "number"] } },
        ] })
    }

    fn placeholder(&self) -> String {
        "LINE".to_owned()
    }
}

/// Names of any kind with their values, each pair checked by a function.
#[derive(Debug)]
pub(crate) struct Pairs(pub fn(&Text, &Text, &mut Problems) -> Option<(String, String)>);

impl Kind for Pairs {
    type Value = Vec<(String, String)>;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Vec<(String, String)>> {
        let Shape::Map(entries) = node.shape else { return node.refuse(key, "a map", problems) };
        let count = entries.len();
        let pairs = entries.into_iter().filter_map(|(name, node)| {
            let value = node.text(&name.value, problems)?;
            (self.0)(&name, &value, problems)
        });
        let pairs: Vec<_> = pairs.collect();
        (pairs.len() == count).then_some(pairs)
    }

    fn write(&self, pairs: &Vec<(String, String)>, _: Detail) -> Node {
        let entries =
            pairs.iter().map(|(name, value)| (name.as_str(), Node::scalar(value, Default::default())));
        Node::map(entries, Default::default())
    }

    fn schema(&self, _: &mut Definitions) -> Value {
        json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
    }
}

fn texts(nodes: Vec<Node>, key: &str, problems: &mut Problems) -> Option<Vec<Text>> {
    let count = nodes.len();
    let texts: Vec<_> = nodes.into_iter().filter_map(|node| node.text(key, problems)).collect();
    (texts.len() == count).then_some(texts)
}

fn list_of(words: &[Text]) -> Node {
    let nodes = words.iter().map(|word| Node::scalar(&word.value, Default::default()));
    Node::list(nodes.collect(), Default::default())
}
