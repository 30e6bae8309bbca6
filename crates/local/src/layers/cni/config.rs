//! A CNI network configuration: read, checked, and turned into the standard input of each plugin.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::CniError;

/// Supported versions of the specification, oldest first: those in which plugins are chained.
const VERSIONS: [&str; 5] = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];
/// The first version in which a plugin gets the result of ADD at DEL.
const RESULT_AT_DEL_SINCE: &str = "0.4.0";

/// A validated list of plugins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct List {
    name: String,
    version: String,
    plugins: Vec<Map<String, Value>>,
}

impl List {
    /// Reads a `.conflist`, or a `.conf` of a single plugin.
    pub fn read(file: &Path) -> Result<List, CniError> {
        let text = fs::read_to_string(file)
            .map_err(|source| CniError::Unreadable { file: file.to_owned(), source })?;
        let value = serde_json::from_str(&text)
            .map_err(|source| CniError::NotJson { file: file.to_owned(), source })?;
        List::from_json(value).map_err(|why| CniError::Invalid { file: file.to_owned(), why })
    }

    /// The error completes the sentence that begins with the file.
    fn from_json(value: Value) -> Result<List, String> {
        let Value::Object(mut top) = value else { return Err("is not a JSON object".to_owned()) };
        let name = text(&top, "name")?.to_owned();
        if !is_name(&name) {
            return Err(format!(
                "has the `name` {name:?}: a name begins with a letter or digit and continues with those, `_`, `.` and `-`"
            ));
        }
        let version = version(&top)?;
        let plugins = match top.remove("plugins") {
            Some(Value::Array(plugins)) => plugins,
            Some(_) => return Err("has `plugins` that is not a list".to_owned()),
            // Before version 1.0 a configuration could be that of a single plugin.
            None if top.contains_key("type") => vec![Value::Object(top)],
            None => return Err("has no `plugins`".to_owned()),
        };
        let plugins: Vec<Map<String, Value>> =
            plugins.into_iter().enumerate().map(plugin).collect::<Result<_, _>>()?;
        if plugins.is_empty() {
            return Err("has an empty list of `plugins`".to_owned());
        }
        Ok(List { name, version, plugins })
    }

    /// The plugins in the order of ADD: each one's program, and its configuration without a result.
    pub fn plugins(&self) -> impl DoubleEndedIterator<Item = (&str, Map<String, Value>)> {
        self.plugins.iter().map(|plugin| {
            let mut config = plugin.clone();
            // What the runtime supports would be in `runtimeConfig`; loadline supports none.
            config.remove("capabilities");
            config.insert("name".to_owned(), self.name.clone().into());
            config.insert("cniVersion".to_owned(), self.version.clone().into());
            let program = plugin.get("type").and_then(Value::as_str).unwrap_or_default();
            (program, config)
        })
    }

    /// Whether plugins get the result of ADD at DEL.
    pub fn passes_result_to_del(&self) -> bool {
        let place = |version: &str| VERSIONS.iter().position(|known| *known == version);
        place(&self.version) >= place(RESULT_AT_DEL_SINCE)
    }
}

fn plugin((index, plugin): (usize, Value)) -> Result<Map<String, Value>, String> {
    let Value::Object(plugin) = plugin else {
        return Err(format!("has a `plugins[{index}]` that is not a JSON object"));
    };
    match text(&plugin, "type") {
        Ok(program) if program.is_empty() || program.contains(['/', '\\', '\0']) || program == ".." => {
            Err(format!("has the `type` {program:?} at `plugins[{index}]`, which is not a program name"))
        }
        Ok(_) => Ok(plugin),
        Err(why) => Err(format!("{why} at `plugins[{index}]`")),
    }
}

