//! What no correct server sends: each ends in its error, at once, and in nothing else.

use loadline_engine::http2::ProtocolError;

use super::peer::*;

/// The error that `input` ends a connection with one request under way (stream 1) and one complete (stream 3) in.
fn error_of(input: &[u8]) -> ProtocolError {
    let mut connection = Connection::ready(4);
    connection.get();
    connection.get();
    connection.feed(&last_headers(3, OK)).unwrap();
    connection.feed(input).unwrap_err()
}

#[test]
fn what_does_not_begin_with_settings_is_not_http2() {
    for input in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        &frame(PING, 0, 0, b"12345678"),
        &frame(SETTINGS, ACK, 0, b""),
        &frame(GOAWAY, 0, 0, &[0; 8]),
        &[0xff; 9],
    ] {
        assert_eq!(Connection::fresh(1).feed(input), Err(ProtocolError::NotHttp2));
    }
}

#[test]
fn frames_of_a_wrong_length_are_refused_at_their_head() {
    for (kind, flags, stream, length) in [
        (DATA, 0, 1, 16_385),
        (HEADERS, 0, 1, 16_385),
        (0x42, 0, 0, 0xff_ffff),
        (PRIORITY, 0, 1, 4),
        (RST_STREAM, 0, 1, 5),
        (SETTINGS, 0, 0, 7),
        (SETTINGS, ACK, 0, 6),
        (PING, 0, 0, 7),
        (GOAWAY, 0, 0, 7),
        (WINDOW_UPDATE, 0, 1, 3),
        (WINDOW_UPDATE, 0, 0, 5),
        (DATA, PADDED, 1, 0),
    ] {
        let whole = frame(kind, flags, stream, &vec![0; length]);
        assert_eq!(error_of(&whole[..9]), ProtocolError::FrameSize, "kind {kind}, {length} bytes");
    }
    assert_eq!(error_of(&frame(HEADERS, END_HEADERS | PADDED, 1, b"")), ProtocolError::FrameSize);
    assert_eq!(
        error_of(&frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, b"\0\0\0\0")),
        ProtocolError::FrameSize
    );
}

#[test]
fn padding_may_not_be_longer_than_the_frame() {
    assert_eq!(error_of(&frame(DATA, PADDED, 1, b"\x04abc")), ProtocolError::Padding);
    assert_eq!(error_of(&frame(HEADERS, END_HEADERS | PADDED, 1, b"\x02\x88")), ProtocolError::Padding);
}

#[test]
fn frames_on_streams_that_cannot_have_them_are_errors() {
    for input in [
        data(0, b"x"),
        headers(0, OK),
        frame(PRIORITY, 0, 0, &[0; 5]),
        rst_stream(0, 1),
        frame(SETTINGS, 0, 1, b""),
        frame(PING, 0, 1, &[0; 8]),
        frame(GOAWAY, 0, 1, &[0; 8]),
        // Streams that were never opened, or that only a server could open.
        data(5, b"x"),
        headers(5, OK),
        rst_stream(5, 1),
        window_update(5, 1),
        headers(2, OK),
        // The response of stream 3 is complete.
        data(3, b"x"),
        headers(3, OK),
    ] {
        assert_eq!(error_of(&input), ProtocolError::Stream, "{input:?}");
    }
}

#[test]
fn nothing_may_interrupt_a_header_block() {
    let begun = frame(HEADERS, 0, 1, OK);
    for next in [
        data(1, b"x"),
        headers(1, OK),
        frame(PING, 0, 0, &[0; 8]),
        frame(0x42, 0, 0, b""),
        frame(CONTINUATION, END_HEADERS, 5, b""),
    ] {
        assert_eq!(error_of(&[&begun[..], &next].concat()), ProtocolError::Continuation);
    }
    assert_eq!(error_of(&frame(CONTINUATION, END_HEADERS, 1, OK)), ProtocolError::Continuation);
}

#[test]
fn a_header_block_that_refers_to_a_dynamic_table_cannot_be_decompressed() {
    for block in [&b"\x88\xbe"[..], b"\x3f\xe1\x1f\x88", b"\x88\x80", b"\x88\x40\x7f"] {
        assert_eq!(error_of(&headers(1, block)), ProtocolError::Compression);
    }
}

#[test]
fn endless_heads_are_cut_off() {
    let piece = field("x-more", &"m".repeat(100)).repeat(100);
    let mut input = frame(HEADERS, 0, 1, OK);
    for _ in 0..7 {
        input.extend(frame(CONTINUATION, 0, 1, &piece));
    }
    assert_eq!(error_of(&input), ProtocolError::HeadTooLong);
}

#[test]
fn settings_out_of_range_are_errors() {
    for (id, value) in [(2, 1), (2, 2), (MAX_FRAME_SIZE, 16_383), (MAX_FRAME_SIZE, 1 << 24)] {
        assert_eq!(error_of(&settings(&[(id, value)])), ProtocolError::Setting);
    }
}

#[test]
fn a_push_is_an_error() {
    assert_eq!(error_of(&frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\x02\x82")), ProtocolError::Push);
}

#[test]
fn floods_of_frames_that_say_nothing_end() {
    for idle in [
        frame(SETTINGS, 0, 0, b""),
        frame(SETTINGS, ACK, 0, b""),
        frame(PING, 0, 0, &[0; 8]),
        frame(PING, ACK, 0, &[0; 8]),
        frame(PRIORITY, 0, 9, &[0; 5]),
        frame(0x42, 0, 0, b""),
        goaway(1, 0),
        headers(1, &block("103", &[])),
    ] {
        assert_eq!(error_of(&idle.repeat(10_001)), ProtocolError::Flood, "{idle:?}");
    }
    let empty_data = [headers(1, OK), data(1, b"").repeat(10_001)].concat();
    assert_eq!(error_of(&empty_data), ProtocolError::Flood);
    let empty_continuation =
        [frame(HEADERS, 0, 1, OK), frame(CONTINUATION, 0, 1, b"").repeat(10_001)].concat();
    assert_eq!(error_of(&empty_continuation), ProtocolError::Flood);
}

#[test]
fn idle_frames_between_pieces_of_a_body_are_no_flood() {
    let mut connection = Connection::ready(1);
    connection.get();
    connection.feed(&headers(1, OK)).unwrap();
    for _ in 0..5 {
        connection.feed(&[frame(PING, ACK, 0, &[0; 8]).repeat(9_000), data(1, b"x")].concat()).unwrap();
    }
    assert_eq!(connection.outcome(&[last_data(1, b"")]).last(), Some(&Seen::Complete(0, 200)));
}
