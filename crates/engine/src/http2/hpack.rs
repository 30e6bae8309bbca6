//! Header blocks of responses (HPACK, RFC 7541) for a decoder that allows no dynamic table, so that a block can be read without
//! anything that came before it and a field costs a look-up in a table of constants.
//!
//! The size 0 holds from the first response on, not only once the peer has acknowledged it. Until it has processed our
//! SETTINGS the peer may assume a table of 4,096 bytes (RFC 9113, sections 4.3.1 and 6.5.2), but it processes frames in the order
//! they come, our SETTINGS come before our first request, and it can't answer a request that it has not processed. Nor does it
//! send header blocks of its own accord, because push is off. An encoder is to announce the smaller size as the first thing in the next block
//! (RFC 7541, section 4.2), as nginx, haproxy, Caddy and Go do in the first block that they send. One that never refers to its
//! table could do without, so the announcement is understood but not demanded. Literals "with indexing", which nginx
//! always sends, are larger than a table of no size and leave it empty (section 4.4).

use super::huffman;
use super::static_table::STATIC_TABLE;

/// A header block, or a string in it, can't be decoded. It ends the connection (RFC 9113, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionError;

/// A name or a value as it stands in the block: decoded only where someone wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    bytes: &'a [u8],
    huffman: bool,
}

impl<'a> Text<'a> {
    fn plain(bytes: &'a [u8]) -> Text<'a> {
        Text { bytes, huffman: false }
    }

    /// The text itself, by way of `buffer` when it is Huffman-coded.
    pub fn decode<'b>(&self, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], CompressionError>
    where
        'a: 'b,
    {
        if !self.huffman {
            return Ok(self.bytes);
        }
        let length = huffman::decode(self.bytes, buffer)?;
        Ok(&buffer[..length])
    }
}

/// One field of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    pub name: Text<'a>,
    pub value: Text<'a>,
    /// Number of the name in the static table; 0 when the block spells it.
    pub name_index: usize,
}

/// The fields of a block, one after another. The first error says that the rest can't be read either.
#[derive(Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    /// Table sizes may be announced only before the first field (RFC 7541, section 4.2).
    at_start: bool,
}

impl<'a> Fields<'a> {
    pub fn new(block: &'a [u8]) -> Fields<'a> {
        Fields { rest: block, at_start: true }
    }

    /// By the representations of RFC 7541, section 6.
    #[inline]
    fn field(&mut self, first: u8) -> Result<Field<'a>, CompressionError> {
        if first & 0b1000_0000 != 0 {
            let index = self.integer(7)?;
            let (name, value) = static_field(index)?;
            return Ok(Field { name: Text::plain(name), value: Text::plain(value), name_index: index });
        }
        let index_bits = if first & 0b0100_0000 != 0 { 6 } else { 4 };
        let name_index = self.integer(index_bits)?;
        let name = if name_index == 0 { self.text()? } else { Text::plain(static_field(name_index)?.0) };
        Ok(Field { name, value: self.text()?, name_index })
    }

    /// A string literal (section 5.2).
    #[inline]
    fn text(&mut self) -> Result<Text<'a>, CompressionError> {
        let huffman = self.rest.first().ok_or(CompressionError)? & 0b1000_0000 != 0;
        let length = self.integer(7)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(CompressionError)?;
        self.rest = rest;
        Ok(Text { bytes, huffman })
    }

    /// An integer with a prefix of so many bits (section 5.1).
    #[inline]
    fn integer(&mut self, prefix_bits: u32) -> Result<usize, CompressionError> {
        let (first, mut rest) = self.rest.split_first().ok_or(CompressionError)?;
        let greatest = (1 << prefix_bits) - 1;
        let mut value = usize::from(*first) & greatest;
        if value == greatest {
            let mut shift = 0;
            loop {
                let (byte, after) = rest.split_first().ok_or(CompressionError)?;
                rest = after;
                value += usize::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
                shift += 7;
                // Three bytes reach 2^21, far beyond the longest block.
                if shift > 14 {
                    return Err(CompressionError);
                }
            }
        }
        self.rest = rest;
        Ok(value)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, CompressionError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let first = *self.rest.first()?;
            if first & 0b1110_0000 != 0b0010_0000 {
                self.at_start = false;
                return Some(self.field(first));
            }
            // A new size of the dynamic table, which may not exceed what our SETTINGS allow (section 6.3).
            if !self.at_start || self.integer(5) != Ok(0) {
                return Some(Err(CompressionError));
            }
        }
    }
}

/// The field of that number in the static table; there is no other table.
#[inline]
fn static_field(index: usize) -> Result<(&'static [u8], &'static [u8]), CompressionError> {
    index.checked_sub(1).and_then(|index| STATIC_TABLE.get(index)).copied().ok_or(CompressionError)
}

