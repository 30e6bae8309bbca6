//! `loadline try`: each request once, shown with what came back. Nothing is measured, kept or left behind.

use serde_json::Value;

use crate::support::nginx::Nginx;
use crate::support::place::Place;
use crate::support::programs::Served;
use crate::support::{leftovers, wait_for};

#[test]
fn each_service_on_each_platform_is_asked_once() {
    let place = Place::shared();
    let run =
        place.start(["try", "--on", "host", "--on", "pod", "--request", "/api/orders", "-H", "X-Test: a"]);
    let label = wait_for("a run to be registered", || run.registered());
    let ended = run.wait();

    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in [
        "orders on host: 200 after ",
        "orders on pod: 200 after ",
        "> GET /api/orders HTTP/1.1",
        "> X-Test: a",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    assert!(
        ended.stdout.contains("\n< HTTP/1.1 200 OK\n") && ended.stdout.contains("\n\n[{\"id\":1,"),
        "{}",
        ended.stdout
    );
    assert!(!place.path("loadline.db").exists(), "nothing is stored");
    leftovers::assert_none(&label);
}

#[test]
fn an_unexpected_response_is_shown_as_one() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("");
    let ended = place.run(["try", "--on", &url, "--request", "/orders", "--request", "/missing"]);

    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("404 after ")
            && ended.stdout.contains(": the status 404 is not what is expected\n"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("\n< HTTP/1.1 404 Not Found\n"), "{}", ended.stdout);
    // What was sent is what a run would send.
    let noted = nginx.noted(2);
    assert!(noted.iter().any(|request| request.uri == "/missing"), "{}", noted.len());
}

#[test]
fn http2_is_shown_as_fields_over_tls_as_in_clear_text() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let job = ["try", "--http2", "--request", "POST /", "--body", "a body", "--on"];
    let tls = format!("https://127.0.0.1:{}", nginx.port_tls);
    let plain = format!("http://127.0.0.1:{}", nginx.port_http2);
    for on in [vec![tls.as_str(), "--insecure"], vec![plain.as_str()]] {
        let ended = place.run(job.into_iter().chain(on));
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
        for line in
            ["> :method: POST\n", "> content-length: 6\n", "\n\na body\n", "< :status: 200\n", "\n\nhello\n"]
        {
            assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
        }
    }
}

#[test]
fn it_is_json_for_programs() {
    let place = Place::new();
    let served = Served::start(&["orders"]);
    let url = served.url("");
    let ended = place.run([
        "try",
        "--on",
        &url,
        "--request",
        "/api/orders",
        "--expect",
        "body~no such text",
        "--json",
    ]);

    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let tried: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let request = &tried[0]["requests"][0];
    assert_eq!(
        (&request["status"], &request["problem"]),
        (&Value::from(200), &Value::from("the body is not as expected"))
    );
    assert!(
        request["sent"].as_str().is_some_and(|sent| sent.starts_with("GET /api/orders HTTP/1.1\r\n")),
        "{request}"
    );
    assert!(
        request["received"].as_str().is_some_and(|received| received.contains("\r\n\r\n[{\"id\":1,")),
        "{request}"
    );
    assert!(request["took_ns"].as_u64().is_some_and(|took| took > 0), "{request}");
}

#[test]
fn a_service_that_does_not_come_up_is_an_error_as_in_a_run() {
    let place = Place::new();
    let ended = place.run(["try", "--on", "http://127.0.0.1:9"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("not ready within 2s"), "{}", ended.stderr);
}
