//! The JSON Schema of experiment files, for completion and checks in editors; the descriptions are those of the declared keys.

use serde_json::{Map, Value, json};

/// The definitions that a schema refers to.
#[derive(Debug, Default)]
pub(crate) struct Definitions(Map<String, Value>);

impl Definitions {
    /// A reference to the definition called `name`, which is made at its first use.
    pub fn reference(&mut self, name: &str, make: impl FnOnce(&mut Definitions) -> Value) -> Value {
        if !self.0.contains_key(name) {
            let schema = make(self);
            self.0.insert(name.to_owned(), schema);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// The schema of a whole file with these definitions (draft 2020-12).
    pub fn file(self, title: &str, mut root: Value) -> Value {
        if let Some(object) = root.as_object_mut() {
            object.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
            object.insert("title".to_owned(), title.into());
            object.insert("$defs".to_owned(), self.0.into());
        }
        root
    }
}
