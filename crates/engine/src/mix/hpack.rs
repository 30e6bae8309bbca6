//! The head of a request as a field block of HTTP/2 (RFC 7541, RFC 9113 section 8.3).
//!
//! Only representations that leave the dynamic table alone are used, so that the same bytes mean the same on every
//! connection and can be written once.

use super::encode::{Piece, Pieces, append_decimal};
use super::parsed::Parsed;
use super::template::Template;
use crate::http2::{STATIC_TABLE, append_integer};

/// Pseudo-header fields first, then the request's own with their names in small letters, then the length of the body.
pub fn head(request: &Parsed, scheme: &str) -> Pieces {
    let mut head = Pieces::default();
    field(&mut head, ":method", &Template::literal(request.method.as_bytes()));
    field(&mut head, ":scheme", &Template::literal(scheme.as_bytes()));
    field(&mut head, ":authority", &request.authority);
    field(&mut head, ":path", &request.path);
    for (name, value) in &request.headers {
        field(&mut head, &name.to_ascii_lowercase(), value);
    }
    if request.says_length() {
        match request.body.as_fixed() {
            Some(body) => {
                let mut length = Vec::new();
                append_decimal(body.len(), &mut length);
                field(&mut head, "content-length", &Template::literal(&length));
            }
            None => {
                head.bytes(&name_of("content-length"));
                head.push(Piece::BodyLengthText);
            }
        }
    }
    head
}

fn field(head: &mut Pieces, name: &str, value: &Template) {
    let Some(fixed) = value.as_fixed() else {
        head.bytes(&name_of(name));
        head.push(Piece::Text(value.clone()));
        return;
    };
    let is_whole =
        |entry: &(&[u8], &[u8])| entry.0 == name.as_bytes() && !fixed.is_empty() && entry.1 == fixed;
    if let Some(index) = STATIC_TABLE.iter().position(is_whole) {
        // Indexed header field, section 6.1.
        let mut bytes = Vec::new();
        append_integer(index + 1, 7, 0x80, &mut bytes);
        return head.bytes(&bytes);
    }
    let mut bytes = name_of(name);
    append_length(fixed.len(), &mut bytes);
    bytes.extend_from_slice(fixed);
    head.bytes(&bytes);
}

/// The beginning of a literal field without indexing (section 6.2.2), up to its value.
fn name_of(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match STATIC_TABLE.iter().position(|entry| entry.0 == name.as_bytes()) {
        Some(index) => append_integer(index + 1, 4, 0, &mut bytes),
        None => {
            bytes.push(0);
            append_length(name.len(), &mut bytes);
            bytes.extend_from_slice(name.as_bytes());
        }
    }
    bytes
}

/// The length of a string that is not Huffman-coded (section 5.2).
pub fn append_length(length: usize, out: &mut Vec<u8>) {
    append_integer(length, 7, 0, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_field_is_that_of_the_rfc() {
        // RFC 7541, appendix C.2.2.
        let mut head = Pieces::default();
        field(&mut head, ":path", &Template::literal(b"/sample/path"));
        let mut expected = Pieces::default();
        expected.bytes(b"\x04\x0c/sample/path");
        assert_eq!(format!("{head:?}"), format!("{expected:?}"));
    }
}
