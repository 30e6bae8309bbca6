//! The head of a request as a header block that any connection may send any number of times.

use super::hpack::Fields;
use super::static_table::STATIC_TABLE;

/// Fields that concern one connection of HTTP/1.x and have no place in HTTP/2 (RFC 9113, section 8.2.2), and `Host`, which
/// `:authority` stands for (section 8.3.1).
const LEFT_OUT: [&str; 7] = [
    "connection",
    "http2-settings",
    "host",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Encodes the head of a request with references to the static table and plain literals, none of which the peer is to remember:
/// the block depends on nothing that was sent before. `authority` is the host with the port as in a URL, `path` has the query
/// with it, `body_length` becomes `content-length` in place of one among the headers. `CONNECT` is not for this function.
pub fn encode_head(
    method: &str,
    scheme: &str,
    authority: &str,
    path: &str,
    headers: &[(String, String)],
    body_length: Option<usize>,
) -> Vec<u8> {
    let mut block = Vec::new();
    append_field(":method", method, &mut block);
    append_field(":scheme", scheme, &mut block);
    append_field(":authority", authority, &mut block);
    append_field(":path", path, &mut block);
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        let replaced = name == "content-length" && body_length.is_some();
        // The one thing TE may still say.
        let is_other_te = name == "te" && !value.eq_ignore_ascii_case("trailers");
        if !replaced && !is_other_te && !LEFT_OUT.contains(&name.as_str()) {
            append_field(&name, value.trim_matches([' ', '\t']), &mut block);
        }
    }
    if let Some(length) = body_length {
        append_field("content-length", &length.to_string(), &mut block);
    }
    block
}

/// The fields of an encoded head, a line each, for a reader.
pub fn fields_as_lines(head: &[u8]) -> String {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let mut lines = String::new();
    for field in Fields::new(head).map_while(Result::ok) {
        let texts = (field.name.decode(&mut names), field.value.decode(&mut values));
        if let (Ok(name), Ok(value)) = texts {
            lines.push_str(&format!(
                "{}: {}\n",
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(value)
            ));
        }
    }
    lines
}

/// Appends one field by the shortest of the representations that need no dynamic table (RFC 7541, sections 6.1 and 6.2.2).
fn append_field(name: &str, value: &str, block: &mut Vec<u8>) {
    let same_name = |entry: &(&[u8], &[u8])| entry.0 == name.as_bytes();
    let same = |entry: &(&[u8], &[u8])| same_name(entry) && !value.is_empty() && entry.1 == value.as_bytes();
    if let Some(index) = STATIC_TABLE.iter().position(same) {
        append_integer(index + 1, 7, 0b1000_0000, block);
        return;
    }
    match STATIC_TABLE.iter().position(same_name) {
        Some(index) => append_integer(index + 1, 4, 0, block),
        None => {
            append_integer(0, 4, 0, block);
            append_text(name, block);
        }
    }
    append_text(value, block);
}

/// A string without Huffman coding, which would save bytes on the wire but cost the service time (section 5.2).
fn append_text(text: &str, block: &mut Vec<u8>) {
    append_integer(text.len(), 7, 0, block);
    block.extend_from_slice(text.as_bytes());
}

/// An integer behind the bits of `first` that its prefix leaves (section 5.1).
pub fn append_integer(value: usize, prefix_bits: u32, first: u8, block: &mut Vec<u8>) {
    let greatest = (1 << prefix_bits) - 1;
    if value < greatest {
        block.push(first | value as u8);
        return;
    }
    block.push(first | greatest as u8);
    let mut rest = value - greatest;
    while rest >= 0x80 {
        block.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    block.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::hpack::Fields;
    use super::*;

    fn decoded(block: &[u8]) -> Vec<(String, String)> {
        let text = |text: super::super::hpack::Text<'_>| {
            String::from_utf8(text.decode(&mut Vec::new()).unwrap().to_vec()).unwrap()
        };
        Fields::new(block)
            .map(|field| field.unwrap())
            .map(|field| (text(field.name), text(field.value)))
            .collect()
    }

    fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn integers_are_those_of_the_rfc() {
        // RFC 7541, appendix C.1.
        for (bits, number, bytes) in [(5, 10, &[10][..]), (5, 1337, &[31, 154, 10]), (8, 42, &[42])] {
            let mut out = Vec::new();
            append_integer(number, bits, 0, &mut out);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn a_plain_get_is_indexed_but_for_the_authority() {
        // RFC 7541, appendix C.3.1, where the authority is a literal with indexing (0x41).
        let block = encode_head("GET", "http", "www.example.com", "/", &[], None);
        assert_eq!(block, b"\x82\x86\x01\x0fwww.example.com\x84");
    }

    #[test]
    fn names_are_lower_case_and_what_belongs_to_a_connection_is_left_out() {
        let headers = owned(&[
            ("Connection", "keep-alive"),
            ("Keep-Alive", "timeout=5"),
            ("Proxy-Connection", "close"),
            ("Upgrade", "h2c"),
            ("HTTP2-Settings", "AAMAAABk"),
            ("Transfer-Encoding", "chunked"),
            ("TE", "gzip"),
            ("te", "Trailers"),
            ("Host", "other"),
            ("Content-Length", "99"),
            ("Accept-Encoding", "gzip, deflate"),
            ("X-Empty", ""),
            ("Cookie", " a=b "),
        ]);
        let block = encode_head("PUT", "https", "h:1", "/a?b", &headers, Some(12));
        let expected = owned(&[
            (":method", "PUT"),
            (":scheme", "https"),
            (":authority", "h:1"),
            (":path", "/a?b"),
            ("te", "Trailers"),
            ("accept-encoding", "gzip, deflate"),
            ("x-empty", ""),
            ("cookie", "a=b"),
            ("content-length", "12"),
        ]);
        assert_eq!(decoded(&block), expected);
    }

    #[test]
    fn without_a_body_the_caller_may_set_the_length() {
        let block = encode_head("GET", "http", "h", "/", &owned(&[("Content-Length", "0")]), None);
        assert_eq!(decoded(&block).last(), Some(&("content-length".to_owned(), "0".to_owned())));
    }

    proptest! {
        #[test]
        fn any_head_decodes_to_itself(
            path in "/[!-~]{0,300}",
            fields in prop::collection::vec(("x-[a-z0-9-]{1,200}", "[!-~]([ -~]{0,40}[!-~])?"), 0..10),
        ) {
            let block = encode_head("GET", "http", "host", &path, &fields, None);
            let plain = owned(&[(":method", "GET"), (":scheme", "http"), (":authority", "host"), (":path", &path)]);
            prop_assert_eq!(decoded(&block), [plain, fields].concat());
        }
    }
}
