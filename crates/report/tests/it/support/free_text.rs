//! Where a result holds text of others' choice: of the author of an experiment, of a service, of a machine.

use loadline_model::result::RunResult;
use serde_json::Value;

/// The places of a result as JSON: every text in whose place it is a result with any other.
pub fn places(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(document, String::new(), &mut found);
    let is_free = |place: &String| {
        let mut changed = document.clone();
        if let Some(text) = changed.pointer_mut(place) {
            *text = "\u{1b}".into();
        }
        serde_json::from_value::<RunResult>(changed).is_ok()
    };
    found.into_iter().filter(is_free).collect()
}

fn walk(value: &Value, place: String, found: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::String(_) => found.push(place),
        // All slices are alike.
        Value::Array(items) => {
            let some = if place == "/slices" { 1 } else { items.len() };
            items
                .iter()
                .take(some)
                .enumerate()
                .for_each(|(at, item)| walk(item, format!("{place}/{at}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, field)| walk(field, format!("{place}/{}", escaped(key)), found));
        }
        _ => {}
    }
}
