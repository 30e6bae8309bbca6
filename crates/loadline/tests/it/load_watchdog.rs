//! The generator under suspicion: when it was the bottleneck, the result says so and the exit code is 3.

use std::process::Command;

use crate::support;
use crate::support::competition::Competition;
use crate::support::nginx::Nginx;
use crate::support::place::{Place, ended};

const SENTENCE: &str = "not to be trusted: the generator was the bottleneck: ";

/// What is said of a loop that always had something to do.
const BUSY: &str = " % busy";

#[test]
fn a_generator_that_got_no_cpu_is_not_to_be_trusted() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let _competition = Competition::on_cpu_0();
    let url = nginx.url("/");
    let starved = place.run(["load", &url, "--rate", "20000/s", "--for", "2s", "--cpus", "0"]);
    assert_eq!(starved.code, Some(3), "{}", starved.stdout);
    assert!(starved.stdout.contains(SENTENCE), "{}", starved.stdout);
    let second = starved.stdout.lines().nth(1).expect("two lines");
    assert!(second.trim_start().starts_with("not to be trusted: "), "it comes first: {}", starved.stdout);

    let json = place.run(["load", &url, "--rate", "20000/s", "--for", "1s", "--cpus", "0", "--json", "-"]);
    assert_eq!(json.code, Some(3), "{}", json.stderr);
    assert!(json.stderr.contains(SENTENCE), "{}", json.stderr);
    assert!(json.stdout.contains("\"trusted\": false"), "{}", json.stdout);
}

#[test]
fn a_saturated_closed_loop_is_not_to_be_trusted_unless_it_stands_in_for_wrk() {
    let place = Place::alone();
    let nginx = Nginx::start_on_last_cpu(&place);
    let _competition = Competition::on_cpu_0();
    let url = nginx.url("/");
    // With next to nothing of a CPU and many connections there is always something to do.
    let run = |more: &[&str]| {
        let load = ["load", &url, "--for", "2s", "--cpus", "0", "--connections", "64"];
        let mut command = Command::new("nice");
        command.args(["-n", "19", support::PROGRAM]).args(load).args(more);
        ended(command.output().expect("nice"))
    };
    let as_table = run(&[]);
    assert_eq!(as_table.code, Some(3), "{}", as_table.stdout);
    assert!(as_table.stdout.contains(SENTENCE) && as_table.stdout.contains(BUSY), "{}", as_table.stdout);

    let as_wrk = run(&["--format", "wrk"]);
    assert!(as_wrk.stderr.contains(SENTENCE), "{}", as_wrk.stderr);
    assert!(!as_wrk.stdout.contains("trusted"), "{}", as_wrk.stdout);
    assert_eq!(as_wrk.code, Some(0), "{}", as_wrk.stderr);
}
