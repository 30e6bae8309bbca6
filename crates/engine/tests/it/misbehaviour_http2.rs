//! Servers of HTTP/2 that misbehave towards some requests: what happens on one stream fails that request alone, what happens to the
//! connection fails those that are under way on it, and every request that was due is accounted for.

use std::io::Write;
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::misbehaving::http2::{GOAWAY, HEADERS, PING, RST_STREAM, answer, every, frame};
use crate::misbehaving::{Misbehaving, Then, write_for_ever};
use crate::support;
use crate::support::undisturbed::undisturbed;
use crate::support::{drive, response_quantile};
use loadline_engine::{Endpoint, Engine, ErrorKind, Mix, MixOptions, Options, Record, Request, Wire};

/// Far above what a busy machine delays a response by.
const TIMEOUT: Duration = Duration::from_millis(700);

/// 2 connections of 8 streams.
fn options(server: &Misbehaving) -> Options {
    let endpoint = Endpoint::from(server.address);
    let http2 = MixOptions { wire: Wire::Http2, ..MixOptions::default() };
    let mix = Mix::with(&[Request::get("/")], &endpoint, &http2).unwrap();
    Options { connections: 2, streams: NonZeroUsize::new(8), timeout: TIMEOUT, ..Options::new(endpoint, mix) }
}

/// 50 requests, of which every 10th meets `misbehave` and fails in this way, alone.
fn every_tenth_request_fails(
    kind: ErrorKind,
    misbehave: impl Fn(&mut TcpStream, u32) -> Then + Send + Sync + 'static,
) -> Record {
    let misbehave = Arc::new(misbehave);
    undisturbed(|| {
        let misbehave = misbehave.clone();
        let server = every(10, move |connection, stream| misbehave(connection, stream));
        let record = drive(&options(&server), "40/s", 1.25);
        assert_eq!((record.errors.of(kind), record.errors.total()), (5, 5), "{:?}", record.errors);
        assert_eq!((record.due, record.answered, server.misbehaved()), (50, 45, 5));
        let most = response_quantile(&record, 0.8);
        assert!(most < TIMEOUT / 2, "{most:?}");
        record
    })
}

#[test]
fn a_reset_stream_fails_alone() {
    // INTERNAL_ERROR
    let record = every_tenth_request_fails(ErrorKind::Reset, |connection, stream| {
        let _ = connection.write_all(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 2]));
        Then::GoOn
    });
    assert_eq!(record.reconnects, 0);
}

#[test]
fn silence_on_a_stream_times_out_alone() {
    let record = every_tenth_request_fails(ErrorKind::Timeout, |_, _| Then::GoOn);
    assert_eq!(record.reconnects, 0);
}

#[test]
fn a_response_without_a_status_fails_alone() {
    // END_STREAM and END_HEADERS, an empty block of fields.
    let record = every_tenth_request_fails(ErrorKind::Malformed, |connection, stream| {
        let _ = connection.write_all(&frame(HEADERS, 5, stream, &[]));
        Then::GoOn
    });
    assert_eq!(record.reconnects, 0);
}

#[test]
fn a_response_of_http_1_is_malformed() {
    every_tenth_request_fails(ErrorKind::Malformed, |connection, _| {
        let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        Then::Hold
    });
}

#[test]
fn a_response_to_what_was_never_asked_is_malformed() {
    every_tenth_request_fails(ErrorKind::Malformed, |connection, stream| {
        let _ = connection.write_all(&answer(stream + 1000));
        Then::Hold
    });
}

#[test]
fn an_end_of_the_connection_fails_what_is_under_way() {
    let record = every_tenth_request_fails(ErrorKind::EarlyEnd, |_, _| Then::Close);
    assert!((4..=5).contains(&record.reconnects), "{}", record.reconnects);
}

#[test]
fn a_reset_of_the_connection_fails_what_is_under_way() {
    every_tenth_request_fails(ErrorKind::Reset, |_, _| Then::Reset);
}

#[test]
fn a_flood_of_pings_ends() {
    undisturbed(|| {
        let server = every(10, |connection, _| {
            write_for_ever(connection, &frame(PING, 0, 0, &[0; 8]));
            Then::Close
        });
        let record = drive(&options(&server), "15/s", 1.3);
        assert_eq!((record.due, record.answered, record.errors.total()), (20, 18, 2), "{:?}", record.errors);
        let known = record.errors.of(ErrorKind::Malformed) + record.errors.of(ErrorKind::Timeout);
        assert_eq!(known, 2, "{:?}", record.errors);
    });
}

#[test]
fn requests_that_a_leaving_server_has_not_looked_at_are_sent_again() {
    undisturbed(|| {
        // The last stream that it has looked at is the one before, or none.
        let server = every(10, |connection, stream| {
            let last = stream.saturating_sub(2).to_be_bytes();
            let _ = connection.write_all(&frame(GOAWAY, 0, 0, &[last, [0; 4]].concat()));
            Then::Hold
        });
        let record = drive(&options(&server), "40/s", 1.25);
        assert_eq!((record.due, record.answered, record.errors.total()), (50, 50, 0), "{:?}", record.errors);
        // Each that was sent again came to the server twice.
        assert_eq!(server.requests(), 50 + server.misbehaved());
        assert!(server.misbehaved() >= 5);
    });
}

#[test]
fn a_server_that_leaves_at_every_request_fails_them_and_ends() {
    undisturbed(|| {
        let server = every(1, |connection, _| {
            let _ = connection.write_all(&frame(GOAWAY, 0, 0, &[0; 8]));
            Then::Hold
        });
        let begun = Instant::now();
        let record = Engine::start(&options(&server)).unwrap().drive(support::slice("40/s", 0.5)).unwrap();
        println!(
            "{:?} after {:?} and {} requests",
            record.errors.by_name(),
            begun.elapsed(),
            server.requests()
        );
        assert_eq!((record.due, record.answered, record.errors.total()), (20, 0, 20), "{:?}", record.errors);
        assert!(begun.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn a_server_that_refuses_every_stream_fails_them_and_ends() {
    undisturbed(|| {
        // REFUSED_STREAM
        let server = every(1, |connection, stream| {
            let _ = connection.write_all(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 7]));
            Then::GoOn
        });
        let record = drive(&options(&server), "40/s", 0.5);
        assert_eq!((record.due, record.answered, record.errors.total()), (20, 0, 20), "{:?}", record.errors);
    });
}
