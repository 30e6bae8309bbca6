//! One run in all its outputs: JSON, CSV, Markdown and the table, when it ends and again from the store.

use std::fs::{self, File};
use std::process::Stdio;

use crate::support::BRIEF;
use crate::support::place::{Place, ended};
use crate::support::small_disk::SmallDisk;
use loadline_analysis::result::{RunResult, SCHEMA};
use serde_json::Value;

const SUMMARY_HEADER: &str = "iteration,target,rpm,mean_latency_ms,p99_latency_ms,rps";

#[test]
fn a_run_is_written_in_every_form_and_again_from_the_store() {
    let place = Place::shared();
    let files =
        ["--json", "-", "--csv", "slices.csv", "--csv-summary", "summary.csv", "--markdown", "report.md"];
    let arguments = ["compare", "--on", "host", "--on", "pod"];
    let ended = place.run(arguments.into_iter().chain(BRIEF).chain(files));
    ended.assert_measured();
    // A warm-up of a second is over before its eight cycles are.
    let said = "orders on pod, 2000/s Poisson: not stationary after";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);

    let json: Value = serde_json::from_str(&ended.stdout).expect("standard output is JSON and nothing else");
    assert_eq!(json["schema"], SCHEMA);
    let result: RunResult = serde_json::from_value(json.clone()).expect("the document is a result");
    assert_eq!(serde_json::to_value(&result).expect("JSON"), json, "the model holds all of the document");
    assert_eq!((result.cells.len(), result.contrasts.len(), result.noise.len()), (3, 1, 1));
    assert_eq!(result.slices.len(), 12);
    assert!(result.contrasts[0].rows.iter().any(|row| row.metric == "response.p50"));

    let slices = fs::read_to_string(place.path("slices.csv")).expect("a file");
    assert_eq!(slices.lines().count(), 1 + 12, "a header and a row for each slice");
    let summary = fs::read_to_string(place.path("summary.csv")).expect("a file");
    assert_eq!(summary.lines().next(), Some(SUMMARY_HEADER));
    assert_eq!(summary.lines().count(), 1 + 6, "a header and a row for each cell in each deployment");
    let markdown = fs::read_to_string(place.path("report.md")).expect("a file");
    assert!(markdown.contains("response p50"), "{markdown}");

    let page = place.run(["report", "1", "--html", "run.html"]);
    assert_eq!(page.code, ended.code);
    let page = fs::read_to_string(place.path("run.html")).expect("a file");
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 1_000_000, "{} bytes", page.len());
    for text in ["Is pod slower than host?", "response p50", "\"heat\":"] {
        assert!(page.contains(text), "{text}");
    }

    let again = ["--json", "2.json", "--csv", "2.csv", "--csv-summary", "3.csv", "--markdown", "2.md"];
    let report = place.run(["report", "1"].into_iter().chain(again));
    assert_eq!(report.code, ended.code);
    assert!(report.stdout.contains("response p50"), "files leave the table on standard output");
    let read = |name: &str| fs::read_to_string(place.path(name)).expect("a file");
    let json_again: Value = serde_json::from_str(&read("2.json")).expect("JSON");
    assert_eq!(json_again, json);
    assert_eq!((read("2.csv"), read("3.csv"), read("2.md")), (slices, summary, markdown));

    let list = place.run(["report", "--list"]);
    assert_eq!(list.code, Some(0));
    let subject = " · orders · host against pod ·";
    assert!(list.stdout.starts_with("   1  20") && list.stdout.contains(subject), "{}", list.stdout);
    assert!(list.stdout.contains("\n      Is pod slower than host?"), "{}", list.stdout);
    let other = place.run(["report", "--list", "--match", "docker"]);
    assert_eq!((other.code, other.stdout.as_str()), (Some(0), "no runs about “docker” in loadline.db\n"));
    assert_eq!(place.run(["report", "2"]).code, Some(1), "there is no second run");
}

#[test]
fn a_reader_that_leaves_ends_nothing_and_a_full_disk_is_said() {
    let place = Place::shared();
    let compared = place.run(["compare", "--on", "host", "--on", "pod"].into_iter().chain(BRIEF));
    compared.assert_measured();
    let reports = [
        ["report", "--full"].as_slice(),
        &["report", "--json", "-"],
        &["report", "--csv", "-"],
        &["report", "--list"],
    ];
    for arguments in reports {
        let to = |output: Stdio| {
            ended(place.command(arguments.iter().copied()).stdout(output).output().expect("it starts"))
        };
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let left = to(writer.into());
        let expected = if arguments.contains(&"--list") { Some(0) } else { compared.code };
        assert_eq!((left.code, left.stderr.as_str()), (expected, ""), "{arguments:?}");

        let device = File::options().write(true).open("/dev/full").expect("a device that is always full");
        let full = to(device.into());
        assert_eq!(full.code, Some(1), "{arguments:?}: {}", full.stderr);
        let said = full.stderr.starts_with("error: cannot write") && full.stderr.contains("No space left");
        assert!(said && full.stderr.lines().count() == 1, "{arguments:?}: {}", full.stderr);
    }
    // What can't be said anywhere ends nothing either.
    let device = File::options().write(true).open("/dev/full").expect("a device that is always full");
    let mute = place.command(["report", "17"]).stderr(device).output().expect("it starts");
    assert_eq!(mute.status.code(), Some(1));
}

