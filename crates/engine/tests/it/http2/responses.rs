//! What becomes of a response: heads, bodies, trailers, and what is malformed about them (RFC 9113, section 8.1).

use loadline_engine::http2::StreamError;

use super::peer::*;

#[test]
fn a_response_is_its_fields_its_body_and_its_end() {
    let mut connection = Connection::ready(2);
    assert_eq!(connection.get(), 0);
    let head = block("200", &[("content-length", "5"), ("server", "x")]);
    connection.feed(&[headers(1, &head), data(1, b"hel"), last_data(1, b"lo")].concat()).unwrap();
    let header = |name: &str, value: &str| Seen::Header(0, name.to_owned(), value.to_owned());
    assert_eq!(
        connection.events,
        [
            header(":status", "200"),
            header("content-length", "5"),
            header("server", "x"),
            Seen::Body(0, b"hello".to_vec()),
            Seen::Complete(0, 200),
        ]
    );
    assert_eq!(connection.http2.under_way(), 0);
}

#[test]
fn a_head_can_be_all_of_a_response() {
    let mut connection = Connection::ready(1);
    connection.get();
    assert_eq!(connection.outcome(&[last_headers(1, &block("503", &[]))]), [Seen::Complete(0, 503)]);
}

#[test]
fn responses_come_in_any_order_and_interleaved() {
    let mut connection = Connection::ready(3);
    assert_eq!([(); 3].map(|()| connection.get()), [0, 1, 2]);
    let input = [
        headers(5, OK),
        headers(1, OK),
        data(1, b"a"),
        data(5, b"b"),
        last_headers(3, OK),
        last_data(1, b"c"),
        last_data(5, b""),
    ];
    let body = |slot, bytes: &[u8]| Seen::Body(slot, bytes.to_vec());
    let ends = [1, 0, 2].map(|slot| Seen::Complete(slot, 200));
    let [second, first, third] = ends;
    let expected = [body(0, b"a"), body(2, b"b"), second, body(0, b"c"), first, third];
    assert_eq!(connection.outcome(&input), expected);
}

#[test]
fn a_slot_serves_one_request_after_another() {
    let mut connection = Connection::ready(1);
    for id in (1..20).step_by(2) {
        assert_eq!(connection.get(), 0);
        assert_eq!(connection.http2.capacity(), 0);
        assert_eq!(connection.outcome(&[last_headers(id, OK)]), [Seen::Complete(0, 200)]);
    }
}

#[test]
fn interim_heads_are_skipped() {
    let mut connection = Connection::ready(1);
    connection.get();
    let input =
        [headers(1, &block("103", &[("link", "</a>")])), headers(1, &block("100", &[])), last_headers(1, OK)];
    connection.feed(&input.concat()).unwrap();
    assert_eq!(
        connection.events,
        [Seen::Header(0, ":status".to_owned(), "200".to_owned()), Seen::Complete(0, 200)]
    );
}

#[test]
fn trailers_end_a_response_and_are_no_headers() {
    let mut connection = Connection::ready(1);
    connection.get();
    let trailers = field("grpc-status", "0");
    connection.feed(&[headers(1, OK), data(1, b"x"), last_headers(1, &trailers)].concat()).unwrap();
    assert_eq!(connection.events[1..], [Seen::Body(0, b"x".to_vec()), Seen::Complete(0, 200)]);
}

#[test]
fn neither_head_nor_204_nor_304_has_a_body_whatever_the_length_says() {
    for (method, status) in [("HEAD", "200"), ("GET", "204"), ("GET", "304")] {
        let head = block(status, &[("content-length", "5")]);
        let expected = Seen::Complete(0, status.parse().unwrap());
        for input in [vec![last_headers(1, &head)], vec![headers(1, &head), last_data(1, b"")]] {
            let mut connection = Connection::ready(1);
            connection.request(method, b"");
            assert_eq!(connection.outcome(&input), std::slice::from_ref(&expected));
        }
        let mut connection = Connection::ready(1);
        connection.request(method, b"");
        let malformed = [Seen::Reset(0, StreamError::Malformed)];
        assert_eq!(connection.outcome(&[headers(1, &head), last_data(1, b"hello")]), malformed);
    }
}

#[test]
fn padding_and_priority_are_no_part_of_a_response() {
    let mut connection = Connection::ready(1);
    connection.get();
    let padded_head = [&[3][..], &[0, 0, 0, 0, 16], OK, &[0; 3]].concat();
    let input = [
        frame(HEADERS, END_HEADERS | PADDED | WITH_PRIORITY, 1, &padded_head),
        frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1]),
        frame(DATA, PADDED, 1, b"\x02hi\0\0"),
        frame(DATA, PADDED, 1, b"\x00 you"),
        frame(DATA, PADDED | END_STREAM, 1, b"\x04\0\0\0\0"),
    ];
    assert_eq!(connection.outcome(&input), [Seen::Body(0, b"hi you".to_vec()), Seen::Complete(0, 200)]);
}

#[test]
fn a_head_may_come_in_many_frames() {
    let mut connection = Connection::ready(1);
    connection.get();
    let block = block("404", &[("x-long", &"v".repeat(100))]);
    let mut input = vec![frame(HEADERS, END_STREAM, 1, &block[..1])];
    input.extend(block[1..].chunks(7).map(|piece| frame(CONTINUATION, 0, 1, piece)));
    input.push(frame(CONTINUATION, END_HEADERS, 1, b""));
    assert_eq!(connection.outcome(&input), [Seen::Complete(0, 404)]);
}

