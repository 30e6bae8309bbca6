//! HTTP/2 against nginx, HAProxy and Caddy: in clear text and over TLS, with many requests at once on a connection.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::servers::caddy::Caddy;
use crate::servers::certificates::Certificates;
use crate::servers::haproxy::Haproxy;
use crate::servers::nginx::{Logged, Nginx, connections};
use crate::servers::{free_port, local};
use crate::support::slice;
use loadline_engine::{
    Endpoint, Engine, Expectation, Mix, MixOptions, Options, Record, Request, Reuse, Tls, TlsOptions, Wire,
    read_tls_files,
};

fn http2(endpoint: impl Into<Endpoint>, connections: usize, streams: usize, requests: &[Request]) -> Options {
    let endpoint = endpoint.into();
    let mix =
        Mix::with(requests, &endpoint, &MixOptions { wire: Wire::Http2, ..MixOptions::default() }).unwrap();
    Options { connections, streams: NonZeroUsize::new(streams), ..Options::new(endpoint, mix) }
}

fn over_tls(address: SocketAddr, certificates: &Certificates) -> Endpoint {
    let ca = Some(certificates.certificate("ca"));
    let options = TlsOptions { ca, ..TlsOptions::default() };
    let tls = Tls::new("one.test", &read_tls_files(&options).unwrap(), true).unwrap();
    Endpoint { tls: Some(tls), authority: "one.test".to_owned(), ..Endpoint::from(address) }
}

fn all_are_answered(options: &Options, rate: &str) -> Record {
    let record = Engine::start(options).unwrap().drive(slice(rate, 0.5)).unwrap();
    assert_eq!((record.answered, record.errors.total()), (record.due, 0), "{:?}", record.errors);
    record
}

/// nginx that speaks HTTP/2 in clear text (a listening socket of `http2` without `ssl` expects prior knowledge).
fn nginx(lines: &str, files: &[(&str, &[u8])]) -> (Nginx, SocketAddr) {
    let address = local(free_port());
    let server = format!("server {{ listen {address} http2; root {{folder}}; {lines} }}");
    (Nginx::start(&server, files), address)
}

fn assert_http2(log: &[Logged]) {
    assert!(log.iter().all(|request| request.protocol == "HTTP/2.0"), "{:?}", log[0]);
}

#[test]
fn clear_text_with_streams() {
    let (nginx, address) = nginx("location / { return 200 ok; }", &[]);
    for threads in [1, 2] {
        let options = Options { threads, ..http2(address, 2, 8, &[Request::get("/")]) };
        assert_eq!(all_are_answered(&options, "400/s").reconnects, 0);
    }
    let log = nginx.log(400);
    assert_http2(&log);
    assert_eq!((log.len(), connections(&log)), (400, 4));
}

#[test]
fn over_tls_with_streams() {
    let certificates = Certificates::make();
    let address = local(free_port());
    let one = certificates.for_nginx("one");
    let server = format!("server {{ listen {address} ssl http2; {one} location / {{ return 200 ok; }} }}");
    let nginx = Nginx::start(&server, &[]);
    let record =
        all_are_answered(&http2(over_tls(address, &certificates), 2, 8, &[Request::get("/")]), "400/s");
    assert_eq!((record.handshake.len(), record.reconnects), (2, 0));
    let log = nginx.log(200);
    assert_http2(&log);
    assert_eq!(connections(&log), 2);
}

#[test]
fn a_server_without_http2_over_tls_is_refused_with_the_reason() {
    let certificates = Certificates::make();
    let address = local(free_port());
    let one = certificates.for_nginx("one");
    let _nginx = Nginx::start(
        &format!("server {{ listen {address} ssl; {one} location / {{ return 200 ok; }} }}"),
        &[],
    );
    let options = http2(over_tls(address, &certificates), 1, 1, &[Request::get("/")]);
    let error = Engine::start(&options).unwrap().prepare().unwrap_err().to_string();
    assert!(error.contains("HTTP/2"), "{error}");
}

#[test]
fn one_connection_carries_requests_at_once() {
    // Requests of 100 ms each at 100/s need 10 at once, and all 50 where a busy machine lets them pile up. tarpit waits before it answers.
    let haproxy =
        Haproxy::start("proto h2", &["timeout tarpit 100ms", "http-request tarpit deny_status 200"]);
    let record = all_are_answered(&http2(haproxy.address, 1, 50, &[Request::get("/")]), "100/s");
    assert_eq!((record.due, record.waited, record.reconnects), (50, 0, 0));
    assert!(record.service.min() > 95_000_000, "{}", record.service.min());
}

