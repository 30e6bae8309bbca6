//! What `loadline load` sends and when, as nginx notes it down, and what it makes of the answers.

use crate::support::loaded::Loaded;
use crate::support::nginx::Nginx;
use crate::support::place::Place;

const SHORT: [&str; 4] = ["--rate", "200/s", "--for", "500ms"];
const SENT: usize = 100;

fn with<'a>(first: &[&'a str]) -> Vec<&'a str> {
    [first, &SHORT].concat()
}

#[test]
fn method_headers_and_body_are_sent_as_given() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    place.write("body.json", "{\"orders\": 12}");
    let headers = ["-H", "X-Test: a: b", "-H", "Host: shop.test", "-H", "Connection: keep-alive"];
    let arguments = with(&["-X", "PUT", "--body-file", "body.json"]);
    let loaded = Loaded::run(&place, &[&[nginx.url("/a?b=c").as_str()][..], &arguments, &headers].concat());
    loaded.assert_all_answered();
    let request = &nginx.noted(SENT)[0];
    assert_eq!((request.method.as_str(), request.uri.as_str()), ("PUT", "/a?b=c"));
    assert_eq!((request.x_test.as_str(), request.host.as_str()), ("a: b", "shop.test"));
    assert_eq!(request.content_length, "14");

    // A body alone makes a POST, as for curl.
    Loaded::run(&place, &with(&[&nginx.url("/"), "--body", "x=1"])).assert_all_answered();
    let request = &nginx.noted(2 * SENT)[SENT];
    assert_eq!((request.method.as_str(), request.content_length.as_str()), ("POST", "3"));
}

#[test]
fn a_mix_keeps_its_weights() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("");
    let mix = ["--request", "4 /often", "--request", "POST /rarely", "--body", "x"];
    let arguments = ["--rate", "2000/s", "--for", "1s"];
    let loaded = Loaded::run(&place, &[&[url.as_str()][..], &mix, &arguments].concat());
    loaded.assert_all_answered();
    let noted = nginx.noted(2000);
    let rarely = noted.iter().filter(|request| request.uri == "/rarely").count();
    // A fifth of 2,000, whose standard deviation is 18; five of them.
    assert!((310..=490).contains(&rarely), "{rarely}");
    assert!(noted.iter().all(|request| match request.uri.as_str() {
        "/often" => request.method == "GET" && request.content_length.is_empty(),
        _ => request.method == "POST" && request.content_length == "1",
    }));
}

#[test]
fn a_feed_fills_in_its_rows_one_after_the_other() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    place.write("users.csv", "id,name\n1,ann\n2,\"b, c\"\n3,dora\n");
    let url = nginx.url("/users/{{id}}?q={{id}}");
    let arguments = with(&[&url, "--feed", "users.csv", "-H", "X-Test: {{name}}", "-c1"]);
    Loaded::run(&place, &arguments).assert_all_answered();
    let noted = nginx.noted(SENT);
    for (index, request) in noted.iter().enumerate() {
        let (id, name) = [("1", "ann"), ("2", "b, c"), ("3", "dora")][index % 3];
        assert_eq!((request.uri.clone(), request.x_test.as_str()), (format!("/users/{id}?q={id}"), name));
    }
}

#[test]
fn a_response_that_is_not_as_expected_is_an_error() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let (typed, missing) = (nginx.url("/typed"), nginx.url("/missing"));
    for fine in [
        with(&[&typed, "--expect", "header:content-type~text/plain", "--expect", "body~orders"]),
        with(&[&missing, "--expect", "status=404"]),
    ] {
        Loaded::run(&place, &fine).assert_all_answered();
    }
    for (arguments, kind, words) in [
        (with(&[&missing]), "GET /missing: 404", "GET /missing: 100 × 404"),
        (with(&[&typed, "--expect", "status=201"]), "GET /typed: 200", "GET /typed: 100 × 200"),
        (with(&[&typed, "--expect", "header:x-none"]), "header", "unexpected header"),
        (with(&[&typed, "--expect", "body~invoices"]), "body", "unexpected body"),
    ] {
        let loaded = Loaded::run(&place, &arguments);
        assert_eq!(loaded.number(&format!("errors.{kind}")), SENT as u64, "{arguments:?}");
        assert!(loaded.ended.stdout.contains(words), "{}", loaded.ended.stdout);
        assert_eq!(loaded.ended.code, Some(3), "{arguments:?}");
    }
}

#[test]
fn due_times_are_replayed_from_a_file() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    place.write("times", "# three requests\n0\n0.1\n250ms\n");
    let loaded = Loaded::run(&place, &[&nginx.url("/"), "--replay", "times"]);
    loaded.assert_all_answered();
    assert_eq!(loaded.number("counts.due"), 3);
    assert_eq!(loaded.number("duration_ns"), 250_000_001, "as long as the file says");
    assert!(loaded.ended.stdout.contains("replay of times (3 requests)"), "{}", loaded.ended.stdout);
}

#[test]
fn a_rate_can_rise_and_step() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    // Half of 400/s over one second, and then 100/s for another.
    let loaded = Loaded::run(&place, &[&url, "--rate", "0/s..400/s@1s,100/s@1s", "--csv", "a.csv"]);
    loaded.assert_all_answered();
    assert_eq!(loaded.number("duration_ns"), 2_000_000_000, "as long as its segments");
    assert_eq!(loaded.number("counts.due"), 300);
    let csv = std::fs::read_to_string(place.path("a.csv")).expect("a file");
    let due: Vec<u64> = csv
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(2).and_then(|due| due.parse().ok()).expect("due"))
        .collect();
    assert!(due.len() == 2 && due[0].abs_diff(200) <= 10 && due[1].abs_diff(100) <= 10, "{csv}");
}

#[test]
fn clients_of_a_closed_loop_can_think() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    let loaded = Loaded::run(&place, &[&url, "--think", "50ms:fixed", "-c10", "-d1"]);
    loaded.assert_all_answered();
    // Ten clients with at least 50 ms between two requests, from the first moment on.
    assert!((100..=210).contains(&loaded.number("counts.sent")), "{}", loaded.ended.stdout);
    assert_eq!(loaded.at("options.closed"), true);
}
