//! How the keys of an experiment are declared: each once, in a [`Table`], from which come reading and its complaints, writing, the JSON
//! Schema, the flag of the command line and its help, and the default.
//!
//! A table fills in a plain struct. A key names the [`Kind`] of its value, which knows the form of the text and its bounds, and the field
//! that the value goes to; the default is what the field holds before anything is read.

use std::fmt;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::error::{Complaint, Place, Problems, not_supported_yet, suggestion};
use crate::node::{Node, Shape};
use crate::schema::Definitions;

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
    fn from_flags(&self, _: &[(String, String)]) -> Option<Node> {
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
}

impl<T> Written<T> {
    /// What was written as a whole, without keys.
    pub fn at(value: T, place: Place) -> Written<T> {
        Written { value, place, places: Vec::new() }
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

/// The keys of a map, in the order of the documentation.
pub(crate) struct Table<T> {
    /// Name of its definition in the JSON Schema.
    definition: &'static str,
    /// What messages call it: "plan".
    what: &'static str,
    /// One sentence for authors of experiment files, without its full stop.
    description: &'static str,
    keys: Vec<Key<T>>,
    /// What is checked of several keys together.
    check: fn(&Written<T>, &mut Problems),
    /// Whether `key:` without a value is as good as `key: {}`.
    may_be_empty: bool,
    /// What the JSON Schema says beyond the keys.
    extra_schema: Value,
    /// Keys of later versions.
    later: &'static [&'static str],
}

/// One key of a table.
struct Key<T> {
    name: &'static str,
    description: &'static str,
    read: Box<dyn Fn(Node, &mut T, &mut Problems)>,
    write: Box<dyn Fn(&mut T, Detail) -> Option<Node>>,
    schema: Box<dyn Fn(&mut Definitions) -> Value>,
    flags_within: Box<dyn Fn() -> Vec<Flag>>,
    from_flags: Box<dyn Fn(&[(String, String)]) -> Option<Node>>,
    placeholder: String,
    flag: Option<FlagOf>,
    /// What the default is, where the field alone does not say.
    default: Option<&'static str>,
    /// What to write if it is missing.
    required: Option<&'static str>,
}

/// How a key is set on the command line.
struct FlagOf {
    name: &'static str,
    heading: &'static str,
    /// The value that the flag stands for and its own help, for a switch.
    switch: Option<(&'static str, &'static str)>,
}

impl<T: Clone + Default + 'static> Table<T> {
    pub fn new(definition: &'static str, what: &'static str, description: &'static str) -> Table<T> {
        Table {
            definition,
            what,
            description,
            keys: Vec::new(),
            check: |_, _| (),
            may_be_empty: false,
            extra_schema: json!({}),
            later: &[],
        }
    }

    /// Adds a key. `description`: a sentence without its full stop, shown by editors and in the flag's help.
    pub fn key<K: Kind + 'static, F: Field<K::Value> + 'static>(
        mut self,
        name: &'static str,
        kind: K,
        description: &'static str,
        field: fn(&mut T) -> &mut F,
    ) -> Table<T> {
        let kind = Rc::new(kind);
        let (reader, writer, describer, flags, from_flags) =
            (kind.clone(), kind.clone(), kind.clone(), kind.clone(), kind.clone());
        self.keys.push(Key {
            name,
            description,
            read: Box::new(move |node, target, problems| {
                if let Some(value) = reader.read(node, name, problems) {
                    field(target).set(value);
                }
            }),
            write: Box::new(move |target, detail| {
                field(target).get().map(|value| writer.write(&value, detail))
            }),
            schema: Box::new(move |definitions| describer.schema(definitions)),
            flags_within: Box::new(move || flags.flags()),
            from_flags: Box::new(move |given| from_flags.from_flags(given)),
            placeholder: kind.placeholder(),
            flag: None,
            default: None,
            required: None,
        });
        self
    }

    /// The flag of the last key, under a heading of the help.
    pub fn flag(self, name: &'static str, heading: &'static str) -> Table<T> {
        self.changed(|key| key.flag = Some(FlagOf { name, heading, switch: None }))
    }

    /// A flag without a value for the last key: it stands for `value`.
    pub fn switch(
        self,
        name: &'static str,
        heading: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Table<T> {
        self.changed(|key| key.flag = Some(FlagOf { name, heading, switch: Some((value, help)) }))
    }

    /// The flag of a key that was declared elsewhere, with the table.
    pub fn flag_of(mut self, key: &str, name: &'static str, heading: &'static str) -> Table<T> {
        if let Some(key) = self.keys.iter_mut().find(|known| known.name == key) {
            key.flag = Some(FlagOf { name, heading, switch: None });
        }
        self
    }

    /// Says what leaving out the last key means, where its field's value does not.
    pub fn default(self, text: &'static str) -> Table<T> {
        self.changed(|key| key.default = Some(text))
    }

    /// The last key must be there; `help` says what to write.
    pub fn required(self, help: &'static str) -> Table<T> {
        self.changed(|key| key.required = Some(help))
    }

    fn changed(mut self, change: impl FnOnce(&mut Key<T>)) -> Table<T> {
        if let Some(key) = self.keys.last_mut() {
            change(key);
        }
        self
    }

    /// `key:` without a value is as good as `key: {}`.
    pub fn may_be_empty(self) -> Table<T> {
        Table { may_be_empty: true, ..self }
    }

    /// Checks several keys together, once they are read.
    pub fn check(self, check: fn(&Written<T>, &mut Problems)) -> Table<T> {
        Table { check, ..self }
    }

    /// Keys that a later version will know.
    pub fn not_supported_yet(self, later: &'static [&'static str]) -> Table<T> {
        Table { later, ..self }
    }

