//! Servers that run already are compared by their URLs; nothing is started and no right is needed.

use crate::support::BRIEF;
use crate::support::nginx::Nginx;
use crate::support::place::{Place, ended};
use crate::support::programs::Served;
use crate::support::user::OrdinaryUser;

/// Compares two servers of one kind by `loadline`, whose way of starting is the test's.
fn compare(mut loadline: std::process::Command, servers: [&Served; 2]) {
    let urls = servers.map(|server| server.url(""));
    loadline
        .args(["--on", &urls[0], "--on", &urls[1], "--request", "/api/orders", "--json", "-"])
        .args(BRIEF);
    let ended = ended(loadline.output().expect("the program starts"));

    ended.assert_measured();
    let result = ended.result();
    assert_eq!(result.cells.len(), 3, "both, and the first one's twin");
    assert_eq!(result.contrasts.len(), 1);
    assert!(result.cells.iter().all(|cell| cell.answered > 0 && cell.errors.is_empty()));
}

#[test]
fn two_urls_are_compared() {
    let place = Place::new();
    let (one, other) = (Served::start(&["orders"]), Served::start(&["orders"]));
    compare(place.command(["compare"]), [&one, &other]);
}

#[test]
fn requests_are_sent_as_they_are_given() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    place.write("body.json", "{\"orders\": 12}");
    let url = nginx.url("");
    let job = ["compare", "--on", &url, "--rate", "200/s", "-c", "4", "--request", "3 POST /orders"];
    let more =
        ["--request", "/status", "-H", "Host: shop.test", "-H", "X-Test: a: b", "--body-file", "body.json"];
    place.run(job.into_iter().chain(more).chain(BRIEF)).assert_measured();

    let noted = nginx.noted(100);
    // The first of all asks whether it is ready.
    let sent: Vec<_> = noted.iter().filter(|request| request.x_test == "a: b").collect();
    assert!(sent.len() > 100 && sent.iter().all(|request| request.host == "shop.test"));
    let posted = sent.iter().filter(|request| request.uri == "/orders").count();
    assert!(posted > sent.len() / 2 && posted < sent.len(), "{posted} of {}", sent.len());
    assert!(sent.iter().all(|request| match request.uri.as_str() {
        "/orders" => request.method == "POST" && request.content_length == "14",
        _ => request.method == "GET" && request.content_length.is_empty(),
    }));
}

#[test]
fn a_url_where_nothing_listens_is_an_error_at_once() {
    let place = Place::new();
    let begun = std::time::Instant::now();
    // Port 9 is that of the discard protocol (RFC 863), which nobody runs.
    let ended = place.run(["compare", "--on", "http://127.0.0.1:9"]);

    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("not ready within 2s"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("start it first: loadline does not start what has a URL"),
        "{}",
        ended.stderr
    );
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn an_ordinary_user_compares_two_urls() {
    let place = Place::new();
    let user = OrdinaryUser::at(&place);
    let (one, other) = (Served::start(&["orders"]), Served::start(&["orders"]));
    compare(user.command(["compare"]), [&one, &other]);
}
