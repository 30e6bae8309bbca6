//! HTTP/1.x against servers that are not ours: nginx, HAProxy, Caddy and Python's http.server. Each test first makes sure that the server
//! does what the test is about.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::servers::caddy::Caddy;
use crate::servers::haproxy::Haproxy;
use crate::servers::nginx::{Nginx, connections};
use crate::servers::python::Python;
use crate::servers::{ask, free_port, local};
use crate::support::{drive, options, options_for};
use loadline_engine::{ErrorKind, Expectation, Options, Record, Request, Reuse};

/// nginx with these lines in a server block, on a free port.
fn nginx(lines: &str, files: &[(&str, &[u8])]) -> (Nginx, SocketAddr) {
    let address = local(free_port());
    (Nginx::start(&format!("server {{ listen {address}; root {{folder}}; {lines} }}"), files), address)
}

/// A request by hand, for which the server closes.
fn by_hand(address: SocketAddr, method: &str, headers: &str) -> String {
    ask(address, &format!("{method} / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{headers}\r\n"))
}

/// 100 requests over 4 connections, each answered.
fn all_are_answered(address: SocketAddr, request: Request) -> Record {
    let record = drive(&options_for(address, 4, &[request]), "200/s", 0.5);
    assert_eq!((record.due, record.answered, record.errors.total()), (100, 100, 0), "{:?}", record.errors);
    assert_eq!(record.unsolicited, 0);
    record
}

const TEXT: &[u8] = &[b'x'; 5000];

#[test]
fn keep_alive_carries_all_requests_over_the_same_connections() {
    let (nginx, address) = nginx("location / { return 200 ok; }", &[]);
    let record = all_are_answered(address, Request::get("/"));
    assert_eq!((connections(&nginx.log(100)), record.reconnects), (4, 0));
}

#[test]
fn chunked_responses_end_with_their_last_chunk() {
    // What is compressed on the way has no length beforehand.
    let numbers = (0..20_000).map(|number: u64| (number * number % 99_991).to_string()).collect::<String>();
    let (_nginx, nginx) = nginx("gzip on; gzip_types *; index text;", &[("text", numbers.as_bytes())]);
    let caddy = Caddy::start(
        "http",
        "encode gzip\n root * {folder}\n file_server",
        &[("index.html", numbers.as_bytes())],
    );
    for address in [nginx, caddy.address] {
        let answer = by_hand(address, "GET", "Accept-Encoding: gzip\r\n");
        assert!(
            answer.contains("\r\nTransfer-Encoding: chunked\r\n"),
            "{}",
            &answer[..200.min(answer.len())]
        );
        let headers = vec![("Accept-Encoding".to_owned(), "gzip".to_owned())];
        let record = all_are_answered(address, Request { headers, ..Request::get("/") });
        assert_eq!(record.reconnects, 0);
    }
}

#[test]
fn a_body_is_checked_however_it_is_framed() {
    // Substituted text has no length beforehand, so that it is sent in chunks.
    let lines = "sub_filter moon sun; sub_filter_types *; index text;";
    let (_nginx, address) = nginx(lines, &[("text", b"the moon rises")]);
    assert!(by_hand(address, "GET", "").contains("\r\nTransfer-Encoding: chunked\r\n"));
    for (expected, failed) in
        [("body=the sun rises", 0), ("body~sun", 0), ("body~moon", 50), ("header:server~nginx", 0)]
    {
        let expectation = Arc::new(Expectation::parse([expected]).unwrap());
        let record = drive(&Options { expectation, ..options(address, 2) }, "200/s", 0.25);
        assert_eq!((record.answered, record.errors.of(ErrorKind::Body)), (50, failed), "{expected}");
        assert_eq!(record.errors.total(), failed, "{expected}: {:?}", record.errors);
    }
}

