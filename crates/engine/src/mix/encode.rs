//! From a checked request to bytes: written once where it is the same every time, else a list of pieces that a row fills.

use std::sync::Arc;

use super::Wire;
use super::feed::Column;
use super::parsed::Parsed;
use super::template::{Part, Template};
use super::{hpack, wire1};

/// A request ready to be written.
#[derive(Debug)]
pub enum Encoded {
    /// Head and body end to end; the head's length.
    Fixed { bytes: Vec<u8>, head: usize },
    /// What every row fills anew.
    Filled { head: Vec<Piece>, body: Template },
}

/// One piece of a head that depends on the row.
#[derive(Debug)]
pub enum Piece {
    Bytes(Vec<u8>),
    Column(Arc<Column>),
    /// Of HTTP/2: a template after its own length.
    Text(Template),
    /// The length of the body in decimal.
    BodyLength,
    /// Of HTTP/2: the same after its own length.
    BodyLengthText,
}

impl Encoded {
    pub fn new(request: &Parsed, wire: Wire, scheme: &str, close: bool) -> Encoded {
        let head = match wire {
            Wire::Http1 => wire1::head(request, close),
            Wire::Http2 => hpack::head(request, scheme),
        };
        match (head.0.as_slice(), request.body.as_fixed()) {
            ([Piece::Bytes(head)], Some(body)) => {
                Encoded::Fixed { bytes: [head, body].concat(), head: head.len() }
            }
            _ => Encoded::Filled { head: head.0, body: request.body.clone() },
        }
    }

    /// Writes out what depends on the row and returns the length of the head.
    pub fn fill(head: &[Piece], body: &Template, row: usize, out: &mut Vec<u8>) -> usize {
        out.clear();
        for piece in head {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Column(column) => out.extend_from_slice(column.value(row)),
                Piece::Text(text) => {
                    hpack::append_length(text.length(row), out);
                    text.append(row, out);
                }
                Piece::BodyLength => append_decimal(body.length(row), out),
                Piece::BodyLengthText => {
                    let length = body.length(row);
                    hpack::append_length(decimal_digits(length), out);
                    append_decimal(length, out);
                }
            }
        }
        let head_length = out.len();
        body.append(row, out);
        head_length
    }
}

/// The pieces of a head, put together; what is the same for every row becomes one piece.
#[derive(Debug, Default)]
pub struct Pieces(Vec<Piece>);

impl Pieces {
    pub fn bytes(&mut self, bytes: &[u8]) {
        if let Some(Piece::Bytes(last)) = self.0.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.0.push(Piece::Bytes(bytes.to_owned()));
        }
    }

    pub fn template(&mut self, template: &Template) {
        for part in template.parts() {
            match part {
                Part::Literal(bytes) => self.bytes(bytes),
                Part::Column { column, .. } => self.0.push(Piece::Column(column.clone())),
            }
        }
    }

    pub fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }
}

pub fn append_decimal(number: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + decimal_digits(number), 0);
    let mut left = number;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
}

fn decimal_digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decimals_are_written_as_usual(number: usize, shift in 0u32..64) {
            let number = number >> shift;
            let mut out = Vec::new();
            append_decimal(number, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
