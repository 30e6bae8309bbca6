//! Flow control in both directions, and requests that are larger than a frame (RFC 9113, sections 5.2 and 6.9).

use loadline_engine::http2::{ProtocolError, StreamError, encode_head};

use super::peer::*;

/// The bytes of DATA per stream among the frames, and which streams were ended.
fn body_bytes(sent: &[Sent], stream: u32) -> (usize, bool) {
    let frames = sent.iter().filter(|frame| frame.kind == DATA && frame.stream == stream);
    frames.fold((0, false), |(sum, _), frame| (sum + frame.payload.len(), frame.flags & END_STREAM != 0))
}

#[test]
fn a_body_waits_for_the_connections_window_and_the_streams_own() {
    let mut connection = Connection::ready(1);
    let body: Vec<u8> = (0..100_000_u32).map(|index| (index % 251) as u8).collect();
    connection.request("POST", &body);
    let mut sent = connection.sent();
    assert_eq!(sent[0].flags, END_HEADERS);
    assert!(sent[1..].iter().all(|frame| frame.payload.len() <= 16_384));
    assert_eq!(body_bytes(&sent, 1), (65_535, false));
    connection.feed(&window_update(0, 50_000)).unwrap();
    assert_eq!(connection.sent(), [], "the stream's window is still shut");
    connection.feed(&window_update(1, 10)).unwrap();
    sent.extend(connection.sent());
    assert_eq!(body_bytes(&sent, 1), (65_545, false));
    connection.feed(&window_update(1, 1 << 20)).unwrap();
    sent.extend(connection.sent());
    assert_eq!(body_bytes(&sent, 1), (100_000, true));
    let whole: Vec<u8> = sent[1..].iter().flat_map(|frame| frame.payload.clone()).collect();
    assert_eq!(whole, body);
    assert_eq!(connection.outcome(&[last_headers(1, OK)]), [Seen::Complete(0, 200)]);
    assert_eq!(connection.sent(), []);
}

#[test]
fn a_changed_initial_window_applies_to_open_streams_and_can_make_their_windows_negative() {
    let mut connection = Connection::ready(2);
    connection.feed(&[settings(&[(INITIAL_WINDOW_SIZE, 100)]), window_update(0, 1 << 20)].concat()).unwrap();
    connection.request("POST", &[7; 1000]);
    assert_eq!(body_bytes(&connection.sent(), 1), (100, false));
    // 100 of 30 bytes are used: the window is -70.
    connection.feed(&settings(&[(INITIAL_WINDOW_SIZE, 30)])).unwrap();
    connection.feed(&window_update(1, 70)).unwrap();
    assert_eq!(body_bytes(&connection.sent(), 1), (0, false));
    connection.feed(&window_update(1, 1)).unwrap();
    assert_eq!(body_bytes(&connection.sent(), 1), (1, false));
    connection.feed(&settings(&[(INITIAL_WINDOW_SIZE, 40)])).unwrap();
    assert_eq!(body_bytes(&connection.sent(), 1), (10, false));
    connection.request("POST", &[7; 1000]);
    assert_eq!(body_bytes(&connection.sent(), 3), (40, false), "the new stream has the new window");
}

#[test]
fn bodies_share_the_connections_window_first_come_first() {
    let mut connection = Connection::ready(3);
    connection.feed(&settings(&[(INITIAL_WINDOW_SIZE, 1 << 20)])).unwrap();
    for _ in 0..3 {
        connection.request("PUT", &[1; 40_000]);
    }
    let sent = connection.sent();
    let shares = [1, 3, 5].map(|stream| body_bytes(&sent, stream).0);
    assert_eq!(shares, [40_000, 25_535, 0]);
    connection.feed(&window_update(0, 20_000)).unwrap();
    let sent = connection.sent();
    assert_eq!(
        [1, 3, 5].map(|stream| body_bytes(&sent, stream)),
        [(0, false), (14_465, true), (5_535, false)]
    );
}

