//! Responses that are reset, cut off or too slow.

use std::io::Write;
use std::time::Duration;

use loadline_engine::{ErrorKind, Options, Request, Reuse};

use super::{TIMEOUT, every_request_is_answered, every_tenth_request_fails, writes};
use crate::misbehaving::{Misbehaving, OK, Then, answer_all, end, read_request};
use crate::support::undisturbed::undisturbed;
use crate::support::{drive, options, options_for};

#[test]
fn a_reset_after_the_request_was_read_is_a_reset() {
    every_tenth_request_fails(ErrorKind::Reset, |_| Then::Reset);
}

#[test]
fn a_reset_within_the_head_is_a_reset() {
    every_tenth_request_fails(ErrorKind::Reset, writes(&[b"HTTP/1.1 200 OK\r\nConte"], || Then::Reset));
}

#[test]
fn a_reset_within_the_body_is_a_reset() {
    const HALF: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    every_tenth_request_fails(ErrorKind::Reset, writes(&[HALF], || Then::Reset));
}

#[test]
fn a_reset_within_a_body_without_a_length_is_a_reset() {
    every_tenth_request_fails(
        ErrorKind::Reset,
        writes(&[b"HTTP/1.1 200 OK\r\n\r\nwithout an end"], || Then::Reset),
    );
}

#[test]
fn a_reset_before_the_request_fails_that_request_alone() {
    undisturbed(|| {
        // One connection a request, so that every fourth connection is every fourth request.
        let server = Misbehaving::serving(|mut stream, number, counts| {
            if number % 4 == 3 {
                counts.misbehave();
                return end(stream, Then::Reset);
            }
            answer_all(&mut stream);
        });
        let options = Options { reuse: Reuse::Never, timeout: TIMEOUT, ..options(server.address, 4) };
        let record = drive(&options, "40/s", 1.0);
        // Whether the handshake or what follows it fails depends on who is first.
        let failed = record.errors.of(ErrorKind::Connect) + record.errors.of(ErrorKind::Reset);
        assert_eq!((failed, record.errors.total()), (10, 10), "{:?}", record.errors);
        assert_eq!((record.due, record.answered, server.misbehaved()), (40, 30, 10));
    });
}

#[test]
fn a_connection_that_is_reset_before_its_first_request_is_opened_again_and_costs_none() {
    undisturbed(|| {
        // Connections carry two requests, so that new ones are opened all the time, every fourth in vain.
        let server = Misbehaving::serving(|mut stream, number, counts| {
            if number % 4 == 3 {
                counts.misbehave();
                return end(stream, Then::Reset);
            }
            answer_all(&mut stream);
        });
        let options = Options { reuse: Reuse::Times(2), timeout: TIMEOUT, ..options(server.address, 4) };
        let record = drive(&options, "40/s", 1.0);
        // A request may have been written just before the reset came.
        assert!(record.errors.total() <= server.misbehaved(), "{:?}", record.errors);
        assert_eq!(record.errors.total(), record.errors.of(ErrorKind::Reset), "{:?}", record.errors);
        assert_eq!((record.due, record.answered + record.errors.total()), (40, 40));
        assert!(server.misbehaved() >= 4 && record.answered >= 36, "{}", record.answered);
    });
}

#[test]
fn a_reset_while_the_request_is_being_sent_is_a_reset() {
    undisturbed(|| {
        let server = Misbehaving::serving(|mut stream, _, counts| {
            if read_request(&mut stream).is_some() {
                counts.misbehave();
            }
            end(stream, Then::Reset);
        });
        let request = Request { method: "POST".into(), body: vec![b'x'; 16 << 20], ..Request::get("/") };
        let options = Options { timeout: TIMEOUT, ..options_for(server.address, 4, &[request]) };
        let record = drive(&options, "20/s", 0.5);
        assert_eq!((record.due, record.errors.of(ErrorKind::Reset)), (10, 10), "{:?}", record.errors);
        assert_eq!((record.errors.total(), server.misbehaved()), (10, 10));
    });
}

#[test]
fn a_half_close_before_the_response_is_an_early_end() {
    every_tenth_request_fails(ErrorKind::EarlyEnd, |_| Then::HalfClose);
}

#[test]
fn a_half_close_within_the_head_is_an_early_end() {
    every_tenth_request_fails(
        ErrorKind::EarlyEnd,
        writes(&[b"HTTP/1.1 200 OK\r\nA: b\r\n"], || Then::HalfClose),
    );
}

#[test]
fn an_end_within_a_chunk_is_an_early_end() {
    const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel";
    every_tenth_request_fails(ErrorKind::EarlyEnd, writes(&[CHUNKED], || Then::Close));
}

#[test]
fn a_half_close_after_the_response_costs_nothing() {
    every_request_is_answered(writes(&[OK], || Then::HalfClose));
}

#[test]
fn a_body_without_a_length_lasts_until_the_end() {
    every_request_is_answered(writes(&[b"HTTP/1.1 200 OK\r\n\r\nsome", b" more"], || Then::Close));
}

#[test]
fn a_response_that_comes_byte_by_byte_is_answered_when_it_is_there() {
    every_request_is_answered(|stream| {
        for byte in OK {
            if stream.write_all(&[*byte]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Then::GoOn
    });
}

#[test]
fn a_response_that_comes_too_slowly_byte_by_byte_times_out() {
    every_tenth_request_fails(ErrorKind::Timeout, |stream| {
        for byte in OK {
            if stream.write_all(&[*byte]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        Then::Hold
    });
}

#[test]
fn silence_times_out() {
    every_tenth_request_fails(ErrorKind::Timeout, |_| Then::Hold);
}

#[test]
fn silence_within_the_body_times_out() {
    const HALF: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    every_tenth_request_fails(ErrorKind::Timeout, writes(&[HALF], || Then::Hold));
}
