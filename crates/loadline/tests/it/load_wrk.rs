//! `loadline load` in the place of wrk and wrk2: their flags are taken, and what is printed reads like theirs.

use std::process::Command;

use crate::support::nginx::Nginx;
use crate::support::place::{Ended, Place};
use crate::support::undisturbed::undisturbed;

/// A line without its figures: numbers become N, and the unit behind one U, so that what is left is what a script looks for.
fn skeleton(line: &str) -> String {
    let mut shape = String::new();
    let mut chars = line.chars().peekable();
    while let Some(next) = chars.next() {
        if !next.is_ascii_digit() {
            shape.push(next);
            continue;
        }
        while chars.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
        let mut unit = String::new();
        while let Some(letter) = chars.next_if(char::is_ascii_alphabetic) {
            unit.push(letter);
        }
        shape.push('N');
        // A size ends with its B, whatever the prefix.
        shape.push_str(if unit.ends_with('B') { "B" } else { "" });
    }
    shape.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn skeletons(output: &str) -> Vec<String> {
    // wrk prints this line when there were some, which is up to the machine.
    output.lines().filter(|line| !line.contains("Socket errors")).map(skeleton).collect()
}

/// The second word of the line that begins with `key`, as scripts take it with `awk`.
fn second_word<'a>(output: &'a str, key: &str) -> &'a str {
    let line = output
        .lines()
        .find(|line| line.trim_start().starts_with(key))
        .unwrap_or_else(|| panic!("no {key} in\n{output}"));
    line.split_whitespace().nth(1).expect("two words")
}

/// µs of a time as wrk writes it.
fn microseconds(text: &str) -> f64 {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        other => panic!("no unit: {other} in {text}"),
    };
    digits.parse::<f64>().expect("a number") * unit
}

fn wrk(arguments: &[&str]) -> String {
    let output = Command::new("wrk")
        .args(arguments)
        .output()
        .expect("wrk starts: tests/install-tools wrk installs it");
    String::from_utf8(output.stdout).expect("text")
}

fn loadline(place: &Place, arguments: &[&str]) -> Ended {
    let ended = place.run(["load", "--format", "wrk"].into_iter().chain(arguments.iter().copied()));
    ended.assert_measured();
    // As wrk does, whatever a shared machine did to the generator.
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended
}

#[test]
fn what_is_printed_has_the_lines_of_wrk() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    for flags in [
        &["-t1", "-c32", "-d1s"][..],
        &["-t", "2", "-c", "8", "-d", "1", "--latency"],
        &[
            "--threads",
            "1",
            "--connections",
            "4",
            "--duration",
            "1s",
            "-L",
            "--timeout",
            "2s",
            "-H",
            "X-Test: a",
        ],
    ] {
        let arguments = [flags, &[&url]].concat();
        let (theirs, ours) = (wrk(&arguments), loadline(&place, &arguments).stdout);
        assert_eq!(skeletons(&ours), skeletons(&theirs), "{flags:?}\n{ours}\n{theirs}");
        assert_eq!(ours.lines().nth(1), theirs.lines().nth(1), "threads and connections");
        assert_eq!(ours.lines().nth(2), theirs.lines().nth(2), "the head of the table");
    }
}

#[test]
fn failed_responses_are_counted_as_wrk_counts_them() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    for (path, fails) in [("/missing", true), ("/moved", false)] {
        let arguments = ["-t1", "-c4", "-d1s", &nginx.url(path)];
        let (theirs, ours) = (wrk(&arguments), loadline(&place, &arguments).stdout);
        assert_eq!(skeletons(&ours), skeletons(&theirs), "{ours}\n{theirs}");
        assert_eq!(ours.contains("Non-2xx or 3xx responses: "), fails, "{ours}");
    }
}

#[test]
fn scripts_that_read_wrk_read_this() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let output = loadline(&place, &["-t1", "-c8", "-d2s", "--latency", &nginx.url("/")]).stdout;

    let rate: f64 = second_word(&output, "Requests/sec").parse().expect("a number");
    let requests: f64 = output
        .lines()
        .find(|line| line.contains("requests in"))
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .expect("a number");
    assert!(rate > 0.0 && (requests / 2.0 - rate).abs() <= 0.01 * rate, "{output}");
    assert!(second_word(&output, "Transfer/sec").ends_with('B'), "{output}");
    let mean = microseconds(second_word(&output, "Latency  "));
    let quantiles = ["50%", "75%", "90%", "99%"].map(|percent| microseconds(second_word(&output, percent)));
    assert!(mean > 0.0 && quantiles.is_sorted(), "{output}");
    // Little's law: eight connections are always busy with a request of theirs.
    assert!((mean / 1e6 * rate / 8.0 - 1.0).abs() < 0.25, "{output}");
}

#[test]
fn wrk2_s_rate_is_per_second_and_its_spectrum_is_printed() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let output = undisturbed(|| {
        let output = loadline(&place, &["-t1", "-c4", "-d2s", "-R1k", "-U", &nginx.url("/")]).stdout;
        let rate: f64 = second_word(&output, "Requests/sec").parse().expect("a number");
        assert!((rate - 1000.0).abs() <= 50.0, "{output}");
        output
    });
    let titles = ["HdrHistogram - Recorded Latency", "HdrHistogram - Uncorrected Latency"];
    assert!(titles.iter().all(|title| output.contains(title)), "{output}");
    for (percent, table) in [("99.999%", 0), ("100.000%", 1)] {
        assert_eq!(output.matches(percent).count(), 2, "{percent} {table} {output}");
    }
    // The first table: values and counts go up, until the last is all of them.
    let rows: Vec<Vec<f64>> = output
        .lines()
        .skip_while(|line| !line.contains("Detailed Percentile spectrum"))
        .skip(3)
        .take_while(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().map(|word| word.parse().expect("a number")).collect())
        .collect();
    assert!(rows.len() > 20 && rows.iter().all(|row| row.len() == 4), "{output}");
    assert!(rows.is_sorted_by_key(|row| row[0]) && rows.is_sorted_by_key(|row| row[2]), "{output}");
    let last = rows.last().expect("a row");
    assert!(last[1] == 1.0 && last[3] == f64::INFINITY, "{output}");
    assert!(output.contains(&format!("Total count    = {:12}]", last[2])), "{output}");
}

#[test]
fn a_lua_script_is_refused_with_what_takes_its_place() {
    let place = Place::new();
    let ended =
        place.run(["load", "-t1", "-c1", "-d1s", "-s", "post.lua", "http://127.0.0.1:1/", "--", "16"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("Lua scripts are not run"), "{}", ended.stderr);
    for flag in ["--method", "--body", "--request", "--feed", "--expect", "--think"] {
        assert!(ended.stderr.contains(flag), "{flag}: {}", ended.stderr);
    }
}
