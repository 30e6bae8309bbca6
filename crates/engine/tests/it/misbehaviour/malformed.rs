//! Responses of a wrong length, of too much, and of what is no HTTP.

use std::io::Write;
use std::net::TcpStream;

use loadline_engine::{ErrorKind, Options, Request};

use super::{TIMEOUT, every_tenth_request_fails, writes};
use crate::misbehaving::{Misbehaving, Then, read_request, write_for_ever};
use crate::support::undisturbed::undisturbed;
use crate::support::{drive, options, options_for, response_quantile};

#[test]
fn a_length_that_promises_too_much_is_an_early_end_when_the_connection_ends() {
    const SHORT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort";
    every_tenth_request_fails(ErrorKind::EarlyEnd, writes(&[SHORT], || Then::Close));
}

#[test]
fn a_length_that_promises_too_little_is_malformed() {
    const LONG: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more";
    every_tenth_request_fails(ErrorKind::Malformed, writes(&[LONG], || Then::GoOn));
}

#[test]
fn lengths_that_contradict_each_other_are_malformed() {
    const TWO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok";
    every_tenth_request_fails(ErrorKind::Malformed, writes(&[TWO], || Then::GoOn));
}

#[test]
fn a_204_with_a_body_is_malformed() {
    const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello";
    every_tenth_request_fails(ErrorKind::Malformed, writes(&[ANSWER], || Then::GoOn));
}

#[test]
fn two_responses_to_one_request_are_malformed() {
    const TWO: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    every_tenth_request_fails(ErrorKind::Malformed, writes(&[TWO], || Then::GoOn));
}

#[test]
fn a_head_with_endless_headers_is_malformed() {
    every_tenth_request_fails(ErrorKind::Malformed, |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        write_for_ever(stream, b"X-More: and more\r\n");
        Then::Close
    });
}

#[test]
fn a_header_without_an_end_is_malformed() {
    every_tenth_request_fails(ErrorKind::Malformed, |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ");
        write_for_ever(stream, b"x");
        Then::Close
    });
}

/// Two of 20 requests meet a server that sends without end, as fast as it can.
fn a_flood_times_out_and_holds_nobody_up(flood: fn(&mut TcpStream)) {
    undisturbed(|| {
        for threads in [1, 2] {
            let server = Misbehaving::every(10, move |stream| {
                flood(stream);
                Then::Close
            });
            let options = Options { threads, timeout: TIMEOUT, ..options(server.address, 4) };
            let record = drive(&options, "15/s", 1.3);
            assert_eq!((record.due, record.answered), (20, 18), "{:?}", record.errors);
            assert_eq!(
                (record.errors.of(ErrorKind::Timeout), record.errors.total()),
                (2, 2),
                "{:?}",
                record.errors
            );
            // Sharing the CPU with the flood is not being held up by it.
            let median = response_quantile(&record, 0.5);
            assert!(median < TIMEOUT / 2, "{median:?}");
        }
    });
}

#[test]
fn interim_responses_without_an_end_time_out_and_hold_nobody_up() {
    a_flood_times_out_and_holds_nobody_up(|stream| {
        write_for_ever(stream, b"HTTP/1.1 102 Processing\r\n\r\n")
    });
}

#[test]
fn a_body_without_an_end_times_out_and_holds_nobody_up() {
    a_flood_times_out_and_holds_nobody_up(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        write_for_ever(stream, b"more and more ");
    });
}

#[test]
fn chunks_without_an_end_time_out_and_hold_nobody_up() {
    a_flood_times_out_and_holds_nobody_up(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        write_for_ever(stream, b"1\r\nx\r\n");
    });
}

#[test]
fn a_body_of_ten_megabytes_is_read_to_its_end_however_it_is_framed() {
    undisturbed(|| {
        const BODY: usize = 10 << 20;
        let heads = ["Content-Length: 10485760", "Transfer-Encoding: chunked", "Connection: close"];
        for head in heads {
            let server = Misbehaving::every(10, move |stream| {
                let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
                let body = vec![b'x'; BODY];
                if head.ends_with("chunked") {
                    let _ = write!(stream, "{BODY:x}\r\n");
                    let _ = stream.write_all(&body);
                    let _ = stream.write_all(b"\r\n0\r\n\r\n");
                } else {
                    let _ = stream.write_all(&body);
                }
                if head.ends_with("close") { Then::Close } else { Then::GoOn }
            });
            let record = drive(&Options { timeout: 10 * TIMEOUT, ..options(server.address, 4) }, "40/s", 0.5);
            assert_eq!((record.due, record.answered), (20, 20), "{head}");
            assert_eq!(record.errors.total(), 0, "{head}: {:?}", record.errors);
            assert!(record.received_bytes > 2 * BODY as u64, "{head}: {}", record.received_bytes);
            // The last connection may end after the slice, when no other is opened.
            let expected = if head.ends_with("close") { 1..=2 } else { 0..=0 };
            assert!(expected.contains(&record.reconnects), "{head}: {}", record.reconnects);
        }
    });
}

#[test]
fn garbage_is_malformed() {
    every_tenth_request_fails(
        ErrorKind::Malformed,
        writes(&[b"\x00\xff\x13garbage in, garbage out"], || Then::GoOn),
    );
}

#[test]
fn garbage_where_a_chunk_should_be_is_malformed() {
    const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n";
    every_tenth_request_fails(ErrorKind::Malformed, writes(&[CHUNKED], || Then::GoOn));
}

#[test]
fn a_response_before_the_whole_request_was_sent_counts_by_its_status() {
    undisturbed(|| {
        let server = Misbehaving::serving(|mut stream, _, _| {
            read_request(&mut stream);
            let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
            // As long as it does not read, the client can't have sent all.
            std::thread::sleep(TIMEOUT / 2);
        });
        let request = Request { method: "POST".into(), body: vec![b'x'; 16 << 20], ..Request::get("/") };
        let options = Options { timeout: TIMEOUT, ..options_for(server.address, 4, &[request]) };
        let record = drive(&options, "20/s", 0.5);
        assert_eq!((record.due, record.answered), (10, 10), "{:?}", record.errors);
        assert_eq!(
            (record.errors.of(ErrorKind::Status), record.errors.total()),
            (10, 10),
            "{:?}",
            record.errors
        );
    });
}
