//! Something found, and the words for it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What analysis found, and the words for it, which `report` adds. A document holds the words alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement<T> {
    /// What was found; `None` when it was read from a document.
    pub what: Option<T>,
    /// It in words; empty until it has been worded.
    pub text: String,
}

impl<T> Statement<T> {
    /// What was found, not yet worded.
    pub fn of(what: T) -> Statement<T> {
        Statement { what: Some(what), text: String::new() }
    }

    /// Words alone.
    pub fn text(text: impl Into<String>) -> Statement<T> {
        Statement { what: None, text: text.into() }
    }
}

impl<T> Serialize for Statement<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.what.is_some() && self.text.is_empty() {
            return Err(serde::ser::Error::custom("a result is worded before it is written"));
        }
        self.text.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Statement<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Statement<T>, D::Error> {
        String::deserialize(deserializer).map(Statement::text)
    }
}

impl<T> JsonSchema for Statement<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Statement".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