#[test]
fn the_published_schemas_are_those_of_the_program() {
    let place = Place::new();
    for (which, published) in [
        ("experiment", "experiment.schema.json"),
        ("result", "result.schema.json"),
        ("load", "load.schema.json"),
        ("doctor", "doctor.schema.json"),
        ("history", "history.schema.json"),
        ("api", "openapi.json"),
    ] {
        let path = format!("{}/../../docs/{published}", env!("CARGO_MANIFEST_DIR"));
        let published = fs::read_to_string(&path).expect("a published schema");
        let printed = place.run(["schema", which]).stdout;
        assert!(printed == published, "{path} is out of date: loadline schema {which} writes it");
    }
}

#[test]
fn the_help_reads_as_it_should() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(["--help"]).stdout);
    insta::assert_snapshot!("help_compare", place.run(["compare", "--help"]).stdout);
    insta::assert_snapshot!("help_load", place.run(["load", "--help"]).stdout);
    insta::assert_snapshot!("help_image", place.run(["image", "--help"]).stdout);
}

#[test]
fn shells_and_man_know_the_options() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(["completions", shell]);
        assert_eq!(script.code, Some(0), "{}", script.stderr);
        assert!(script.stdout.contains("fail-if"), "{}", script.stdout);
        if shell == "bash" {
            place.write("completions", &script.stdout);
            let read = std::process::Command::new("bash").arg("-n").arg(place.path("completions")).status();
            assert!(read.expect("bash").success());
        }
    }
    let ended = place.run(["man", "pages"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let page = std::fs::read_to_string(place.path("pages/loadline-compare.1")).expect("a page");
    assert!(page.contains("fail\\-if"), "{page}");
}

#[test]
fn what_was_measured_until_the_stores_disk_was_full_is_shown() {
    let place = Place::shared();
    let disk = SmallDisk::at(place.path("small"), "512k");
    let job =
        ["compare", "--on", "host", "--rate", "500/s", "--store", "small/loadline.db", "--slice", "50ms"];
    let ended = place.run(job.into_iter().chain(["--blocks", "400", "--deployments", "1", "--repeats", "0"]));

    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("error: cannot write small/loadline.db: no space left on its disk"),
        "{}",
        ended.stderr
    );
    for shown in ["response p50", "Kept in small/loadline.db as run 1"] {
        assert!(ended.stdout.contains(shown), "{shown}: {}", ended.stdout);
    }
    // Whether it could still keep how it ended depends on how much space was left.
    assert!(
        ended.stdout.contains("Not finished") || ended.stdout.contains("Failed after"),
        "{}",
        ended.stdout
    );
    let again = place.run(["report", "--store", "small/loadline.db"]);
    assert!(again.stdout.contains("response p50"), "{}{}", again.stdout, again.stderr);
    drop(disk);
}

#[test]
fn each_request_of_a_mix_has_its_own_figures() {
    let place = Place::shared();
    let services = ["compare", "--service", "orders", "--service", "orders --delay 4ms", "--on", "host"];
    let requests = ["--request", "3 GET /api/orders", "--request", "GET /healthz"];
    let outputs = ["--by", "request", "--json", "run.json", "--markdown", "run.md"];
    let ended = place.run(services.into_iter().chain(requests).chain(BRIEF).chain(outputs));
    ended.assert_measured();

    // Of BRIEF's few blocks nothing is claimed, but there are figures.
    assert!(ended.stdout.contains("\nEach request by itself:\n"), "{}", ended.stdout);
    for line in ["GET /api/orders: response p50", "GET /healthz: response p99"] {
        assert!(ended.stdout.contains(line), "{}", ended.stdout);
        let markdown = fs::read_to_string(place.path("run.md")).expect("a file");
        assert!(markdown.contains(line), "{markdown}");
    }
    let json = fs::read_to_string(place.path("run.json")).expect("a file");
    let result: RunResult = serde_json::from_str(&json).expect("a result");
    let [orders, healthz] = &result.contrasts[0].by_request[..] else { panic!("two requests") };
    assert_eq!((orders.request.as_str(), healthz.request.as_str()), ("GET /api/orders", "GET /healthz"));
    // The delay is that of the orders alone.
    assert!(orders.rows[0].difference > 3e6, "{:?}", orders.rows[0]);
    assert!(healthz.rows[0].difference < 3e6, "{:?}", healthz.rows[0]);
    assert!(!place.run(["report"]).stdout.contains("by itself"), "not asked for");
    let spectrum = place.run(["report", "--spectrum"]).stdout;
    for line in ["Response times by quantile", "\n50 %", "\n90 %", "\n100 %"] {
        assert!(spectrum.contains(line), "no {line:?} in {spectrum}");
    }
}

#[test]
fn what_is_said_meanwhile_can_be_left_out_and_colours_can_be_asked_for() {
    let place = Place::shared();
    let compare = ["compare", "--on", "host"];
    let quiet = place.run(compare.into_iter().chain(BRIEF).chain(["--quiet", "--color", "always"]));
    quiet.assert_measured();
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("\u{1b}["), "{}", quiet.stdout);
    let mut again = place.command(["report", "--color", "never"]);
    let again = ended(again.env("LOADLINE_STORE", "loadline.db").output().expect("the program starts"));
    assert!(again.stdout.contains("response p50") && !again.stdout.contains('\u{1b}'), "{}", again.stdout);
    let mut elsewhere = place.command(["report"]);
    let elsewhere = ended(elsewhere.env("LOADLINE_STORE", "other.db").output().expect("the program starts"));
    assert_eq!(elsewhere.code, Some(1), "there is no such store: {}", elsewhere.stdout);
}