#[test]
fn responses_to_head_have_no_body_whatever_their_length_says() {
    let (nginx, address) = nginx("index text;", &[("text", TEXT)]);
    let caddy = Caddy::start("http", "root * {folder}\n file_server", &[("index.html", TEXT)]);
    let python = Python::start("HTTP/1.1", &[("index.html", TEXT)]);
    for address in [address, caddy.address, python.address] {
        assert!(by_hand(address, "HEAD", "").to_lowercase().contains("\r\ncontent-length: 5000\r\n"));
        let record = all_are_answered(address, Request { method: "HEAD".into(), ..Request::get("/") });
        assert!(record.received_bytes < 100 * 1000, "{}", record.received_bytes);
        assert_eq!(record.reconnects, 0);
    }
    assert!(nginx.log(101)[1..].iter().all(|request| request.method == "HEAD"));
}

#[test]
fn status_100_before_the_response_is_skipped() {
    let (_nginx, address) = nginx("location / { return 200 ok; }", &[]);
    let expect = "Expect: 100-continue\r\nContent-Length: 2\r\n";
    let answer = ask(address, &format!("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{expect}\r\nhi"));
    assert!(answer.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), "{answer}");
    let headers = vec![("Expect".to_owned(), "100-continue".to_owned())];
    let request = Request { method: "POST".into(), headers, body: b"hi".to_vec(), ..Request::get("/") };
    assert_eq!(all_are_answered(address, request).reconnects, 0);
}

#[test]
fn early_hints_before_the_response_are_skipped() {
    let lines = [
        "http-request early-hint Link </a>",
        "http-request return status 200 content-type text/plain string ok",
    ];
    let haproxy = Haproxy::start("", &lines);
    let answer = by_hand(haproxy.address, "GET", "");
    assert!(
        answer.starts_with("HTTP/1.1 103 Early Hints\r\n") && answer.contains("HTTP/1.1 200 OK"),
        "{answer}"
    );
    assert_eq!(all_are_answered(haproxy.address, Request::get("/")).reconnects, 0);
}

#[test]
fn trailers_belong_to_the_response() {
    let (_nginx, address) = nginx("index text; add_trailer X-Checked yes;", &[("text", TEXT)]);
    let answer = by_hand(address, "GET", "TE: trailers\r\n");
    assert!(answer.ends_with("\r\n0\r\nX-Checked: yes\r\n\r\n"), "{}", &answer[answer.len() - 50..]);
    let headers = vec![("TE".to_owned(), "trailers".to_owned())];
    assert_eq!(all_are_answered(address, Request { headers, ..Request::get("/") }).reconnects, 0);
}

#[test]
fn statuses_without_a_body_leave_the_connection_as_it_was() {
    let (nginx, address) =
        nginx("location = /none { return 204; } location / { if_modified_since before; }", &[("text", TEXT)]);
    let none = all_are_answered(address, Request::get("/none"));
    assert_eq!(none.reconnects, 0);
    let headers = vec![("If-Modified-Since".to_owned(), "Tue, 01 Jan 2030 00:00:00 GMT".to_owned())];
    let unmodified = options_for(address, 4, &[Request { headers, ..Request::get("/text") }]);
    let record = drive(&unmodified, "200/s", 0.5);
    assert_eq!(
        (record.answered, record.errors.of(ErrorKind::Status)),
        (100, 100),
        "304 is no success by default"
    );
    assert_eq!((connections(&nginx.log(200)), record.reconnects), (8, 0));
    let expectation = Arc::new(Expectation::parse(["status=304"]).unwrap());
    assert_eq!(drive(&Options { expectation, ..unmodified }, "200/s", 0.5).errors.total(), 0);
}

#[test]
fn http_1_0_ends_each_response_with_its_connection() {
    let python = Python::start("HTTP/1.0", &[("index.html", TEXT)]);
    assert!(by_hand(python.address, "GET", "").starts_with("HTTP/1.0 200 OK"));
    let record = all_are_answered(python.address, Request::get("/"));
    // The last ones need not have been replaced yet.
    assert!((96..=100).contains(&record.reconnects), "{}", record.reconnects);
}

