//! What `loadline load --json` says, as its readers see it.

use std::path::Path;

use serde_json::Value;

use super::place::{Ended, Place};

/// A load and its JSON.
pub struct Loaded {
    pub ended: Ended,
    pub json: Value,
}

impl Loaded {
    /// Runs `loadline load ARGUMENTS --json FILE`, which must have measured something.
    pub fn run(place: &Place, arguments: &[&str]) -> Loaded {
        let file = place.path("load.json");
        let to_file = ["--json", file.to_str().expect("text")];
        let ended = place.run(["load"].into_iter().chain(arguments.iter().copied()).chain(to_file));
        // What the watchdog says of a shared machine is not what is tested here.
        ended.assert_measured();
        Loaded { json: read(&file), ended }
    }

    /// A whole number at a path in the JSON, as `counts.sent`.
    pub fn number(&self, path: &str) -> u64 {
        self.at(path).as_u64().unwrap_or_else(|| panic!("{path} is no number: {}", self.at(path)))
    }

    /// What stands at a path in the JSON.
    pub fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.json, |value, key| &value[key])
    }

    /// Fails unless every request was sent, answered, and as expected.
    pub fn assert_all_answered(&self) {
        assert_eq!(self.number("counts.errors"), 0, "{}", self.ended.stdout);
        assert!(self.number("counts.sent") > 0);
        assert_eq!(self.number("counts.sent"), self.number("counts.answered"), "{}", self.ended.stdout);
    }
}

pub fn read(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).expect("a file")).expect("JSON")
}
