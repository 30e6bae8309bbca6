//! What the server does beside a run that is measured.

use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::made_up::{PATIENCE, Server};

/// Says everywhere with which policy it runs, which is that of the shell.
const SAYS_ITS_POLICY: &str = r#"{"yaml": "cut -d ' ' -f 41 /proc/self/stat | tee /dev/stderr"}"#;
const GOES_ON: &str = r#"{"yaml": "exec sleep 1000"}"#;
/// SCHED_OTHER (linux/sched.h).
const USUAL: &str = "0";
/// SCHED_IDLE.
const GIVES_WAY: &str = "5";

/// Waits until what is known of a job contains this.
fn wait_for(server: &Server, job: u32, text: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let known = server.ask(&format!("GET /api/jobs/{job}"), "");
        if known.contains(text) {
            return;
        }
        assert!(Instant::now() < deadline, "waited in vain for {text}: {known}");
        sleep(Duration::from_millis(5));
    }
}

fn policy_of_pages(server: &Server) -> String {
    let history = server.ask("GET /api/history?metric=policy", "");
    let history: serde_json::Value = serde_json::from_str(&history).expect("JSON");
    history["metric"].as_str().expect("a policy").to_owned()
}

#[test]
fn pages_give_way_to_a_run_but_no_run_and_no_request_that_is_tried_out_does() {
    let server = Server::start();
    assert_eq!(policy_of_pages(&server), USUAL);
    server.ask("POST /api/jobs", GOES_ON);
    wait_for(&server, 1, r#""state":"running""#);
    assert_eq!(policy_of_pages(&server), GIVES_WAY);
    server.ask("POST /api/jobs/1/stop", "");
    wait_for(&server, 1, r#""state":"ended""#);
    assert_eq!(policy_of_pages(&server), USUAL);

    server.ask("POST /api/jobs", SAYS_ITS_POLICY);
    wait_for(&server, 2, &format!(r#""said":"{USUAL}""#));
    assert_eq!(server.ask("POST /api/tries", SAYS_ITS_POLICY), format!("{USUAL}\n{USUAL}"));
}

#[test]
fn no_platform_is_asked_while_a_run_is_measured() {
    let server = Server::start();
    let asked = |server: &Server| {
        server.ask("GET /api/platforms", "");
        server.told.recv_timeout(PATIENCE).expect("it is asked for")
    };
    assert_eq!(asked(&server), "platforms are asked");
    server.ask("POST /api/jobs", GOES_ON);
    wait_for(&server, 1, r#""state":"running""#);
    assert_eq!(asked(&server), "platforms are remembered");
    server.ask("POST /api/jobs/1/stop", "");
    wait_for(&server, 1, r#""state":"ended""#);
    assert_eq!(asked(&server), "platforms are asked");
}

#[test]
fn what_others_measure_is_disturbed_as_little() {
    let server = Server::start();
    server.others.store(true, Ordering::Relaxed);
    assert_eq!(policy_of_pages(&server), GIVES_WAY);
    server.ask("GET /api/platforms", "");
    assert_eq!(server.told.recv_timeout(PATIENCE).expect("it is asked for"), "platforms are remembered");
    let refused = server.ask("POST /api/tries", SAYS_ITS_POLICY);
    assert!(refused.contains("a run is being measured"), "{refused}");
}

#[test]
fn a_run_that_hangs_ends_at_once_only_when_that_is_asked_for() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let wait_for_file = |name: &str| {
        let deadline = Instant::now() + PATIENCE;
        while !folder.path().join(name).exists() {
            assert!(Instant::now() < deadline, "waited in vain for {name}");
            sleep(Duration::from_millis(5));
        }
    };
    let hangs = format!(
        "cd {}; trap 'test -e seen && exit 7; touch seen' INT; touch ready; while :; do sleep 0.05; date +%N > turns; done",
        folder.path().display()
    );
    server.ask("POST /api/jobs", &serde_json::json!({ "yaml": hangs }).to_string());
    wait_for_file("ready");
    server.ask("POST /api/jobs/1/stop", "");
    wait_for_file("seen");
    wait_for(&server, 1, r#""state":"stopping""#);
    // A double click, or another window: it goes on, for two turns at least.
    server.ask("POST /api/jobs/1/stop", "");
    for _ in 0..2 {
        let _ = std::fs::remove_file(folder.path().join("turns"));
        wait_for_file("turns");
    }
    wait_for(&server, 1, r#""state":"stopping""#);
    server.ask("POST /api/jobs/1/stop?at_once=true", "");
    wait_for(&server, 1, r#""code":7"#);
}