#[test]
fn connection_close_is_obeyed() {
    let (nginx, address) = nginx("keepalive_timeout 0; location / { return 200 ok; }", &[]);
    assert!(by_hand(address, "GET", "").contains("\r\nConnection: close\r\n"));
    let record = all_are_answered(address, Request::get("/"));
    assert_eq!(connections(&nginx.log(101)), 101);
    assert!((96..=100).contains(&record.reconnects), "{}", record.reconnects);
}

#[test]
fn a_server_that_ends_connections_after_ten_requests_costs_no_error() {
    let (nginx, address) = nginx("keepalive_requests 10; location / { return 200 ok; }", &[]);
    let record = all_are_answered(address, Request::get("/"));
    let log = nginx.log(100);
    assert_eq!(log.iter().map(|request| request.of_connection).max(), Some(10));
    assert!((10..=14).contains(&connections(&log)), "{}", connections(&log));
    assert!(record.reconnects >= connections(&log) - 4);
}

#[test]
fn without_reuse_every_request_has_a_connection_and_a_handshake_of_its_own() {
    let (nginx, address) = nginx("location / { return 200 ok; }", &[]);
    for threads in [1, 2] {
        let options = Options { reuse: Reuse::Never, threads, ..options(address, 8) };
        let record = drive(&options, "200/s", 0.5);
        assert_eq!(
            (record.due, record.answered, record.errors.total()),
            (100, 100, 0),
            "{:?}",
            record.errors
        );
        assert_eq!((record.connect.len(), record.reconnects), (100, 100));
        // Response time contains the handshake, service time does not.
        assert!(record.response.mean() > record.service.mean() + record.connect.mean() / 2.0);
    }
    let log = nginx.log(200);
    assert_eq!((log.len() as u64, connections(&log)), (200, 200));
    assert!(log.iter().all(|request| request.connection_header == "close" && request.of_connection == 1));
}

#[test]
fn connections_are_replaced_after_so_many_requests() {
    let (nginx, address) = nginx("location / { return 200 ok; }", &[]);
    let options = Options { reuse: Reuse::Times(10), ..options(address, 1) };
    let record = drive(&options, "200/s", 0.5);
    assert_eq!((record.answered, record.errors.total()), (100, 0), "{:?}", record.errors);
    let log = nginx.log(100);
    assert_eq!(connections(&log), 10);
    for request in &log {
        let is_last = request.of_connection == 10;
        assert_eq!(request.connection_header, if is_last { "close" } else { "-" }, "{request:?}");
    }
    // The one before the slice is none of its reconnects, and the last may be replaced or not.
    assert!((9..=10).contains(&record.reconnects), "{}", record.reconnects);
}

#[test]
fn ten_megabytes_are_read_to_their_end() {
    let file = vec![b'x'; 10 << 20];
    let (_nginx, address) = nginx("index text;", &[("text", &file)]);
    let caddy = Caddy::start("http", "root * {folder}\n file_server", &[("index.html", &file)]);
    for address in [address, caddy.address] {
        let record = drive(&options(address, 2), "10/s", 0.5);
        assert_eq!((record.answered, record.errors.total()), (5, 0), "{:?}", record.errors);
        assert!(record.received_bytes > 5 * (10 << 20));
    }
}

#[test]
fn a_mix_reaches_the_server_in_its_shares() {
    let (nginx, address) = nginx("location / { return 200 ok; }", &[]);
    let requests = [Request { weight: 3, ..Request::get("/often") }, Request::get("/seldom?really")];
    let record = drive(&options_for(address, 4, &requests), "400/s", 1.0);
    assert_eq!((record.answered, record.errors.total()), (400, 0));
    let seldom = nginx.log(400).iter().filter(|request| request.path == "/seldom").count();
    // 100 expected with a standard deviation of 8.7; five of them.
    assert!((57..=143).contains(&seldom), "{seldom}");
}
