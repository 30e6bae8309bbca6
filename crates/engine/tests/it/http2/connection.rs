//! The connection as a whole: how it begins, how many streams it carries, and how it ends.

use loadline_engine::http2::{Http2, ProtocolError, StreamError};

use super::peer::*;

#[test]
fn it_begins_with_preface_settings_and_the_largest_windows() {
    let mut connection = Connection::fresh(1);
    assert!(connection.out.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    let sent = connection.sent();
    assert_eq!((sent[0].kind, sent[0].flags, sent[0].stream), (SETTINGS, 0, 0));
    // No dynamic table, no push, windows of 2^31-1 bytes.
    assert_eq!(sent[0].payload, b"\0\x01\0\0\0\0\0\x02\0\0\0\0\0\x04\x7f\xff\xff\xff");
    assert_eq!((sent[1].kind, sent[1].stream, sent[1].number()), (WINDOW_UPDATE, 0, 0x7fff_ffff - 65_535));
    assert_eq!(sent.len(), 2);
}

#[test]
fn the_first_request_announces_an_empty_table_and_the_others_need_not() {
    let mut connection = Connection::ready(2);
    connection.get();
    connection.get();
    let sent = connection.sent();
    assert_eq!(sent[0].payload, b"\x20\x82\x86\x01\x09localhost\x84");
    assert_eq!(sent[1].payload, b"\x82\x86\x01\x09localhost\x84");
    assert_eq!((sent[0].flags, sent[1].flags), (END_HEADERS | END_STREAM, END_HEADERS | END_STREAM));
    assert_eq!((sent[0].stream, sent[1].stream), (1, 3));
}

#[test]
fn settings_and_pings_are_acknowledged_once() {
    let mut connection = Connection::fresh(1);
    connection.sent();
    assert!(!connection.http2.is_ready());
    connection.feed(&settings(&[(0x99, 7)])).unwrap();
    assert!(connection.http2.is_ready());
    connection
        .feed(
            &[frame(SETTINGS, ACK, 0, b""), frame(PING, 0, 0, b"12345678"), frame(PING, ACK, 0, b"87654321")]
                .concat(),
        )
        .unwrap();
    let sent = connection.sent();
    let ack = |kind, payload: &[u8]| Sent { kind, flags: ACK, stream: 0, payload: payload.to_vec() };
    assert_eq!(sent, [ack(SETTINGS, b""), ack(PING, b"12345678")]);
}

#[test]
fn the_peers_limit_of_streams_bounds_the_capacity() {
    let mut connection = Connection::fresh(200);
    assert_eq!(connection.http2.capacity(), 1, "before it is known");
    connection.feed(&settings(&[])).unwrap();
    assert_eq!(connection.http2.capacity(), 200, "there is none");
    connection.feed(&settings(&[(MAX_CONCURRENT_STREAMS, 3)])).unwrap();
    assert_eq!(connection.http2.capacity(), 3);
    connection.get();
    connection.get();
    assert_eq!(connection.http2.capacity(), 1);
    connection.feed(&settings(&[(MAX_CONCURRENT_STREAMS, 1)])).unwrap();
    assert_eq!(connection.http2.capacity(), 0);
    assert_eq!(connection.http2.request(b"\x82", b"", false, &mut Vec::new()), None);
    assert!(!connection.http2.is_closing());
    connection.feed(&[last_headers(1, OK), last_headers(3, OK)].concat()).unwrap();
    assert_eq!(connection.http2.capacity(), 1);
}

#[test]
fn a_reset_stream_fails_alone_and_a_refused_one_says_so() {
    let mut connection = Connection::ready(3);
    let slots = [(); 3].map(|()| connection.get());
    let input = [rst_stream(1, 2), headers(3, OK), rst_stream(3, 7), last_headers(5, OK), rst_stream(5, 0)];
    let expected = [
        Seen::Reset(slots[0], StreamError::Reset(2)),
        Seen::Reset(slots[1], StreamError::Refused),
        Seen::Complete(slots[2], 200),
    ];
    assert_eq!(connection.outcome(&input), expected);
    assert_eq!(connection.http2.capacity(), 3);
}

#[test]
fn goaway_refuses_the_streams_above_its_last_and_lets_the_others_end() {
    let mut connection = Connection::ready(4);
    let slots = [(); 3].map(|()| connection.get());
    let expected = [Seen::Reset(slots[2], StreamError::Refused)];
    assert_eq!(connection.outcome(&[frame(GOAWAY, 0, 0, b"\0\0\0\x03\0\0\0\0why")]), expected);
    assert!(connection.http2.is_closing());
    assert_eq!((connection.http2.capacity(), connection.http2.under_way()), (0, 2));
    // A second one may lower the last stream.
    let expected = [Seen::Reset(slots[1], StreamError::Refused), Seen::Complete(slots[0], 200)];
    assert_eq!(connection.outcome(&[goaway(1, 0), last_headers(1, OK)]), expected);
    assert_eq!(connection.http2.under_way(), 0);
}

#[test]
fn what_still_comes_for_a_cancelled_request_is_ignored() {
    let mut connection = Connection::ready(2);
    let (slow, other) = (connection.get(), connection.get());
    connection.feed(&[headers(1, OK), frame(DATA, 0, 1, b"hello")[..11].to_vec()].concat()).unwrap();
    connection.sent();
    connection.http2.cancel(slow, &mut connection.out);
    let sent = connection.sent();
    assert_eq!((sent[0].kind, sent[0].stream, sent[0].number(), sent.len()), (RST_STREAM, 1, 8, 1));
    connection.events.clear();
    let next = connection.get();
    assert_eq!(next, slow, "the slot is free at once");
    let input =
        [b"llo".to_vec(), data(1, b"more"), last_headers(1, b"\xbe"), window_update(1, 5), rst_stream(1, 0)];
    assert_eq!(connection.outcome(&input), []);
    let expected = [Seen::Complete(other, 200), Seen::Complete(next, 200)];
    assert_eq!(connection.outcome(&[last_headers(3, OK), last_headers(5, OK)]), expected);
    connection.sent();
    connection.http2.cancel(next, &mut connection.out);
    assert_eq!(connection.sent(), [], "there is nothing to cancel any more");
}

#[test]
fn a_header_block_of_a_stream_cancelled_halfway_is_read_to_its_end() {
    let mut connection = Connection::ready(2);
    let (slow, other) = (connection.get(), connection.get());
    connection.feed(&frame(HEADERS, END_STREAM, 1, b"\x88")).unwrap();
    connection.http2.cancel(slow, &mut connection.out);
    let input = [frame(CONTINUATION, END_HEADERS, 1, b"\x88"), last_headers(3, OK)];
    assert_eq!(connection.outcome(&input), [Seen::Complete(other, 200)]);
}

#[test]
fn after_a_reset_it_is_a_new_connection() {
    let mut connection = Connection::ready(2);
    connection.feed(&settings(&[(MAX_CONCURRENT_STREAMS, 1), (INITIAL_WINDOW_SIZE, 0)])).unwrap();
    connection.request("POST", b"waits");
    connection.feed(&goaway(0, 0)[..12]).unwrap();
    assert!(connection.feed(b"\xff\xff\xff").is_ok());
    connection.http2.reset();
    connection.events.clear();
    connection.out.clear();
    connection.http2.open(&mut connection.out);
    connection.sent();
    assert_eq!((connection.http2.capacity(), connection.http2.is_closing()), (1, false));
    connection.feed(&settings(&[])).unwrap();
    assert_eq!(connection.http2.capacity(), 2);
    assert_eq!(connection.request("POST", b"goes"), 0);
    assert_eq!(connection.sent_kinds()[1..], [(HEADERS, END_HEADERS, 1), (DATA, END_STREAM, 1)]);
    assert_eq!(connection.outcome(&[last_headers(1, OK)]), [Seen::Complete(0, 200)]);
}

#[test]
fn an_error_ends_the_connection_with_goaway_and_is_repeated() {
    let mut connection = Connection::ready(1);
    connection.get();
    connection.sent();
    assert_eq!(connection.feed(&data(0, b"x")), Err(ProtocolError::Stream));
    assert_eq!(connection.sent_kinds(), [(GOAWAY, 0, 0)]);
    assert_eq!((connection.http2.capacity(), connection.http2.is_closing()), (0, true));
    assert_eq!(connection.feed(&last_headers(1, OK)), Err(ProtocolError::Stream));
    assert_eq!(connection.sent(), []);
    connection.http2.reset();
    connection.feed(&settings(&[])).unwrap();
    assert_eq!(connection.http2.capacity(), 1);
}

#[test]
fn there_is_always_room_for_one_request() {
    assert_eq!(Http2::new(0).capacity(), 1);
}
