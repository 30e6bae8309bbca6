//! The result as a document: it survives being written and read, and its published schema is true.

use std::path::Path;

use crate::support;
use loadline_model::result::RunResult;
use loadline_model::result::doctor::DoctorResult;
use loadline_model::result::load::LoadResult;
use loadline_report::{doctor, history_schema, json, load, result_schema};
use serde_json::Value;

fn written(result: &RunResult) -> String {
    let mut out = Vec::new();
    json(result, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn load_written(result: &LoadResult) -> String {
    let mut out = Vec::new();
    load::json(result, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn examined(result: &DoctorResult) -> String {
    let mut out = Vec::new();
    doctor::json(result, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("JSON is UTF-8")
}

#[test]
fn an_examination_read_back_is_written_the_same() {
    for result in support::doctor::all() {
        let once = examined(&result);
        let read: DoctorResult = serde_json::from_str(&once).expect("what was written can be read");
        assert_eq!(examined(&read), once);
    }
}

/// Readers of examinations rely on these names, `loadline.doctor/1`.
#[test]
fn an_examination_has_the_fields_that_its_version_has() {
    let document: Value = serde_json::from_str(&examined(&support::doctor::server())).expect("JSON");
    let mut names = Vec::new();
    leaves(&document, "", &mut names);
    insta::assert_snapshot!(names.join("\n"));
}

#[test]
fn a_result_read_back_is_written_the_same() {
    for result in support::all() {
        let once = written(&result);
        let read: RunResult = serde_json::from_str(&once).expect("what was written can be read");
        let twice = written(&read);
        let differing = once.lines().zip(twice.lines()).find(|(one, two)| one != two);
        assert_eq!(differing, None);
        assert_eq!(once.len(), twice.len());
    }
}

#[test]
fn a_load_read_back_is_written_the_same() {
    for result in support::load::all() {
        let once = load_written(&result);
        let read: LoadResult = serde_json::from_str(&once).expect("what was written can be read");
        assert_eq!(read.times, result.times);
        assert_eq!(load_written(&read), once);
    }
}

#[test]
fn every_document_keeps_to_the_schema() {
    let runs = support::all().iter().map(written).map(|text| (result_schema(), text)).collect::<Vec<_>>();
    let loads = support::load::all().iter().map(load_written).map(|text| (load::schema(), text)).collect();
    let examined = support::doctor::all().iter().map(examined).map(|text| (doctor::schema(), text)).collect();
    for (schema, text) in [runs, loads, examined].into_iter().flatten() {
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let mut faults = Vec::new();
        check(&schema, &schema, &document, "result", &mut faults);
        assert_eq!(faults, Vec::<String>::new());
    }
}

/// Readers of loads rely on these names, `loadline.load/1`.
#[test]
fn a_load_has_the_fields_that_its_version_has() {
    let document: Value = serde_json::from_str(&load_written(&support::load::untrusted())).expect("JSON");
    let mut names = Vec::new();
    leaves(&document, "", &mut names);
    insta::assert_snapshot!(names.join("\n"));
    assert_eq!(document["trust"]["doubts"][0]["accusation"], "the service did not carry this load");
    assert_eq!(document["trust"]["doubts"][3]["accusation"], Value::Null);
}

/// The path of every value that is neither object nor list of objects; of a list, those of its first element.
fn leaves(value: &Value, path: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| leaves(value, &format!("{path}.{key}"), names));
        }
        Value::Array(values) if values.first().is_some_and(Value::is_object) => {
            leaves(&values[0], &format!("{path}[]"), names);
        }
        _ => names.push(path.trim_start_matches('.').to_owned()),
    }
}

#[test]
fn the_schema_refuses_a_document_without_a_required_key() {
    let schema = result_schema();
    let mut document: Value = serde_json::from_str(&written(&support::slower())).expect("JSON");
    document["run"].as_object_mut().expect("an object").remove("seed");
    document["trust"]["trusted"] = Value::from("yes");
    document["cells"][0]["role"] = Value::from("spectator");
    let mut faults = Vec::new();
    check(&schema, &schema, &document, "result", &mut faults);
    faults.sort();
    assert_eq!(
        faults,
        [
            "result.cells[0].role: none of the alternatives",
            "result.run: no seed",
            "result.trust.trusted: not boolean"
        ]
    );
}

/// `UPDATE_SCHEMA=1 cargo test -p loadline-report` rewrites the file.
#[test]
fn the_published_schemas_are_those_in_the_code() {
    for (name, schema) in [
        ("result.schema.json", result_schema()),
        ("load.schema.json", load::schema()),
        ("doctor.schema.json", doctor::schema()),
        ("history.schema.json", history_schema()),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
            std::fs::write(&path, &text).expect("docs/ can be written");
        }
        let published = std::fs::read_to_string(&path).expect("the schema is published");
        assert!(published == text, "docs/{name} is out of date: run the tests once with UPDATE_SCHEMA=1");
    }
}

/// What the schemas of plain structs use: types, required keys, properties, items, references, alternatives, constants.
fn check(root: &Value, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect("references lead somewhere");
        check(root, target, value, place, faults);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(alternatives) = schema[key].as_array() {
            let fits = |alternative: &Value| {
                let mut own = Vec::new();
                check(root, alternative, value, place, &mut own);
                own.is_empty()
            };
            if !alternatives.iter().any(fits) {
                faults.push(format!("{place}: none of the alternatives"));
            }
        }
    }
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        faults.push(format!("{place}: not {constant}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("unknown type {other} at {place}"),
    };
    if !types.is_empty() && !types.iter().any(is) {
        faults.push(format!("{place}: not {}", types.join(" or ")));
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.is_object() && value.get(key).is_none() {
            faults.push(format!("{place}: no {key}"));
        }
    }
    for (key, of_key) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(inner) = value.get(key) {
            check(root, of_key, inner, &format!("{place}.{key}"), faults);
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (index, inner) in values.iter().enumerate() {
            check(root, items, inner, &format!("{place}[{index}]"), faults);
        }
    }
}
