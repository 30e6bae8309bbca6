//! The result as a page: what stands in it without scripts, and the data that its app shows.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use loadline_model::result::{Figure, RunResult, Slice, Unit};
use loadline_report::{Evidence, html, json};
use serde_json::Value;

use crate::support;

const DATA: &str = "<script id=\"data\" type=\"application/json\">";

pub fn page(result: &RunResult, evidence: &Evidence) -> String {
    let mut out = Vec::new();
    html(result, evidence, &[], &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("HTML is UTF-8")
}

/// The data of a page.
pub fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(DATA).expect("data");
    let (text, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(text).expect("JSON")
}

/// The opening tags of a page, without those in the style sheet and the scripts, which hold no markup.
pub fn tags(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').expect("every tag ends");
        rest = after;
        if tag.starts_with('/') || tag.starts_with('!') {
            continue;
        }
        found.push(tag);
        for name in ["style", "script"] {
            if tag.split(' ').next() == Some(name) {
                rest = rest.split_once(&format!("</{name}>")).expect("it ends").1;
            }
        }
    }
    found
}

/// What a reader sees without scripts: the body up to the data, an element a line.
fn seen(result: &RunResult) -> String {
    let page = page(result, &Evidence::default());
    let (_, body) = page.split_once("<body>").expect("a body");
    let (body, _) = body.split_once(DATA).expect("data");
    body.replace("><", ">\n<")
}

#[test]
fn a_page_begins_with_the_answer() {
    assert_snapshot!(seen(&support::slower()));
}

#[test]
fn a_page_of_an_untrusted_run_says_so_first() {
    assert_snapshot!(seen(&support::untrusted()));
}

#[test]
fn a_page_of_a_ladder_draws_what_each_layer_adds_and_the_residual() {
    assert_snapshot!(seen(&support::ladder()));
}

#[test]
fn a_page_of_many_comparisons_begins_with_their_number_and_a_drawing_of_all() {
    assert_snapshot!(seen(&support::six_by_six()));
}

#[test]
fn a_page_has_conditions_claims_and_starts() {
    assert_snapshot!(seen(&support::with_starts_and_claims()));
    assert_snapshot!(seen(&support::with_conditions()));
}

#[test]
fn a_claim_opens_the_row_that_says_the_same_and_in_a_search_the_rates_that_were_tried() {
    let claims = |result: &RunResult| {
        let page = seen(result);
        let (_, claims) = page.split_once("<ul class=\"claims\">").expect("claims");
        claims.split_once("</section>").expect("an end").0.to_owned()
    };
    let mut result = support::other_baselines();
    assert!(claims(&result).contains("data-contrast=\"1\" data-metric=\"response.p50\""));
    // Some labels are indented in tables.
    result.claims[0].metric = "  p50, paired".to_owned();
    result.contrasts[1].rows[0].label = "  p50, paired".to_owned();
    assert!(claims(&result).contains("data-contrast=\"1\" data-metric=\"response.p50\""));
    // A closed gap is made of three cells.
    let closes = serde_json::json!({"closes": {"of": "docker", "from": 0.5, "to": 0.7}});
    result.run.experiment = serde_json::json!({"claims": [{"says": closes}]});
    assert!(!claims(&result).contains("data-contrast"));
    result.run.experiment = serde_json::json!({});
    result.contrasts.clear();
    result.capacities = support::capacities().capacities;
    assert!(claims(&result).contains("href=\"#trials-2\""));
}

#[test]
fn a_capacity_leads_to_the_rates_that_were_tried_wherever_it_stands() {
    let mut result = support::cpu_limits();
    let figures = &mut result.cells[0].figures;
    let label = "capacity".to_owned();
    figures.push(Figure { metric: label.clone(), label, unit: Unit::PerSecond, ..figures[0].clone() });
    assert!(seen(&result).contains("href=\"#trials-0\""));
}

#[test]
fn what_conditions_allow_is_drawn_unless_it_is_far_beyond_what_was_found() {
    let amounts = |result: &RunResult| seen(result).matches("<line class=\"amount\"").count();
    let mut result = support::with_conditions();
    assert_eq!(amounts(&result), 4);
    result.conditions[2].by = 50.0;
    assert_eq!(amounts(&result), 3);
}

#[test]
fn a_page_of_a_run_that_failed_early_shows_why() {
    assert_snapshot!(seen(&support::empty()));
}

#[test]
fn what_a_page_says_is_what_the_other_reports_say() {
    for result in support::all() {
        let page = seen(&result);
        let text = text_of(&page);
        let markdown = loadline_report::markdown(&result);
        // Rows of tables: each figure, interval and verdict of the one stands in the other.
        let cells = markdown.lines().filter(|line| line.starts_with("| ")).flat_map(|line| line.split(" | "));
        let cells = cells.map(|cell| cell.trim_matches(['|', ' ']).replace("&emsp;", "").replace('\\', ""));
        for cell in cells.filter(|cell| !cell.starts_with("--")) {
            assert!(text.contains(&cell), "{cell:?} in {text}");
        }
    }
}

/// The text of a page, without its markup.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        rest = after.split_once('>').map(|(_, after)| after).unwrap_or_default();
    }
    text.push_str(rest);
    for (entity, plain) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
        text = text.replace(entity, plain);
    }
    text
}

const WARM_UP: &str = "warmup_service_p50_ns";

