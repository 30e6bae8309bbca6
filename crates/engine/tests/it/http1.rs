//! The response parser against RFC 9112, whole and in pieces.

use loadline_engine::http1::{Progress, ProtocolError, Response, ResponseParser};
use proptest::prelude::*;

fn whole(input: &[u8]) -> Result<Progress, ProtocolError> {
    ResponseParser::default().feed(input, false, None, &mut |_| {})
}

fn complete(status: u16, keep_alive: bool, consumed: usize) -> Result<Progress, ProtocolError> {
    Ok(Progress::Complete(Response { status, keep_alive, consumed }))
}

const SIZED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n";
const INTERIM: &[u8] =
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";

#[test]
fn a_body_ends_by_its_length() {
    assert_eq!(whole(SIZED), complete(200, true, SIZED.len()));
}

#[test]
fn a_chunked_body_ends_after_its_trailers() {
    assert_eq!(whole(CHUNKED), complete(200, true, CHUNKED.len()));
}

#[test]
fn interim_responses_are_skipped() {
    assert_eq!(whole(INTERIM), complete(404, true, INTERIM.len()));
}

#[test]
fn bytes_beyond_the_response_are_not_consumed() {
    let input = [SIZED, b"more"].concat();
    assert_eq!(whole(&input), complete(200, true, SIZED.len()));
}

#[test]
fn neither_head_nor_204_nor_304_has_a_body() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let answer = ResponseParser::default().feed(head, true, None, &mut |_| {});
    assert_eq!(answer, complete(200, true, head.len()));
    for status in [204, 304] {
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(whole(text.as_bytes()), complete(status, true, text.len()));
    }
}

#[test]
fn without_a_length_a_body_lasts_until_the_connection_ends() {
    let mut parser = ResponseParser::default();
    assert_eq!(parser.feed(b"HTTP/1.1 200 OK\r\n\r\nsome", false, None, &mut |_| {}), Ok(Progress::Partial));
    assert_eq!(parser.end(), Some(Response { status: 200, keep_alive: false, consumed: 0 }));
}

#[test]
fn an_end_within_head_or_sized_body_is_no_response() {
    for piece in [&b""[..], b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
        let mut parser = ResponseParser::default();
        assert_eq!(parser.feed(piece, false, None, &mut |_| {}), Ok(Progress::Partial));
        assert_eq!(parser.end(), None);
    }
}

#[test]
fn keep_alive_follows_version_and_connection_header() {
    for (version, connection, keep_alive) in [
        ("1.1", "", true),
        ("1.1", "close", false),
        ("1.0", "", false),
        ("1.0", "Keep-Alive", true),
        ("1.1", "x, CLOSE", false),
    ] {
        let text = format!("HTTP/{version} 200 OK\r\nConnection: {connection}\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(whole(text.as_bytes()), complete(200, keep_alive, text.len()), "{version} {connection}");
    }
}

#[test]
fn what_is_no_response_is_refused() {
    let response = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n").into_bytes();
    let cases = [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec(), ProtocolError::Head),
        (b"HTTP/2.0 200 OK\r\n\r\n".to_vec(), ProtocolError::Head),
        (b"HTTP/1.1 999 OK\r\n\r\n".to_vec(), ProtocolError::Head),
        (response("Content-Length: -1"), ProtocolError::Length),
        (response("Content-Length: 99999999999999999999"), ProtocolError::Length),
        (response("Content-Length: 1\r\nContent-Length: 2"), ProtocolError::Length),
        (response("Content-Length: 1\r\nTransfer-Encoding: chunked"), ProtocolError::Length),
        (b"HTTP/1.1 101 Switching\r\n\r\n".to_vec(), ProtocolError::Upgrade),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n".to_vec(), ProtocolError::Chunk),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab".to_vec(), ProtocolError::Chunk),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".to_vec(),
            ProtocolError::Chunk,
        ),
        (response(&"A: b\r\n".repeat(200)), ProtocolError::HeadTooLong),
    ];
    for (input, error) in cases {
        assert_eq!(whole(&input), Err(error), "{}", String::from_utf8_lossy(&input));
    }
}

#[test]
fn a_head_without_an_end_is_given_up() {
    let mut parser = ResponseParser::default();
    let mut result = parser.feed(b"HTTP/1.1 200 OK\r\nX: ", false, None, &mut |_| {});
    for _ in 0..100 {
        if result.is_err() {
            break;
        }
        result = parser.feed(&[b'y'; 1024], false, None, &mut |_| {});
    }
    assert_eq!(result, Err(ProtocolError::HeadTooLong));
}

fn in_pieces(input: &[u8], cuts: &[usize]) -> Result<Progress, ProtocolError> {
    let mut parser = ResponseParser::default();
    let mut from = 0;
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (input.len() + 1)).collect();
    cuts.push(input.len());
    cuts.sort_unstable();
    for cut in cuts {
        match parser.feed(&input[from..cut], false, None, &mut |_| {})? {
            Progress::Complete(response) => {
                return Ok(Progress::Complete(Response { consumed: from + response.consumed, ..response }));
            }
            Progress::Partial => from = cut,
        }
    }
    Ok(Progress::Partial)
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        which in 0usize..3, extra in proptest::collection::vec(any::<u8>(), 0..8), cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        let input = [[SIZED, CHUNKED, INTERIM][which], &extra].concat();
        prop_assert_eq!(in_pieces(&input, &cuts), whole(&input));
    }

    #[test]
    fn arbitrary_bytes_never_panic(input in proptest::collection::vec(any::<u8>(), 0..400), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        let _ = in_pieces(&input, &cuts);
    }

    #[test]
    fn arbitrary_bytes_after_a_head_never_panic(input in proptest::collection::vec(any::<u8>(), 0..400)) {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let _ = whole(&[head, input.as_slice()].concat());
    }
}
