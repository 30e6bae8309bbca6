//! Bytes that come without a request under way.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use loadline_engine::{Options, Reuse};

use super::TIMEOUT;
use crate::misbehaving::{Counts, Misbehaving, OK, answer_all, read_request, write_piece};
use crate::support::undisturbed::undisturbed;
use crate::support::{drive, options};

/// Whatever comes without a request under way belongs to no request: it is counted for itself, and its connection is not trusted any more.
fn what_nobody_asked_for_is_counted_for_itself(
    serve: impl Fn(TcpStream, u64, &Counts) + Send + Sync + 'static,
    reuse: Reuse,
) {
    let serve = Arc::new(serve);
    undisturbed(|| {
        let serve = serve.clone();
        let server = Misbehaving::serving(move |stream, number, counts| serve(stream, number, counts));
        let record = drive(&Options { timeout: TIMEOUT, reuse, ..options(server.address, 4) }, "20/s", 1.5);
        assert_eq!((record.due, record.answered, record.errors.total()), (30, 30, 0), "{:?}", record.errors);
        assert!(server.misbehaved() > 0);
        // The last ones may come after the slice, when nobody listens.
        let seen = record.unsolicited;
        assert!(
            (server.misbehaved() - 1..=server.misbehaved()).contains(&seen),
            "{seen} of {}",
            server.misbehaved()
        );
    });
}

/// Answers, and sends something more to every 5th request a while later, when no other request has come yet: 4 connections of 20/s
/// have 200 ms from one to the next.
fn answering_with_an_afterthought(
    answer: &'static [u8],
    afterthought: &'static [u8],
) -> impl Fn(TcpStream, u64, &Counts) {
    move |mut stream, _, counts| {
        while read_request(&mut stream).is_some() {
            let is_chosen = counts.is_nth_request(5);
            write_piece(&mut stream, if is_chosen { answer } else { OK });
            if is_chosen {
                counts.misbehave();
                let _ = stream.write_all(afterthought);
            }
        }
    }
}

#[test]
fn a_second_response_a_while_later_was_not_asked_for() {
    what_nobody_asked_for_is_counted_for_itself(answering_with_an_afterthought(OK, OK), Reuse::Always);
}

#[test]
fn extra_bytes_a_while_later_were_not_asked_for() {
    what_nobody_asked_for_is_counted_for_itself(answering_with_an_afterthought(OK, b"x"), Reuse::Always);
}

#[test]
fn the_body_of_a_204_a_while_later_was_not_asked_for() {
    let answer = b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n";
    what_nobody_asked_for_is_counted_for_itself(
        answering_with_an_afterthought(answer, b"hello"),
        Reuse::Always,
    );
}

#[test]
fn a_response_before_the_request_was_not_asked_for() {
    // Connections carry two requests, so that new ones are opened all the time; every fourth is greeted.
    let greeting = |mut stream: TcpStream, number: u64, counts: &Counts| {
        if number >= 4 && number % 4 == 3 {
            counts.misbehave();
            let _ = stream.write_all(OK);
        }
        answer_all(&mut stream);
    };
    what_nobody_asked_for_is_counted_for_itself(greeting, Reuse::Times(2));
}
