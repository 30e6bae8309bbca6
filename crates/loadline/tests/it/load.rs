//! `loadline load`: the engine alone, and what it says of a server that stalls.

use crate::support::place::Place;
use crate::support::programs::Served;

/// Nanoseconds of the times in a row of the table: p50, p90, p99, p99.9, max.
fn times(stdout: &str, row: &str) -> Vec<f64> {
    let line = stdout.lines().find(|line| line.trim_start().starts_with(row));
    let line = line.unwrap_or_else(|| panic!("no {row} in\n{stdout}")).trim_start();
    let words: Vec<&str> = line[row.len()..].split_whitespace().collect();
    let time = |pair: &[&str]| {
        let unit = match pair[1] {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            other => panic!("no unit: {other} in {line}"),
        };
        pair[0].parse::<f64>().expect("a number") * unit
    };
    words.chunks_exact(2).take(5).map(time).collect()
}

#[test]
fn a_stall_shows_in_response_time_as_arithmetic_predicts_and_not_in_service_time() {
    let place = Place::alone();
    let server = Served::start(&["hello", "--stall", "1s/10s"]);
    let url = server.url("/hello/1");
    // Ten seconds hold exactly one stall, wherever they begin.
    let ended = place.run(["load", &url, "--rate", "1000/s", "--for", "10s", "--connections", "16"]);

    let (response, service) = (times(&ended.stdout, "response"), times(&ended.stdout, "service"));
    // A tenth of the requests are due in the stall and wait for its end: evenly spread from 0 to 1 s. The 99th percentile of all
    // is the 90th of those, the 99.9th their 99th.
    let near = |time: f64, expected_s: f64| (time / 1e9 - expected_s).abs() <= 0.05 * expected_s;
    assert!(near(response[2], 0.9), "{}", ended.stdout);
    assert!(near(response[3], 0.99), "{}", ended.stdout);
    assert!(near(response[4], 1.0), "{}", ended.stdout);
    // Sixteen requests of ten thousand were on the wire: too few for the 99th percentile.
    assert!(service[2] < 0.1e9, "{}", ended.stdout);
    assert!(near(service[4], 1.0), "{}", ended.stdout);
}

#[test]
fn a_closed_loop_is_answered() {
    let place = Place::new();
    let server = Served::start(&["hello"]);
    let url = server.url("/hello/1");
    let ended = place.run(["load", &url, "--closed", "--for", "1s", "--connections", "4"]);
    // Whether the loop was saturated is up to the machine.
    ended.assert_measured();
    assert!(ended.stdout.contains(" 0 errors"), "{}", ended.stdout);
}

#[test]
fn a_server_that_is_not_there_is_an_error_and_no_measurement() {
    let place = Place::new();
    // The port was free a moment ago, and nobody gets it so soon again.
    let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let url = format!("http://{}/", address.expect("a free port"));
    let ended = place.run(["load", &url, "--rate", "10/s", "--for", "1s"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("refused"), "{}", ended.stderr);
}
