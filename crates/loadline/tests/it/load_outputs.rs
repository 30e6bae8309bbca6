//! One load in all its outputs, each read as its readers read it, and all of them of one mind.

use std::path::Path;
use std::process::Command;

use crate::support;
use crate::support::loaded::{Loaded, read};
use crate::support::nginx::Nginx;
use crate::support::place::Place;
use loadline_model::result::load::LoadResult;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What the public Python library reads from an HdrHistogram log.
fn read_by_python(log: &Path) -> Value {
    let output = Command::new(format!("{ROOT}/target/python/bin/python"))
        .arg(format!("{ROOT}/tests/read-hlog.py"))
        .arg(log)
        .output()
        .expect("Python with hdrhistogram: tests/install-tools hdrhistogram installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn all_outputs_of_a_load_say_the_same() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    let files = ["--hgrm", "a.hgrm", "--hlog", "a.hlog", "--csv", "a.csv"];
    let load = ["--rate", "500/s", "--for", "2500ms", "--connections", "4"];
    let loaded = Loaded::run(&place, &[&[url.as_str()][..], &load, &files].concat());
    loaded.assert_all_answered();
    assert_eq!(loaded.number("counts.due"), 1250);
    assert_eq!(loaded.number("duration_ns"), 2_500_000_000);
    assert_eq!(loaded.at("options.rate_per_second"), 500.0);

    let log = read_by_python(&place.path("a.hlog"));
    for name in ["response", "service", "send_lag"] {
        let (ours, theirs) = (loaded.at(&format!("times.{name}")), &log["tags"][name]);
        assert_eq!(theirs["intervals"], 3, "two seconds and a half");
        assert_eq!(theirs["count"], ours["count"], "{name}");
        assert_eq!(theirs["max_ns"], ours["max_ns"], "{name}");
        for (index, quantile) in ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns"].iter().enumerate() {
            assert_eq!(theirs["quantiles_ns"][index], ours[*quantile], "{name} {quantile}");
        }
    }

    let hgrm = std::fs::read_to_string(place.path("a.hgrm")).expect("a file");
    let median = hgrm
        .lines()
        .skip(2)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|row| row.len() == 4 && row[1].parse::<f64>().is_ok_and(|quantile| quantile >= 0.5));
    let median_ms: f64 = median.expect("a median")[0].parse().expect("a number");
    assert_eq!((median_ms * 1e6).round() as u64, loaded.number("times.response.p50_ns"));
    assert!(hgrm.contains("Total count    =         1250]"), "{hgrm}");

    let csv = std::fs::read_to_string(place.path("a.csv")).expect("a file");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + 3, "{csv}");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    let column = |name: &str| {
        let at = rows[0].iter().position(|head| *head == name).expect("a column");
        rows[1..].iter().map(move |row| row[at].parse::<f64>().expect("a number")).collect::<Vec<_>>()
    };
    assert_eq!(column("length_s"), [1.0, 1.0, 0.5]);
    for (name, total) in [("due", "due"), ("sent", "sent"), ("answered", "answered"), ("errors", "errors")] {
        let sum: f64 = column(name).iter().sum();
        assert_eq!(sum as u64, loaded.number(&format!("counts.{total}")), "{name}: {csv}");
    }
    let slowest = column("response_max_us").into_iter().fold(0.0, f64::max);
    assert_eq!((slowest * 1e3).round() as u64, loaded.number("times.response.max_ns"));

    assert!(
        loaded.ended.stdout.contains("1,250 sent · 1,250 answered · 0 errors"),
        "{}",
        loaded.ended.stdout
    );
}

#[test]
fn a_histogram_in_the_json_is_whole() {
    use hdrhistogram::serialization::Deserializer;
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let loaded = Loaded::run(&place, &[&nginx.url("/"), "-R200", "-d1"]);
    let text = loaded.at("times.response.hdrhistogram_v2_base64").as_str().expect("text");
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).expect("base64");
    let times: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram");
    assert_eq!(times.len(), 200);
    assert_eq!(times.value_at_quantile(0.99), loaded.number("times.response.p99_ns"));
    let result: LoadResult = serde_json::from_value(loaded.json).expect("a result of the model");
    assert_eq!(result.schema, "loadline.load/1");
    assert_eq!(result.times.response.as_deref(), Some(&times));
}

#[test]
fn standard_output_can_be_taken_by_any_one_of_them() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    for (flag, beginning) in [
        ("--json", "{"),
        ("--csv", "second,length_s,due,"),
        ("--hgrm", "       Value     Percentile"),
        ("--hlog", "#[Histogram log format version 1.3]"),
    ] {
        let ended = place.run(["load", &url, "-R100", "-d1", flag, "-"]);
        ended.assert_measured();
        assert!(ended.stdout.starts_with(beginning), "{flag}: {}", ended.stdout);
        assert!(!ended.stdout.contains("100/s uniform,"), "{flag} leaves the table out");
    }
}

#[test]
fn a_load_is_written_as_markdown_instead_of_the_table() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    let ended = place.run(["load", &url, "-R100", "-d1", "--markdown", "-"]);
    ended.assert_measured();
    assert!(ended.stdout.starts_with(&format!("## {url}\n")), "{}", ended.stdout);
    assert!(ended.stdout.contains("\n| response | "), "{}", ended.stdout);
    assert!(ended.stdout.contains("100 sent · 100 answered · 0 errors"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("\n  response "), "{}", ended.stdout);
}

#[test]
fn an_interrupted_load_is_shown_as_far_as_it_came() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let (url, json) = (nginx.url("/"), place.path("a.json"));
    let arguments = ["load", &url, "-R200", "-d60", "--csv", "a.csv", "--json", json.to_str().expect("text")];
    let started = place.start(arguments);
    support::wait_for("a second", || {
        let csv = std::fs::read_to_string(place.path("a.csv")).unwrap_or_default();
        (csv.lines().count() >= 2).then_some(())
    });
    started.send(rustix::process::Signal::INT);
    let ended = started.wait();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stdout.contains("interrupted after"), "{}", ended.stdout);
    let json = read(&json);
    assert_eq!(json["interrupted"], true);
    let (answered, seconds) = (json["counts"]["answered"].as_u64(), json["duration_ns"].as_u64());
    assert!(answered.is_some_and(|count| (150..12_000).contains(&count)), "{answered:?}");
    assert!(seconds.is_some_and(|ns| (1_000_000_000..60_000_000_000).contains(&ns)), "{seconds:?}");
}
