//! The head of a request as a field block of HTTP/2 (RFC 7541, RFC 9113 section 8.3).
//!
//! Only representations that leave the dynamic table alone are used, so that the same bytes mean the same on every
//! connection and can be written once.

use super::encode::{Piece, Pieces, append_decimal};
use super::parsed::Parsed;
use super::template::Template;

/// Entries of the static table (RFC 7541, appendix A) that a request can be written with as a whole.
const WHOLE: [(&str, &str, u8); 6] = [
    (":method", "GET", 2),
    (":method", "POST", 3),
    (":path", "/", 4),
    (":path", "/index.html", 5),
    (":scheme", "http", 6),
    (":scheme", "https", 7),
];

/// Entries of the static table whose name is used.
const NAMES: [(&str, usize); 14] = [
    (":authority", 1),
    (":method", 2),
    (":path", 4),
    (":scheme", 6),
    ("accept-encoding", 16),
    ("accept", 19),
    ("authorization", 23),
    ("cache-control", 24),
    ("content-length", 28),
    ("content-type", 31),
    ("cookie", 32),
    ("if-none-match", 41),
    ("referer", 51),
    ("user-agent", 58),
];

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
    if let Some((_, _, index)) = WHOLE.iter().find(|entry| entry.0 == name && entry.1.as_bytes() == fixed) {
        // Indexed header field, section 6.1.
        return head.bytes(&[0x80 | index]);
    }
    let mut bytes = name_of(name);
    append_length(fixed.len(), &mut bytes);
    bytes.extend_from_slice(fixed);
    head.bytes(&bytes);
}

/// The beginning of a literal field without indexing (section 6.2.2), up to its value.
fn name_of(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, index)) => append_integer(4, *index, &mut bytes),
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
    append_integer(7, length, out);
}

/// An integer in the low bits of a byte whose other bits are zero, and the bytes after it (section 5.1).
fn append_integer(prefix_bits: u32, number: usize, out: &mut Vec<u8>) {
    let most = (1 << prefix_bits) - 1;
    if number < most {
        return out.push(number as u8);
    }
    out.push(most as u8);
    let mut left = number - most;
    while left >= 0x80 {
        out.push(0x80 | (left & 0x7f) as u8);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_the_rfc() {
        // RFC 7541, appendix C.1.
        for (bits, number, bytes) in [(5, 10, &[10][..]), (5, 1337, &[31, 154, 10]), (8, 42, &[42])] {
            let mut out = Vec::new();
            append_integer(bits, number, &mut out);
            assert_eq!(out, bytes);
        }
    }

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