#[cfg(test)]
mod tests {
    use super::super::huffman::tests::{bytes, encode};
    use super::*;

    type Owned = Vec<(Vec<u8>, Vec<u8>)>;

    fn decoded(block: &[u8]) -> Result<Owned, CompressionError> {
        let mut buffer = Vec::new();
        let mut text = |text: Text<'_>| text.decode(&mut buffer).map(<[u8]>::to_vec);
        Fields::new(block)
            .map(|field| field.and_then(|field| Ok((text(field.name)?, text(field.value)?))))
            .collect()
    }

    fn owned(fields: &[(&str, &str)]) -> Owned {
        fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn the_first_responses_of_the_rfc_decode() {
        // RFC 7541, appendices C.5.1 and C.6.1.
        let expected = owned(&[
            (":status", "302"),
            ("cache-control", "private"),
            ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ]);
        let plain =
            b"\x48\x03302\x58\x07private\x61\x1dMon, 21 Oct 2013 20:13:21 GMT\x6e\x17https://www.example.com";
        assert_eq!(decoded(plain), Ok(expected.clone()));
        let huffman = bytes(
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
             8f0b 97c8 e9ae 82ae 43d3",
        );
        assert_eq!(decoded(&huffman), Ok(expected));
    }

    #[test]
    fn another_implementation_s_blocks_for_an_empty_table_decode() {
        // Made with the Python package hpack 4.2.0, header_table_size = 0.
        let expected = owned(&[
            (":status", "206"),
            ("server", "nginx/1.22.1"),
            ("x-request-id", "A%7f~\"{}"),
            ("content-length", "1048576"),
            ("etag", "\"5f-é\""),
            ("x-empty", ""),
        ]);
        let huffman = "208a7689aa6355e580ae212e1f4089f2b585ed6950958d278a855765ffeff3fffbffdf5c85081a79b75c628afe5b956fffe3
             fffeeff34086f2b169ad3ebf80";
        let plain = "208a760c6e67696e782f312e32322e31400c782d726571756573742d696408412537667e227b7d5c07313034383537366207
             2235662dc3a9224007782d656d70747900";
        assert_eq!(decoded(&bytes(huffman)), Ok(expected.clone()));
        assert_eq!(decoded(&bytes(plain)), Ok(expected));
    }

    #[test]
    fn all_literals_are_understood_whether_indexed_or_not() {
        for (first, name) in [(0x40, &b"\x05x-one"[..]), (0x00, b"\x05x-one"), (0x10, b"\x05x-one")] {
            let block = [&[first][..], name, b"\x01v"].concat();
            assert_eq!(decoded(&block), Ok(owned(&[("x-one", "v")])));
        }
        // `server` is number 54: six bits hold it, four need a second byte.
        for block in [&b"\x76\x01v"[..], b"\x0f\x27\x01v", b"\x1f\x27\x01v"] {
            assert_eq!(decoded(block), Ok(owned(&[("server", "v")])));
        }
        let name = encode(b"x-two");
        let block = [&[0x00, 0x80 | name.len() as u8][..], &name, b"\x00"].concat();
        assert_eq!(decoded(&block), Ok(owned(&[("x-two", "")])));
    }

    #[test]
    fn there_is_no_field_beyond_the_static_table() {
        assert_eq!(decoded(b"\xbd"), Ok(owned(&[("www-authenticate", "")])));
        for block in [&b"\x80"[..], b"\xbe", b"\x7f\x00\x01v", b"\x0f\x2f\x01v", b"\x40\x01a\x01b\xbe"] {
            assert_eq!(decoded(block), Err(CompressionError), "{block:02x?}");
        }
    }

    #[test]
    fn a_table_size_is_announced_first_and_is_nought() {
        assert_eq!(decoded(b"\x20\x20\x88"), Ok(owned(&[(":status", "200")])));
        for block in [&b"\x21\x88"[..], b"\x3f\xe1\x1f\x88", b"\x88\x20"] {
            assert_eq!(decoded(block), Err(CompressionError), "{block:02x?}");
        }
    }

    #[test]
    fn cut_off_and_endless_integers_and_strings_are_errors() {
        for block in [
            &b"\xff"[..],
            b"\xff\x80",
            b"\xff\x80\x80\x80\x80\x00",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x40",
            b"\x40\x05abc",
            b"\x40\x01a",
            b"\x76\x7f\xff\xff\x7f",
            b"\x76\x81\x00",
        ] {
            assert_eq!(decoded(block), Err(CompressionError), "{block:02x?}");
        }
    }
}