/// The newest version that both the list and loadline support.
fn version(top: &Map<String, Value>) -> Result<String, String> {
    let first = text(top, "cniVersion")?;
    let more = top.get("cniVersions").and_then(Value::as_array).into_iter().flatten();
    let offered: Vec<&str> = more.filter_map(Value::as_str).chain([first]).collect();
    match VERSIONS.iter().rev().find(|version| offered.contains(version)) {
        Some(version) => Ok((*version).to_owned()),
        None => Err(format!(
            "has the `cniVersion` {}, but loadline supports {}",
            offered.join(", "),
            VERSIONS.join(", ")
        )),
    }
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    match object.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("has a `{key}` that is not a string")),
        None => Err(format!("has no `{key}`")),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_plugin_gets_the_lists_name_and_version_and_no_capabilities() {
        let list = List::from_json(json!({
            "cniVersion": "1.0.0",
            "name": "pods",
            "disableCheck": true,
            "plugins": [
                {"type": "bridge", "bridge": "cni0"},
                {"type": "portmap", "capabilities": {"portMappings": true}, "snat": true},
            ],
        }))
        .unwrap();
        let plugins: Vec<_> =
            list.plugins().map(|(program, config)| (program, Value::Object(config))).collect();
        assert_eq!(
            plugins,
            [
                (
                    "bridge",
                    json!({"cniVersion": "1.0.0", "name": "pods", "type": "bridge", "bridge": "cni0"})
                ),
                ("portmap", json!({"cniVersion": "1.0.0", "name": "pods", "type": "portmap", "snat": true})),
            ]
        );
    }

    #[test]
    fn a_single_plugin_is_a_list_of_one() {
        let list =
            List::from_json(json!({"cniVersion": "0.3.1", "name": "p", "type": "ptp", "mtu": 1400})).unwrap();
        let (program, config) = list.plugins().next().unwrap();
        assert_eq!((program, config.get("mtu")), ("ptp", Some(&json!(1400))));
        assert!(!list.passes_result_to_del());
    }

    #[test]
    fn the_newest_version_that_both_support_is_used() {
        let plugins = json!([{"type": "ptp"}]);
        let list = |version: &str, versions: Value| {
            List::from_json(
                json!({"cniVersion": version, "cniVersions": versions, "name": "p", "plugins": plugins}),
            )
        };
        assert_eq!(list("1.0.0", json!(["0.4.0", "1.1.0", "9.0.0"])).unwrap().version, "1.1.0");
        assert!(list("1.0.0", Value::Null).unwrap().passes_result_to_del());
        assert!(list("0.2.0", Value::Null).unwrap_err().contains("supports 0.3.0"));
    }

    #[test]
    fn errors_name_the_invalid_key() {
        for (config, why) in [
            (json!([]), "is not a JSON object"),
            (json!({"cniVersion": "1.0.0", "plugins": [{"type": "ptp"}]}), "has no `name`"),
            (json!({"name": "p", "plugins": [{"type": "ptp"}]}), "has no `cniVersion`"),
            (json!({"cniVersion": 1, "name": "p"}), "has a `cniVersion` that is not a string"),
            (json!({"cniVersion": "1.0.0", "name": "../p", "plugins": []}), "has the `name` \"../p\""),
            (json!({"cniVersion": "1.0.0", "name": "p"}), "has no `plugins`"),
            (json!({"cniVersion": "1.0.0", "name": "p", "plugins": {}}), "not a list"),
            (json!({"cniVersion": "1.0.0", "name": "p", "plugins": []}), "empty list"),
            (
                json!({"cniVersion": "1.0.0", "name": "p", "plugins": [1]}),
                "a `plugins[0]` that is not a JSON object",
            ),
            (
                json!({"cniVersion": "1.0.0", "name": "p", "plugins": [{"type": "ptp"}, {}]}),
                "no `type` at `plugins[1]`",
            ),
            (
                json!({"cniVersion": "1.0.0", "name": "p", "plugins": [{"type": "../sh"}]}),
                "not a program name",
            ),
        ] {
            let said = List::from_json(config.clone()).unwrap_err();
            assert!(said.contains(why), "{config}: {said}");
        }
    }
}