#[test]
fn what_a_body_waits_for_ends_with_its_stream() {
    for end in [rst_stream(1, 5), goaway(0, 0)] {
        let mut connection = Connection::ready(2);
        connection.request("POST", &[0; 100_000]);
        connection.feed(&end).unwrap();
        connection.sent();
        connection.feed(&[window_update(0, 1 << 20), window_update(1, 1 << 20)].concat()).unwrap();
        assert_eq!(connection.sent(), []);
    }
    let mut connection = Connection::ready(2);
    connection.request("POST", &[0; 100_000]);
    connection.http2.cancel(0, &mut connection.out);
    connection.get();
    connection.sent();
    connection.feed(&window_update(0, 1 << 20)).unwrap();
    assert_eq!(connection.sent(), []);
}

#[test]
fn an_answer_before_the_whole_request_ends_the_sending() {
    let mut connection = Connection::ready(1);
    connection.request("POST", &[0; 100_000]);
    connection.sent();
    let refusal = last_headers(1, &block("413", &[]));
    assert_eq!(connection.outcome(&[refusal, rst_stream(1, 0)]), [Seen::Complete(0, 413)]);
    let sent = connection.sent();
    assert_eq!((sent[0].kind, sent[0].stream, sent[0].number(), sent.len()), (RST_STREAM, 1, 0, 1));
}

#[test]
fn the_peers_frame_size_is_used_for_heads_and_bodies() {
    let mut connection = Connection::ready(2);
    let cookie = ("cookie".to_owned(), "c".repeat(40_000));
    let head = encode_head("POST", "http", "localhost", "/", &[cookie], Some(60_000));
    connection.http2.request(&head, &[1; 60_000], false, &mut connection.out).unwrap();
    let sent = connection.sent();
    let shape: Vec<_> = sent.iter().map(|frame| (frame.kind, frame.flags, frame.payload.len())).collect();
    let last = head.len() + 1 - 2 * 16_384;
    assert_eq!(
        shape,
        [
            (HEADERS, 0, 16_384),
            (CONTINUATION, 0, 16_384),
            (CONTINUATION, END_HEADERS, last),
            (DATA, 0, 16_384),
            (DATA, 0, 16_384),
            (DATA, 0, 16_384),
            (DATA, END_STREAM, 60_000 - 3 * 16_384),
        ]
    );
    let joined: Vec<u8> = sent[..3].iter().flat_map(|frame| frame.payload.clone()).collect();
    assert_eq!(joined[0], 0x20);
    assert_eq!(joined[1..], head);
    connection.feed(&[settings(&[(MAX_FRAME_SIZE, 50_000)]), window_update(0, 1 << 20)].concat()).unwrap();
    connection.sent();
    connection.http2.request(&head, &[1; 60_000], false, &mut connection.out).unwrap();
    let lengths: Vec<_> = connection.sent().iter().map(|frame| (frame.kind, frame.payload.len())).collect();
    assert_eq!(lengths, [(HEADERS, head.len()), (DATA, 50_000), (DATA, 10_000)]);
}

#[test]
fn windows_may_not_grow_beyond_31_bits() {
    let largest = 0x7fff_ffff;
    for input in [
        window_update(0, largest),
        window_update(0, 0),
        settings(&[(INITIAL_WINDOW_SIZE, largest + 1)]),
        [window_update(1, largest - 65_535), settings(&[(INITIAL_WINDOW_SIZE, 65_536)])].concat(),
    ] {
        let mut connection = Connection::ready(1);
        connection.get();
        assert_eq!(connection.feed(&input), Err(ProtocolError::FlowControl));
    }
    for increment in [0, largest] {
        let mut connection = Connection::ready(2);
        connection.get();
        connection.get();
        let expected = [Seen::Reset(0, StreamError::FlowControl), Seen::Complete(1, 200)];
        assert_eq!(connection.outcome(&[window_update(1, increment), last_headers(3, OK)]), expected);
    }
}

#[test]
fn our_own_windows_are_opened_again_when_half_used() {
    let mut connection = Connection::ready(2);
    connection.get();
    connection.feed(&headers(1, OK)).unwrap();
    connection.sent();
    let piece = data(1, &[0; 16_384]);
    let mut fed = 0_u32;
    while connection.out.is_empty() {
        connection.feed(&piece).unwrap();
        connection.events.clear();
        fed += 16_384;
    }
    assert_eq!(fed, 1 << 30);
    let sent = connection.sent();
    let updates: Vec<_> = sent.iter().map(|frame| (frame.kind, frame.stream, frame.number())).collect();
    assert_eq!(updates, [(WINDOW_UPDATE, 0, fed), (WINDOW_UPDATE, 1, fed)]);
}
