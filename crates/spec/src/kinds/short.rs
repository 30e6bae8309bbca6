//! Maps that may be written as a single text: `GET /` instead of `{path: /}`.

use std::fmt;

use serde_json::{Value, json};

use crate::error::Problems;
use crate::node::{Node, Shape, Text};
use crate::options::{Detail, Flag, Kind, Table, Written};
use crate::schema::Definitions;

/// A map with a short form.
pub(crate) struct Short<T> {
    /// Name of its definition in the JSON Schema.
    pub definition: &'static str,
    /// One sentence for authors of experiment files.
    pub description: &'static str,
    /// The JSON Schema of the short form.
    pub line_schema: Value,
    /// Reads the short form.
    pub read: fn(Text, &mut Problems) -> Option<T>,
    /// The short form of a value that has one.
    pub write: fn(&T) -> Option<String>,
    /// The map.
    pub table: Table<T>,
}

impl<T: Clone + Default + 'static> Kind for Short<T> {
    type Value = Written<T>;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Written<T>> {
        let place = node.place.clone();
        match node.shape {
            Shape::Scalar(value) => (self.read)(Text { value, place: place.clone() }, problems)
                .map(|value| Written::at(value, place)),
            _ => self.table.read(node, key, problems),
        }
    }

    fn write(&self, written: &Written<T>, detail: Detail) -> Node {
        match (self.write)(&written.value).filter(|_| detail == Detail::Essential) {
            Some(line) => Node::scalar(line, Default::default()),
            None => self.table.write(written, detail),
        }
    }

    fn schema(&self, definitions: &mut Definitions) -> Value {
        definitions.reference(self.definition, |definitions| {
            let fields = self.table.schema(definitions);
            json!({ "description": self.description, "anyOf": [self.line_schema, fields] })
        })
    }

    fn placeholder(&self) -> String {
        "NAME".to_owned()
    }

    fn flags(&self) -> Vec<Flag> {
        self.table.flags()
    }

    fn given_by(&self, flags: &[(String, String)]) -> Option<Node> {
        self.table.given_by(flags)
    }
}

impl<T> fmt::Debug for Short<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Short").field("table", &self.table).finish_non_exhaustive()
    }
}