#[test]
fn unknown_frames_and_unknown_flags_are_ignored() {
    let mut connection = Connection::ready(1);
    connection.get();
    let input = [
        frame(0x42, 0xff, 77, b"whatever"),
        frame(0x0c, 0, 0, b""),
        frame(HEADERS, END_HEADERS | 0xd2 & !PADDED, 1, OK),
        frame(DATA, END_STREAM | 0xf6, 1, b"x"),
    ];
    assert_eq!(connection.outcome(&input), [Seen::Body(0, b"x".to_vec()), Seen::Complete(0, 200)]);
}

#[test]
fn a_body_of_another_length_than_announced_fails_its_stream_alone() {
    let announced = block("200", &[("content-length", "5")]);
    for (body, extra) in [(&b"1234"[..], &b""[..]), (b"123456", b""), (b"12345", b"6"), (b"", b"")] {
        let mut connection = Connection::ready(2);
        connection.get();
        connection.get();
        let input =
            [headers(1, &announced), data(1, body), data(1, extra), last_data(1, b""), last_headers(3, OK)];
        let mut outcome = connection.outcome(&input);
        outcome.retain(|event| !matches!(event, Seen::Body(..)));
        assert_eq!(outcome, [Seen::Reset(0, StreamError::Length), Seen::Complete(1, 200)]);
        assert_eq!(connection.sent_kinds().last(), Some(&(RST_STREAM, 0, 1)));
    }
}

#[test]
fn malformed_heads_fail_their_stream_alone() {
    let status = |status: &str| block(status, &[]);
    let with = |name: &str, value: &str| block("200", &[(name, value)]);
    for (head, reason) in [
        (field("server", "x"), StreamError::Malformed),
        (vec![], StreamError::Malformed),
        (status("20"), StreamError::Malformed),
        (status("2000"), StreamError::Malformed),
        (status("2x0"), StreamError::Malformed),
        (status("099"), StreamError::Malformed),
        (status("600"), StreamError::Malformed),
        (status("101"), StreamError::Malformed),
        (status("100"), StreamError::Malformed),
        (with(":status", "200"), StreamError::Malformed),
        (b"\x88\x88".to_vec(), StreamError::Malformed),
        (with(":path", "/"), StreamError::Malformed),
        (with("Server", "x"), StreamError::Malformed),
        (with("", "x"), StreamError::Malformed),
        (with("a b", "x"), StreamError::Malformed),
        (with("a:b", "x"), StreamError::Malformed),
        (with("connection", "close"), StreamError::Malformed),
        (with("transfer-encoding", "chunked"), StreamError::Malformed),
        // `transfer-encoding` by its number in the static table.
        (b"\x88\x0f\x2a\x07chunked".to_vec(), StreamError::Malformed),
        (with("x-split", "a\r\nb"), StreamError::Malformed),
        (with("content-length", ""), StreamError::Length),
        (with("content-length", "+5"), StreamError::Length),
        (with("content-length", "5, 5"), StreamError::Length),
        (with("content-length", "99999999999999999999"), StreamError::Length),
        (block("200", &[("content-length", "5"), ("content-length", "6")]), StreamError::Length),
    ] {
        let mut connection = Connection::ready(2);
        connection.get();
        connection.get();
        let outcome = connection.outcome(&[last_headers(1, &head), last_headers(3, OK)]);
        assert_eq!(outcome, [Seen::Reset(0, reason), Seen::Complete(1, 200)], "{head:?}");
        assert_eq!(connection.sent_kinds().last(), Some(&(RST_STREAM, 0, 1)));
    }
}

#[test]
fn a_body_before_its_head_and_a_second_head_are_malformed() {
    for input in [
        vec![data(1, b"x"), last_headers(1, OK)],
        vec![last_data(1, b"")],
        vec![headers(1, OK), headers(1, OK), last_data(1, b"")],
        vec![headers(1, OK), last_headers(1, OK)],
        vec![headers(1, &block("100", &[])), last_data(1, b"")],
    ] {
        let mut connection = Connection::ready(1);
        connection.get();
        assert_eq!(connection.outcome(&input), [Seen::Reset(0, StreamError::Malformed)]);
    }
}

#[test]
fn without_headers_the_length_still_counts_and_values_are_not_looked_at() {
    let mut connection = Connection::ready(2);
    connection.http2 =
        std::mem::replace(&mut connection.http2, loadline_engine::http2::Http2::new(1)).without_headers();
    connection.get();
    connection.get();
    // The value of `x` is Huffman-coded with padding of zeros.
    let head = [&block("200", &[("content-length", "1")])[..], b"\x00\x01x\x81\x00"].concat();
    connection
        .feed(&[headers(1, &head), last_data(1, b"1"), headers(3, &head), last_data(3, b"12")].concat())
        .unwrap();
    assert_eq!(
        connection.events,
        [Seen::Body(0, b"1".to_vec()), Seen::Complete(0, 200), Seen::Reset(1, StreamError::Length)]
    );
}
