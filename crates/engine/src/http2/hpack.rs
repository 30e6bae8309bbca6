//! Header blocks of responses (HPACK, RFC 7541) for a decoder that allows no dynamic table, so that a block can be read without
//! anything that came before it and a field costs a look-up in a table of constants.
//!
//! The size 0 holds from the first response on, not only once the peer has acknowledged it. Until it has processed our
//! SETTINGS the peer may assume a table of 4,096 bytes (RFC 9113, sections 4.3.1 and 6.5.2), but it processes frames in the order
//! they come, our SETTINGS come before our first request, and it can't answer a request that it has not processed. Nor does it
//! send header blocks of its own accord, because push is off. An encoder is to announce the smaller size as the first thing in the next block
//! (RFC 7541, section 4.2), which nghttp2, nginx, Go and h2 do; one that never refers to its table, like haproxy's, need
//! not, so the announcement is understood but not demanded. Literals "with indexing", which nginx sends always, are
//! larger than a table of no size and leave it empty (section 4.4).

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
        buffer.clear();
        huffman::decode(self.bytes, buffer)?;
        Ok(buffer)
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
    fn text(&mut self) -> Result<Text<'a>, CompressionError> {
        let huffman = self.rest.first().ok_or(CompressionError)? & 0b1000_0000 != 0;
        let length = self.integer(7)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(CompressionError)?;
        self.rest = rest;
        Ok(Text { bytes, huffman })
    }

    /// An integer with a prefix of so many bits (section 5.1).
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
fn static_field(index: usize) -> Result<(&'static [u8], &'static [u8]), CompressionError> {
    index.checked_sub(1).and_then(|index| STATIC_TABLE.get(index)).copied().ok_or(CompressionError)
}
