//! Servers that close connections, or say so, or go away and come back.

use std::io::Write;
use std::time::{Duration, Instant};

use loadline_engine::{Engine, ErrorKind, Options};

use super::TIMEOUT;
use crate::misbehaving::{Misbehaving, answer_all, read_request};
use crate::support::undisturbed::undisturbed;
use crate::support::{drive, options, slice};

#[test]
fn requests_that_meet_a_connection_closed_for_idleness_are_the_only_ones_that_fail() {
    undisturbed(|| {
        // The server ends its side of an idle connection and looks whether a request comes nevertheless.
        let server = Misbehaving::serving(|mut stream, _, counts| {
            stream.set_read_timeout(Some(Duration::from_millis(30))).unwrap();
            answer_all(&mut stream);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.set_read_timeout(Some(TIMEOUT));
            if read_request(&mut stream).is_some() {
                counts.misbehave();
            }
        });
        let record = drive(&Options { timeout: TIMEOUT, ..options(server.address, 4) }, "20/s", 1.5);
        assert_eq!((record.due, record.answered + record.errors.total()), (30, 30), "{:?}", record.errors);
        assert_eq!(record.errors.of(ErrorKind::EarlyEnd), record.errors.total(), "{:?}", record.errors);
        assert_eq!(record.errors.total(), server.misbehaved(), "{:?}", record.errors);
        assert!(record.answered >= 25, "{:?}", record.errors);
        assert!(record.reconnects >= 20, "{}", record.reconnects);
    });
}

#[test]
fn a_server_that_says_it_closes_and_does_not_is_left() {
    undisturbed(|| {
        let server = Misbehaving::serving(|mut stream, _, _| {
            while read_request(&mut stream).is_some() {
                let _ =
                    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
            }
        });
        let record = drive(&Options { timeout: TIMEOUT, ..options(server.address, 4) }, "40/s", 1.0);
        assert_eq!((record.due, record.answered, record.errors.total()), (40, 40, 0), "{:?}", record.errors);
        // Each connection carried one request; the last ones need not have been replaced yet.
        assert!((36..=40).contains(&record.reconnects), "{}", record.reconnects);
    });
}

#[test]
fn a_server_that_closes_whatever_it_accepts_fails_every_request_and_ends() {
    undisturbed(|| {
        let server = Misbehaving::serving(|stream, _, counts| {
            counts.misbehave();
            drop(stream);
        });
        for threads in [1, 2] {
            let begun = Instant::now();
            let options = Options { threads, timeout: TIMEOUT, ..options(server.address, 4) };
            match Engine::start(&options).unwrap().drive(slice("40/s", 0.5)) {
                Ok(record) => {
                    assert_eq!((record.due, record.answered, record.errors.total()), (20, 0, 20));
                    let kinds = [ErrorKind::Connect, ErrorKind::Reset, ErrorKind::EarlyEnd];
                    let known: u64 = kinds.into_iter().map(|kind| record.errors.of(kind)).sum();
                    assert_eq!(known, 20, "{:?}", record.errors);
                }
                // When it is seen before the slice, the slice is not begun.
                Err(error) => {
                    assert!(error.to_string().starts_with("cannot connect to 127.0.0.1"), "{error}")
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
    });
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_slice_and_comes_back_is_found_again() {
    undisturbed(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serve = move |listener: std::net::TcpListener, until: Instant| {
            listener.set_nonblocking(true).unwrap();
            let mut streams = Vec::new();
            while Instant::now() < until {
                if let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(false).unwrap();
                    let mut copy = stream.try_clone().unwrap();
                    std::thread::spawn(move || answer_all(&mut copy));
                    streams.push(stream);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            // What dies takes its listening socket and its connections with it.
            drop(listener);
            for stream in &streams {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        };
        let mut engine = Engine::start(&Options { timeout: TIMEOUT, ..options(address, 4) }).unwrap();
        let begun = Instant::now();
        let server = std::thread::spawn(move || {
            serve(listener, begun + Duration::from_millis(700));
            std::thread::sleep(Duration::from_millis(500));
            serve(std::net::TcpListener::bind(address).unwrap(), begun + Duration::from_millis(2500));
        });
        let record = engine.drive(slice("100/s", 2.0)).unwrap();
        server.join().unwrap();
        assert_eq!((record.due, record.answered + record.errors.total()), (200, 200), "{:?}", record.errors);
        // Half a second without a server, but for those that were refused or cut off at its ends.
        assert!((35..=65).contains(&record.errors.total()), "{:?}", record.errors);
        assert!(record.errors.of(ErrorKind::Connect) >= 30, "{:?}", record.errors);
        assert!(record.reconnects >= 4, "{}", record.reconnects);
    });
}
