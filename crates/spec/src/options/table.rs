//! The keys of a map, declared in a table.

use std::fmt;

use serde_json::{Value, json};

use super::{Detail, Field, Flag, Kind, Written};
use crate::error::{Complaint, Place, Problems, not_supported_yet, suggestion};
use crate::node::{Node, Shape};
use crate::schema::Definitions;

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
    value: Box<dyn ValueOf<T>>,
    flag: Option<FlagOf>,
    /// What the default is, where the field alone does not say.
    default: Option<&'static str>,
    /// What to write if it is missing.
    required: Option<&'static str>,
}

/// The value of a key: its kind together with the field of a `T` that it goes to.
trait ValueOf<T> {
    fn read(&self, node: Node, key: &str, target: &mut T, problems: &mut Problems);
    /// `None` where the field has no value.
    fn write(&self, target: &mut T, detail: Detail) -> Option<Node>;
    fn schema(&self, definitions: &mut Definitions) -> Value;
    fn placeholder(&self) -> String;
    fn flags(&self) -> Vec<Flag>;
    fn given_by(&self, flags: &[(String, String)]) -> Option<Node>;
}

struct Bound<K, T, F> {
    kind: K,
    field: fn(&mut T) -> &mut F,
}

impl<K: Kind, T, F: Field<K::Value>> ValueOf<T> for Bound<K, T, F> {
    fn read(&self, node: Node, key: &str, target: &mut T, problems: &mut Problems) {
        if let Some(value) = self.kind.read(node, key, problems) {
            (self.field)(target).set(value);
        }
    }

    fn write(&self, target: &mut T, detail: Detail) -> Option<Node> {
        (self.field)(target).get().map(|value| self.kind.write(&value, detail))
    }

    fn schema(&self, definitions: &mut Definitions) -> Value {
        self.kind.schema(definitions)
    }

    fn placeholder(&self) -> String {
        self.kind.placeholder()
    }

    fn flags(&self) -> Vec<Flag> {
        self.kind.flags()
    }

    fn given_by(&self, flags: &[(String, String)]) -> Option<Node> {
        self.kind.given_by(flags)
    }
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
        self.keys.push(Key {
            name,
            description,
            value: Box::new(Bound { kind, field }),
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
                written.has_unknown = true;
                problems.add(&name.place, self.unknown(&name.value));
                continue;
            };
            written.places.push((key.name, value.place.clone()));
            key.value.read(value, key.name, &mut written.value, problems);
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
            let mut schema = key.value.schema(definitions);
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
        match key.value.write(&mut T::default(), Detail::All)?.shape {
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
            let node = key.value.write(&mut value, detail)?;
            let needless = detail == Detail::Essential
                && key.value.write(&mut default, detail).is_some_and(|default| default == node);
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
                let placeholder = switch.is_none().then(|| key.value.placeholder());
                flags.push(Flag { name, placeholder, help, heading });
            }
            flags.extend(key.value.flags());
        }
        flags
    }

    fn given_by(&self, given: &[(String, String)]) -> Option<Node> {
        let entries = self.keys.iter().filter_map(|key| {
            let Some(flag) = &key.flag else { return Some((key.name, key.value.given_by(given)?)) };
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