    /// Adds to the JSON Schema what is said of several keys together.
    pub fn extra_schema(self, extra_schema: Value) -> Table<T> {
        Table { extra_schema, ..self }
    }

    /// Reads what can be read of a map; what is wrong keeps its default, and is noted.
    pub fn read_partly(&self, node: Node, problems: &mut Problems) -> Option<Written<T>> {
        let entries = match node.shape {
            Shape::Map(entries) => entries,
            Shape::Null if self.may_be_empty => Vec::new(),
            _ => return node.refuse(self.what, "a map", problems),
        };
        let mut written = Written::at(T::default(), node.place);
        for (name, value) in entries {
            let Some(key) = self.keys.iter().find(|key| key.name == name.value) else {
                problems.add(&name.place, self.unknown(&name.value));
                continue;
            };
            written.places.push((key.name, value.place.clone()));
            (key.read)(value, &mut written.value, problems);
        }
        for key in &self.keys {
            if let Some(help) = key.required.filter(|help| !help.is_empty() && !written.has(key.name)) {
                let complaint = Complaint::new(format!("the {} has no `{}`", self.what, key.name));
                problems.add(&written.place, complaint.help(help));
            }
        }
        (self.check)(&written, problems);
        Some(written)
    }

    fn unknown(&self, name: &str) -> Complaint {
        if self.later.contains(&name) {
            return not_supported_yet(name);
        }
        let names: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
        Complaint::new(format!("unknown key `{name}`")).help(suggestion(name, &names))
    }

    /// The JSON Schema of the map itself.
    pub fn object_schema(&self, definitions: &mut Definitions) -> Value {
        let mut properties = serde_json::Map::new();
        for key in &self.keys {
            let mut schema = (key.schema)(definitions);
            if let Some(object) = schema.as_object_mut()
                && !key.description.is_empty()
            {
                object.insert("description".to_owned(), self.described(key).into());
            }
            properties.insert(key.name.to_owned(), schema);
        }
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        let required: Vec<&str> =
            self.keys.iter().filter(|key| key.required.is_some()).map(|key| key.name).collect();
        if let Some(object) = schema.as_object_mut() {
            if !self.description.is_empty() {
                object.insert("description".to_owned(), format!("{}.", self.description).into());
            }
            if !required.is_empty() {
                object.insert("required".to_owned(), required.into());
            }
            if let Value::Object(extra) = &self.extra_schema {
                object.extend(extra.clone());
            }
        }
        schema
    }

    /// A key's description with its default, for editors.
    fn described(&self, key: &Key<T>) -> String {
        match (key.default, self.default_value(key)) {
            (Some(text), _) => format!("{}. Default: {text}.", key.description),
            (None, Some(value)) => format!("{}. Default: {value}.", key.description),
            (None, None) => format!("{}.", key.description),
        }
    }

    /// A key's default as it is written, if it is a single value; that a switch is off needs no mention.
    fn default_value(&self, key: &Key<T>) -> Option<String> {
        match (key.write)(&mut T::default(), Detail::All)?.shape {
            Shape::Scalar(text) if text != "false" && !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

impl<T: Clone + Default + 'static> Kind for Table<T> {
    type Value = Written<T>;

    fn read(&self, node: Node, _: &str, problems: &mut Problems) -> Option<Written<T>> {
        let before = problems.count();
        let written = self.read_partly(node, problems)?;
        (problems.count() == before).then_some(written)
    }

    fn write(&self, value: &Written<T>, detail: Detail) -> Node {
        let (mut value, mut default) = (value.value.clone(), T::default());
        let entries = self.keys.iter().filter_map(|key| {
            let node = (key.write)(&mut value, detail)?;
            let needless = detail == Detail::Essential
                && (key.write)(&mut default, detail).is_some_and(|default| default == node);
            (!needless).then_some((key.name, node))
        });
        Node::map(entries.collect::<Vec<_>>(), Place::File)
    }

    fn schema(&self, definitions: &mut Definitions) -> Value {
        definitions.reference(self.definition, |definitions| self.object_schema(definitions))
    }

    fn flags(&self) -> Vec<Flag> {
        let mut flags = Vec::new();
        for key in &self.keys {
            if let Some(FlagOf { name, heading, switch }) = key.flag {
                let help = match (switch, key.default.map(str::to_owned).or_else(|| self.default_value(key)))
                {
                    (Some((_, help)), _) => help.to_owned(),
                    (None, Some(default)) => format!("{} [default: {default}]", key.description),
                    (None, None) => key.description.to_owned(),
                };
                let placeholder = switch.is_none().then(|| key.placeholder.clone());
                flags.push(Flag { name, placeholder, help, heading });
            }
            flags.extend((key.flags_within)());
        }
        flags
    }

    fn from_flags(&self, given: &[(String, String)]) -> Option<Node> {
        let entries = self.keys.iter().filter_map(|key| {
            let Some(flag) = &key.flag else { return Some((key.name, (key.from_flags)(given)?)) };
            let (_, typed) = given.iter().find(|(name, _)| name == flag.name)?;
            let place = Place::Flag { name: flag.name, value: typed.clone() };
            let text = flag.switch.map_or(typed.as_str(), |(value, _)| value);
            Some((key.name, Node::scalar(text, place)))
        });
        let entries: Vec<_> = entries.collect();
        (!entries.is_empty()).then(|| Node::map(entries, Place::CommandLine))
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("definition", &self.definition).finish_non_exhaustive()
    }
}
