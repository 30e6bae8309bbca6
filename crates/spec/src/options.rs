//! How the keys of an experiment are declared: each once, in a [`Table`], from which come reading and its complaints, writing, the JSON
//! Schema, the flag of the command line and its help, and the default.
//!
//! A table fills in a plain struct. A key names the [`Kind`] of its value, which knows the form of the text and its bounds, and the field
//! that the value goes to; the default is what the field holds before anything is read.

mod table;

use serde_json::Value;

use crate::error::{Place, Problems};
use crate::node::Node;
use crate::schema::Definitions;

pub(crate) use table::Table;

/// Values of one kind: how they are read, written and described.
pub(crate) trait Kind {
    /// What is read.
    type Value: Clone;

    /// Reads the value of `key`; `None` if there were problems, which have been noted.
    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Self::Value>;

    /// The node that is read as `value`.
    fn write(&self, value: &Self::Value, detail: Detail) -> Node;

    /// The JSON Schema of what may be written.
    fn schema(&self, definitions: &mut Definitions) -> Value;

    /// What stands for the value in the help of a flag: `TIME`.
    fn placeholder(&self) -> String {
        "VALUE".to_owned()
    }

    /// The flags of the keys within.
    fn flags(&self) -> Vec<Flag> {
        Vec::new()
    }

    /// What the flags say of the keys within; `None`: nothing.
    fn given_by(&self, _: &[(String, String)]) -> Option<Node> {
        None
    }
}

/// How much of an experiment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What differs from the defaults.
    Essential,
    /// Every value that there is.
    All,
}

/// The flag of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// With its dashes: `--slice`.
    pub name: &'static str,
    /// What stands for its value in the help, `TIME`; `None` for a switch.
    pub placeholder: Option<String>,
    /// What it does, and its default.
    pub help: String,
    /// The heading in the help that it belongs to.
    pub heading: &'static str,
}

/// A field that a value of type `V` can be put into.
pub(crate) trait Field<V> {
    fn set(&mut self, value: V);
    /// The value; `None` where there is none.
    fn get(&self) -> Option<V>;
}

impl<V: Clone> Field<V> for V {
    fn set(&mut self, value: V) {
        *self = value;
    }

    fn get(&self) -> Option<V> {
        Some(self.clone())
    }
}

impl<V: Clone> Field<V> for Option<V> {
    fn set(&mut self, value: V) {
        *self = Some(value);
    }

    fn get(&self) -> Option<V> {
        self.clone()
    }
}

/// What a map says, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written<T> {
    pub value: T,
    /// The whole map.
    pub place: Place,
    /// The values of its keys.
    places: Vec<(&'static str, Place)>,
    /// Whether there were keys that are not known: one that is missing may be misspelt.
    pub has_unknown: bool,
}

impl<T> Written<T> {
    /// What was written as a whole, without keys.
    pub fn at(value: T, place: Place) -> Written<T> {
        Written { value, place, places: Vec::new(), has_unknown: false }
    }

    /// Whether a key was written.
    pub fn has(&self, key: &str) -> bool {
        self.places.iter().any(|(name, _)| *name == key)
    }

    /// The place of a key's value, or of the whole map if the key was not written.
    pub fn place_of(&self, key: &str) -> &Place {
        self.places.iter().find(|(name, _)| *name == key).map_or(&self.place, |(_, place)| place)
    }
}

/// A value that was not read from anywhere: to be written.
impl<T> From<T> for Written<T> {
    fn from(value: T) -> Written<T> {
        Written::at(value, Place::File)
    }
}
