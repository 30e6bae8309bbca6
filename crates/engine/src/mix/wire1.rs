//! The head of a request as HTTP/1.1 writes it (RFC 9112, section 3).

use super::encode::{Piece, Pieces, append_decimal};
use super::parsed::Parsed;

/// Request line, `Host`, the request's own headers, and the length of the body. With `close` the service is told that
/// the connection carries no further request.
pub fn head(request: &Parsed, close: bool) -> Pieces {
    let mut head = Pieces::default();
    head.bytes(request.method.as_bytes());
    head.bytes(b" ");
    head.template(&request.path);
    head.bytes(b" HTTP/1.1\r\nHost: ");
    head.template(&request.authority);
    head.bytes(b"\r\n");
    // The request's own `Connection` would contradict the engine's.
    let kept = |name: &str| !(close && name.eq_ignore_ascii_case("connection"));
    for (name, value) in request.headers.iter().filter(|(name, _)| kept(name)) {
        head.bytes(name.as_bytes());
        head.bytes(b": ");
        head.template(value);
        head.bytes(b"\r\n");
    }
    if close {
        head.bytes(b"Connection: close\r\n");
    }
    if request.says_length() {
        head.bytes(b"Content-Length: ");
        match request.body.as_fixed() {
            Some(body) => {
                let mut length = Vec::new();
                append_decimal(body.len(), &mut length);
                head.bytes(&length);
            }
            None => head.push(Piece::BodyLength),
        }
        head.bytes(b"\r\n");
    }
    head.bytes(b"\r\n");
    head
}