#[test]
fn the_data_of_a_page_are_the_result_with_its_slices_by_columns() {
    for result in support::all() {
        let mut out = Vec::new();
        json(&result, &mut out).expect("a vector takes everything");
        let mut document: Value = serde_json::from_slice(&out).expect("JSON");
        let slices = document["slices"].take();
        document.as_object_mut().expect("an object").remove("slices");
        let page = data(&page(&result, &Evidence::default()));
        let mut shown = page["result"].clone();
        assert_eq!(
            shown.as_object_mut().expect("an object").remove("slices"),
            Some(Value::Array(Vec::new()))
        );
        for (cell, written) in shown["cells"]
            .as_array_mut()
            .expect("cells")
            .iter_mut()
            .zip(document["cells"].as_array().expect("cells"))
        {
            for name in ["response", "service", "send_lag"] {
                assert_eq!(cell["histograms"][name], "");
                cell["histograms"][name] = written["histograms"][name].clone();
            }
            // The courses of the warm-ups are in the JSON alone.
            let deployments = written["deployments"].as_array().expect("deployments");
            for (deployment, written) in
                cell["deployments"].as_array_mut().expect("deployments").iter_mut().zip(deployments)
            {
                assert_eq!(deployment.get(WARM_UP), None);
                deployment[WARM_UP] = written[WARM_UP].clone();
            }
        }
        // Nor is what twins are compared with, block by block.
        for row in document["noise"].as_array_mut().expect("noise").iter_mut().flat_map(rows_of) {
            row["block_differences"] = Value::Array(Vec::new());
        }
        assert_same(&shown, &document);
        let read: Vec<Slice> = rows(&page["slices"])
            .into_iter()
            .map(|slice| serde_json::from_value(slice).expect("a slice"))
            .collect();
        assert_same(&serde_json::to_value(&read).expect("JSON"), &slices);
    }
}

fn rows_of(contrast: &mut Value) -> impl Iterator<Item = &mut Value> {
    contrast["rows"].as_array_mut().expect("rows").iter_mut()
}

/// The same but for the digits of a fraction that are never shown.
fn assert_same(shown: &Value, written: &Value) {
    match (shown, written) {
        (Value::Array(shown), Value::Array(written)) => {
            assert_eq!(shown.len(), written.len());
            shown.iter().zip(written).for_each(|(shown, written)| assert_same(shown, written));
        }
        (Value::Object(shown), Value::Object(written)) => {
            assert!(shown.keys().eq(written.keys()), "{:?} for {:?}", shown.keys(), written.keys());
            shown.values().zip(written.values()).for_each(|(shown, written)| assert_same(shown, written));
        }
        (Value::Number(one), Value::Number(other)) if other.is_f64() => {
            let (one, other) = (one.as_f64().expect("a number"), other.as_f64().expect("a number"));
            assert!((one - other).abs() <= 1e-4 * other.abs(), "{one} for {other}");
        }
        _ => assert_eq!(shown, written),
    }
}

/// Slices of columns, as the app puts them together.
fn rows(columns: &Value) -> Vec<Value> {
    let length = columns["length"].as_u64().expect("a number") as usize;
    let mut slices = vec![serde_json::json!({}); length];
    for (path, column) in columns["columns"].as_object().expect("columns") {
        let column = column.as_str().map_or(column, |other| &columns["columns"][other]);
        let column = column.as_array().expect("values");
        let keys: Vec<String> =
            path.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
        for (at, slice) in slices.iter_mut().enumerate() {
            let value = if column.len() == 1 { &column[0] } else { &column[at] };
            let place = keys.iter().fold(slice, |into, key| &mut into[key.as_str()]);
            *place = value.clone();
        }
    }
    slices
}

#[test]
fn a_page_of_a_long_run_shows_its_response_times_over_time_and_stays_small() {
    let mut result = support::slower();
    let some = std::mem::take(&mut result.slices);
    // 12 deployments × 40 blocks × 3 cells, a fifth of them repeated.
    result.slices = some.iter().cycle().take(1_730).cloned().collect();
    for (at, slice) in result.slices.iter_mut().enumerate() {
        slice.at_s = at as f64 * 0.0917;
    }
    let (result, evidence) = support::with_evidence(result);
    let page = page(&result, &evidence);
    assert!(page.len() <= 1_000_000, "{}", page.len());
    let data = data(&page);
    assert_eq!(rows(&data["slices"]).len(), 1_730);
    let columns = data["heat"]["cells"].as_array().expect("cells");
    assert_eq!(columns.len(), result.cells.len());
    for of_cell in columns {
        let columns = of_cell.as_array().expect("columns").len();
        assert!((32..=577).contains(&columns), "{columns}");
        // Each of the three cells has a third of the slices.
        let each = data["heat"]["slices_per_column"].as_u64().expect("a number") as usize;
        assert!(
            (576usize.div_ceil(each)..=577usize.div_ceil(each)).contains(&columns),
            "{columns} of {each}"
        );
    }
}

/// The pages that a browser is shown by `ui/test`, in the folder that `LOADLINE_PAGES` names, each with the result as JSON beside it.
#[test]
fn pages_are_written_for_a_browser() {
    let folder =
        std::env::var("LOADLINE_PAGES").unwrap_or_else(|_| format!("{}/pages", env!("CARGO_TARGET_TMPDIR")));
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).expect("a folder");
    for (name, result, evidence) in support::pages() {
        let mut out = Vec::new();
        json(&result, &mut out).expect("a vector takes everything");
        fs::write(folder.join(format!("{name}.json")), out).expect("a file");
        fs::write(folder.join(format!("{name}.html")), page(&result, &evidence)).expect("a file");
    }
}