#[test]
fn no_more_requests_are_sent_at_once_than_the_server_takes() {
    let (nginx, address) = nginx("http2_max_concurrent_streams 4; location / { return 200 ok; }", &[]);
    let record = all_are_answered(&http2(address, 1, 64, &[Request::get("/")]), "2000/s");
    assert_eq!((record.due, record.reconnects, connections(&nginx.log(1000))), (1000, 0, 1));
}

#[test]
fn a_server_that_goes_away_after_a_number_of_requests_costs_no_error() {
    let (nginx, address) = nginx("keepalive_requests 50; location / { return 200 ok; }", &[]);
    let record = all_are_answered(&http2(address, 2, 8, &[Request::get("/")]), "1000/s");
    let log = nginx.log(500);
    assert!(connections(&log) >= 10, "{}", connections(&log));
    assert!(record.reconnects >= 8, "{}", record.reconnects);
}

#[test]
fn bodies_larger_than_windows_and_frames_pass_whole_in_both_directions() {
    let large = vec![b'x'; 3 << 20];
    let lines = "client_max_body_size 0; location /upload { dav_methods PUT; }";
    let (nginx, address) = nginx(lines, &[("large", &large)]);
    let upload = Request { method: "PUT".into(), body: large.clone(), ..Request::get("/upload") };
    let record = all_are_answered(&http2(address, 1, 4, &[Request::get("/large"), upload]), "20/s");
    let downloads = nginx.log(10).iter().filter(|request| request.path == "/large").count();
    assert!((1..10).contains(&downloads) && record.received_bytes > downloads as u64 * (3 << 20));
    assert!(std::fs::read(nginx.path("upload")).unwrap() == large, "what arrived is not what was sent");
}

#[test]
fn head_trailers_and_early_hints() {
    let text = [b'x'; 5000];
    let (_nginx, address) = nginx("index text; add_trailer X-Checked yes;", &[("text", &text)]);
    let head = Request { method: "HEAD".into(), ..Request::get("/") };
    assert!(all_are_answered(&http2(address, 1, 4, &[head]), "200/s").received_bytes < 50_000);
    all_are_answered(&http2(address, 1, 4, &[Request::get("/")]), "200/s");
    let lines = [
        "http-request early-hint Link </a>",
        "http-request return status 200 content-type text/plain string ok",
    ];
    let haproxy = Haproxy::start("proto h2", &lines);
    let expectation =
        Arc::new(Expectation::parse(["status=200", "body=ok", "header:content-type~plain"]).unwrap());
    all_are_answered(&Options { expectation, ..http2(haproxy.address, 1, 4, &[Request::get("/")]) }, "200/s");
}

#[test]
fn caddy_is_spoken_to_in_clear_text_and_over_tls() {
    let caddy = Caddy::start("http", "respond \"{http.request.proto}\"", &[]);
    let expectation = Arc::new(Expectation::parse(["body=HTTP/2.0"]).unwrap());
    let clear = http2(caddy.address, 2, 16, &[Request::get("/")]);
    all_are_answered(&Options { expectation: expectation.clone(), ..clear }, "400/s");

    let certificates = Certificates::make();
    let (certificate, key) = (certificates.certificate("one"), certificates.key("one"));
    let site =
        format!("tls {} {}\n respond \"{{http.request.proto}}\"", certificate.display(), key.display());
    let caddy = Caddy::start("https", &site, &[]);
    let secure = http2(over_tls(caddy.address, &certificates), 2, 16, &[Request::get("/")]);
    all_are_answered(&Options { expectation, ..secure }, "400/s");
}

#[test]
fn connections_are_replaced_as_with_http_1() {
    let (nginx, address) = nginx("location / { return 200 ok; }", &[]);
    let options = http2(address, 4, 1, &[Request::get("/")]);
    let record = all_are_answered(&Options { reuse: Reuse::Never, ..options.clone() }, "200/s");
    assert_eq!((record.connect.len(), connections(&nginx.log(100))), (100, 100));
    let record = all_are_answered(&Options { reuse: Reuse::Times(10), ..options }, "200/s");
    let log = nginx.log(200);
    assert_eq!(log[100..].iter().map(|request| request.of_connection).max(), Some(10));
    assert!((7..=10).contains(&record.reconnects), "{}", record.reconnects);
}
