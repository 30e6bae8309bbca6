//! What can't be run is refused by the program with exit code 2, its place and a way out, and nothing is started. The spec has
//! the full list of mistakes in its own tests; these are one of each sort, as typed.

use crate::support::place::Place;

/// Runs a command line that can't be run; returns what was said of it.
fn refused(place: &Place, arguments: &[&str]) -> String {
    let ended = place.run(arguments.iter().copied());
    assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert!(!place.path("loadline.db").exists(), "{arguments:?} made a store");
    assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
    ended.stderr
}

#[test]
fn bad_command_lines_are_refused_with_a_way_out() {
    let place = Place::new();
    let lines: [&[&str]; 13] = [
        &[],
        &["compair"],
        &["compare", "--rte", "100/s"],
        &["compare", "--rate", "1000"],
        &["compare", "--rate", "0/s"],
        &["compare", "--on", "hots"],
        &["compare", "--service", "oders"],
        &["compare", "--service", "orders --delay 5"],
        &["compare", "--command", "no-such-server {port}"],
        &["compare", "--command", "python3 -m http.server {prot}"],
        &["compare", "--service-cpus", "0", "--load-cpus", "0"],
        &["compare", "--on", "host", "--on", "ftp://example.com"],
        &["load", "http://127.0.0.1:1/", "--rate", "5"],
    ];
    let said: Vec<String> = lines
        .iter()
        .map(|line| format!("$ loadline {}\n{}", line.join(" "), refused(&place, line).trim_end()))
        .collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn a_cpu_that_is_not_there_is_refused_and_those_that_are_named() {
    let place = Place::new();
    let said = refused(&place, &["compare", "--service-cpus", "9999"]);
    assert!(said.contains("this machine has no CPU 9999"), "{said}");
    assert!(said.contains("this process may use 0"), "{said}");
}

#[test]
fn bad_files_are_refused_with_their_place() {
    let place = Place::new();
    let files = [
        ("unknown-key.yaml", "service: {builtin: orders}\nplatforms: [host]\nload: [{rate: 100/s}]\n"),
        ("bare-rate.yaml", "service: {builtin: orders}\nplatforms: [host, pod]\nloads:\n  - {rate: 1000}\n"),
        ("no-platforms.yaml", "service: {builtin: orders}\nplatforms: []\nloads: [{rate: 100/s}]\n"),
        ("tab.yaml", "service:\n\tbuiltin: orders\n"),
        ("twice.yaml", "service: {builtin: orders}\nplatforms: [host, host]\nloads: [{rate: 100/s}]\n"),
        ("empty.yaml", ""),
    ];
    let mut said = Vec::new();
    for (name, text) in files {
        place.write(name, text);
        said.push(format!("$ loadline run {name}\n{}", refused(&place, &["run", name]).trim_end()));
    }
    said.push(format!(
        "$ loadline run nowhere.yaml\n{}",
        refused(&place, &["run", "nowhere.yaml"]).trim_end()
    ));
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn searches_that_could_find_nothing_are_refused() {
    let place = Place::new();
    let search = ["capacity", "--service", "orders", "--on", "host"];
    let objectives: [&[&str]; 6] = [
        &["p99 <= 50ms", "p99 >= 60ms"],
        &["p99 <= 1ms", "p50 >= 5ms"],
        &["p99 <= 50/s"],
        &["rate.achieved >= 5ms"],
        &["memory.peak <= 50ms"],
        &["p99 < 50ms"],
    ];
    let mut said: Vec<String> = Vec::new();
    for objectives in objectives {
        let given = objectives.iter().flat_map(|objective| ["--objective", objective]);
        let line: Vec<&str> = search.into_iter().chain(given).collect();
        said.push(format!("$ loadline {}\n{}", line.join(" "), refused(&place, &line).trim_end()));
    }
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn a_precision_that_its_time_does_not_allow_is_refused_with_the_time_it_takes() {
    let place = Place::new();
    let said = refused(
        &place,
        &["capacity", "--service", "orders", "--on", "host", "--precision", "0.5%", "--within", "20s"],
    );
    assert!(said.contains("within") && said.contains("precision"), "{said}");
}

#[test]
fn ten_thousand_cells_are_refused_with_the_time_they_take() {
    let place = Place::new();
    let cpus: Vec<String> =
        (1..=100).map(|hundredths| format!("{:.2}", f64::from(hundredths) / 100.0)).collect();
    let rates: Vec<String> = (1..=100).map(|rate| format!("{rate}/s")).collect();
    let file = format!(
        "service: {{builtin: orders}}\nplatforms: [{{host: , matrix: {{limits.cpu: [{}]}}}}]\nloads: [{{matrix: {{rate: [{}]}}}}]\n",
        cpus.join(", "),
        rates.join(", ")
    );
    place.write("matrix.yaml", &file);
    let said = refused(&place, &["run", "matrix.yaml"]);
    assert!(said.contains("10000 cells") || said.contains("10,000 cells"), "{said}");
}

#[test]
fn a_report_without_a_store_names_the_way_to_one() {
    let place = Place::new();
    let ended = place.run(["report"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(!place.path("loadline.db").exists(), "looking for a store made one");
    insta::assert_snapshot!(ended.stderr.trim_end());
}
