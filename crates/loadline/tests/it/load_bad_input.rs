//! What `loadline load` can't do as it was asked is refused with exit code 2, its flag and a way out, before anything is measured.

use std::net::TcpListener;
use std::process::Command;

use crate::support;
use crate::support::place::{Place, ended};

/// Runs a load that can't be; returns what was said of it.
fn refused(place: &Place, arguments: &[&str]) -> String {
    let ended = place.run(["load"].into_iter().chain(arguments.iter().copied()));
    assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
    ended.stderr
}

#[test]
fn bad_loads_are_refused_with_a_way_out() {
    let place = Place::new();
    // Were anything sent, this would take it and the test would never end.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    place.write("ragged.csv", "id,name\n1\n");
    place.write("times", "1\n0.5\n");
    place.write("nothing.pem", "");
    let lines: [&[&str]; 46] = [
        &[],
        &["URL", "--rate", "1000"],
        &["URL", "--rate", "0/s"],
        &["URL", "--rate", "1000/s..5000/s@30"],
        &["URL", "--rate", "1/s", "--closed"],
        &["URL", "-R", "fast"],
        &["URL", "-R1", "--rate", "1/s"],
        &["URL", "--rate", "1/s", "--arrivals", "random"],
        &["URL", "--arrivals", "poisson"],
        &["URL", "--think", "100"],
        &["URL", "--think", "1s:sometimes"],
        &["URL", "--replay", "nowhere"],
        &["URL", "--replay", "times"],
        &["URL", "--for", "30"],
        &["URL", "-d", "soon"],
        &["URL", "-d", "1s", "--for", "1s"],
        &["URL", "--seed", "-1"],
        &["URL", "-c", "0"],
        &["URL", "-t", "4", "-c", "2"],
        &["URL", "--cpus", "0-"],
        &["URL", "--cpus", "one"],
        &["URL", "--requests-per-connection", "0"],
        &["URL", "--streams", "none"],
        &["URL", "--unix", "nowhere.sock"],
        &["URL", "--unix", "times"],
        &["URL", "--source", "here"],
        &["URL", "--source", "192.0.2.1"],
        &["URL", "--source", "::1"],
        &["URL", "--interface", "nope0"],
        &["URL", "--resolve", "never"],
        &["URL", "--netns", "nowhere"],
        &["URL", "--netns", "./times"],
        &["URL", "-X", "get"],
        &["URL", "-H", "X-Test"],
        &["URL", "-H", "Content-Length: 3"],
        &["URL", "--body-file", "nowhere"],
        &["URL/a", "--request", "/b"],
        &["URL", "--request", "0 GET /", "--request", "POST"],
        &["URL/{{id}}"],
        &["URL/{{id}}", "--feed", "ragged.csv"],
        &["URL", "--expect", "200"],
        &["URL", "--timeout", "0"],
        &["URL", "--ca", "nothing.pem"],
        &["HTTPS", "--ca", "nothing.pem"],
        &["URL", "--timestamps", "server"],
        &["URL", "--json", "nowhere/a.json", "--format", "wrk"],
    ];
    let said: Vec<String> = lines
        .iter()
        .map(|line| {
            let https = url.replace("http", "https");
            let real: Vec<String> =
                line.iter().map(|word| word.replace("URL", &url).replace("HTTPS", &https)).collect();
            let real: Vec<&str> = real.iter().map(String::as_str).collect();
            let shown = refused(&place, &real).replace(&url, "URL").replace(&https, "HTTPS");
            // Underlines are as long as the port has digits.
            let shown = shown.lines().map(shorten).collect::<Vec<_>>().join("\n");
            format!("$ loadline load {}\n{}", line.join(" "), shown.trim_end())
        })
        .collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

/// A line of carets alone, as one caret.
fn shorten(line: &str) -> String {
    let carets = line.trim_start_matches([' ', '|']);
    if !carets.is_empty() && carets.chars().all(|c| c == '^') {
        return line.trim_end_matches('^').to_owned() + "^";
    }
    line.to_owned()
}

#[test]
fn names_and_addresses_that_are_nowhere_are_refused() {
    let place = Place::new();
    for (url, said) in [
        ("http://no-such-host.invalid/", "has no address"),
        ("127.0.0.1:80/", "write http://127.0.0.1:80/"),
        ("ftp://127.0.0.1/", "is not a supported scheme"),
        ("http://127.0.0.1:0/", "port 0"),
        ("http://me:secret@127.0.0.1/", "user name"),
        ("http://127.0.0.1/a b", "percent-encode"),
        ("http:///path", "no host"),
    ] {
        let error = refused(&place, &[url, "--rate", "1/s"]);
        assert!(error.contains(said), "{url}: {error}");
    }
}

#[test]
fn cpus_that_are_not_there_are_refused_and_those_named_that_are() {
    let place = Place::new();
    let error = refused(&place, &["http://127.0.0.1:1/", "--cpus", "0,9999"]);
    assert!(
        error.contains("this machine has no CPU 9999") && error.contains("this process may use 0"),
        "{error}"
    );
}

#[test]
fn more_connections_than_files_may_be_open_are_refused_before_the_first() {
    let _place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let output = Command::new("prlimit")
        .args(["--nofile=256:256", support::PROGRAM, "load", &url, "--connections", "1000"])
        .output()
        .expect("prlimit");
    let ended = ended(output);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("ulimit -Hn"), "{}", ended.stderr);
}

#[test]
fn two_outputs_cannot_share_standard_output() {
    let place = Place::new();
    let error = refused(&place, &["http://127.0.0.1:1/", "--json", "-", "--csv", "-"]);
    assert!(error.contains("only one output can go to standard output"), "{error}");
}

#[test]
fn several_mistakes_are_told_at_once() {
    let place = Place::new();
    let error = refused(&place, &["http://127.0.0.1:1/", "--rate", "5", "--timeout", "x", "--expect", "y"]);
    assert_eq!(error.matches("error: ").count(), 3, "{error}");
}
