//! Huffman-coded strings of HPACK (RFC 7541, section 5.2). The code of appendix B is canonical, that is shorter codes come
//! first and codes of one length follow each other in the order of their symbols, so the lengths alone say all of it.

use super::hpack::CompressionError;

/// Length of the code of each symbol in bits, the end of the string (256) last (RFC 7541, appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

const END_OF_STRING: u16 = 256;
const LONGEST: usize = 30;
/// Codes up to this length hold letters, digits and most punctuation, and are looked up at once.
const SHORT: usize = 8;

struct Tables {
    /// By the next eight bits: symbol and length of the code they begin with; length 0 for the longer codes.
    short: [(u8, u8); 1 << SHORT],
    /// All symbols in the order of their codes.
    symbols: [u16; 257],
    /// By length: the first code that is too great for it, its bits aligned to the top of 32.
    limits: [u64; LONGEST + 1],
    /// By length: the first code, and where its symbol stands in `symbols`.
    first: [(u32, u32); LONGEST + 1],
}

static TABLES: Tables = Tables::new();

impl Tables {
    const fn new() -> Tables {
        let mut tables = Tables {
            short: [(0, 0); 1 << SHORT],
            symbols: [0; 257],
            limits: [0; LONGEST + 1],
            first: [(0, 0); LONGEST + 1],
        };
        let (mut length, mut code, mut position) = (1, 0_u32, 0);
        while length <= LONGEST {
            code <<= 1;
            tables.first[length] = (code, position as u32);
            let mut symbol = 0;
            while symbol < LENGTHS.len() {
                if LENGTHS[symbol] as usize == length {
                    tables.symbols[position] = symbol as u16;
                    position += 1;
                    if length <= SHORT {
                        let mut window = (code as usize) << (SHORT - length);
                        let end = (code as usize + 1) << (SHORT - length);
                        while window < end {
                            tables.short[window] = (symbol as u8, length as u8);
                            window += 1;
                        }
                    }
                    code += 1;
                }
                symbol += 1;
            }
            tables.limits[length] = (code as u64) << (32 - length);
            length += 1;
        }
        tables
    }

    /// The symbol whose code `window` begins with, and the code's length.
    #[inline]
    fn symbol(&self, window: u64) -> (u16, usize) {
        let (symbol, length) = self.short[(window >> (64 - SHORT)) as usize];
        if length != 0 {
            return (u16::from(symbol), usize::from(length));
        }
        let top = window >> 32;
        let mut longer = SHORT + 1..LONGEST;
        let length = longer.find(|length| top < self.limits[*length]).unwrap_or(LONGEST);
        let (code, position) = self.first[length];
        let offset = (top >> (32 - length)) as u32 - code;
        (self.symbols[(position + offset) as usize], length)
    }
}

/// Decodes `coded` to the beginning of `plain`, which grows as needed and never shrinks; returns how many bytes that is. An
/// end-of-string symbol, and padding that is long or not made of ones, are errors.
pub fn decode(coded: &[u8], plain: &mut Vec<u8>) -> Result<usize, CompressionError> {
    let bits = coded.len() * 8;
    // The shortest code has five bits.
    if plain.len() < bits / 5 {
        plain.resize(bits / 5, 0);
    }
    let (mut bit, mut count) = (0, 0);
    while let Some(eight) = coded[bit / 8..].first_chunk() {
        // At whichever bit of the first byte it begins, this holds the longest code and three short ones.
        let mut window = u64::from_be_bytes(*eight) << (bit % 8);
        let (symbol, length) = TABLES.symbol(window);
        if symbol == END_OF_STRING {
            return Err(CompressionError);
        }
        plain[count] = symbol as u8;
        count += 1;
        bit += length;
        window <<= length;
        for _ in 0..3 {
            let (symbol, length) = TABLES.short[(window >> (64 - SHORT)) as usize];
            if length == 0 {
                break;
            }
            plain[count] = symbol;
            count += 1;
            bit += usize::from(length);
            window <<= length;
        }
    }
    // The last bytes fit into one window; ones follow them, as in the padding.
    let rest = &coded[bit / 8..];
    let last = rest
        .iter()
        .fold(u64::MAX, |last, byte| last << 8 | u64::from(*byte))
        .rotate_right(8 * rest.len() as u32);
    let mut window = shift_in_ones(last, bit % 8);
    while bit < bits {
        let (symbol, length) = TABLES.symbol(window);
        if bit + length > bits {
            let is_padding = bits - bit < 8 && window == u64::MAX;
            return if is_padding { Ok(count) } else { Err(CompressionError) };
        }
        if symbol == END_OF_STRING {
            return Err(CompressionError);
        }
        plain[count] = symbol as u8;
        count += 1;
        bit += length;
        window = shift_in_ones(window, length);
    }
    Ok(count)
}

fn shift_in_ones(window: u64, by: usize) -> u64 {
    window << by | ((1 << by) - 1)
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The other direction, bit by bit: only tests need it.
    pub fn encode(plain: &[u8]) -> Vec<u8> {
        let mut bits = Vec::new();
        for byte in plain {
            let position =
                TABLES.symbols.iter().position(|symbol| *symbol == u16::from(*byte)).unwrap() as u32;
            let length = usize::from(LENGTHS[usize::from(*byte)]);
            let (code, first) = TABLES.first[length];
            let code = code + position - first;
            bits.extend((0..length).rev().map(|bit| (code >> bit & 1) as u8));
        }
        bits.resize(bits.len().next_multiple_of(8), 1);
        bits.chunks(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | bit)).collect()
    }

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, CompressionError> {
        // What an earlier text left behind is no part of the next one.
        let mut plain = vec![b'?'; 3];
        let length = decode(coded, &mut plain)?;
        plain.truncate(length);
        Ok(plain)
    }

    /// Bytes from hexadecimal digits, whatever stands between them.
    pub fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> =
            hex.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    #[test]
    fn the_examples_of_the_rfc_decode_and_encode() {
        // RFC 7541, appendices C.4 and C.6.
        for (plain, hex) in [
            ("www.example.com", "f1e3 c2e5 f23a 6ba0 ab90 f4ff"),
            ("no-cache", "a8eb 1064 9cbf"),
            ("custom-key", "25a8 49e9 5ba9 7d7f"),
            ("custom-value", "25a8 49e9 5bb8 e8b4 bf"),
            ("302", "6402"),
            ("307", "640e ff"),
            ("private", "aec3 771a 4b"),
            ("Mon, 21 Oct 2013 20:13:21 GMT", "d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff"),
            ("https://www.example.com", "9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3"),
            ("gzip", "9bd9 ab"),
            (
                "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
                "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
            ),
        ] {
            assert_eq!(decoded(&bytes(hex)).as_deref(), Ok(plain.as_bytes()));
            assert_eq!(encode(plain.as_bytes()), bytes(hex), "{plain}");
        }
    }

    #[test]
    fn every_byte_decodes_from_the_encoding_of_another_implementation() {
        // All 256 bytes in order, as encoded by the Python package hpack 4.2.0.
        let all = include_str!("huffman/all-bytes.hex");
        assert_eq!(decoded(&bytes(all)), Ok((0..=255).collect::<Vec<u8>>()));
    }

    #[test]
    fn padding_must_be_short_and_made_of_ones() {
        assert_eq!(decoded(&[]), Ok(vec![]));
        // `0` is five zero bits.
        assert_eq!(decoded(&[0b0000_0111]), Ok(b"0".to_vec()));
        assert_eq!(decoded(&[0b0000_0110]), Err(CompressionError), "a zero in the padding");
        assert_eq!(decoded(&[0b0000_0111, 0xff]), Err(CompressionError), "eleven bits of padding");
        assert_eq!(decoded(&[0xff]), Err(CompressionError), "eight bits of padding");
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), Err(CompressionError), "the end-of-string symbol");
        assert_eq!(decoded(&[0xff, 0xff, 0xfa]), Err(CompressionError), "a code that is cut off");
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(plain in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decoded(&encode(&plain)), Ok(plain));
        }

        #[test]
        fn what_decodes_encodes_to_itself(coded in prop::collection::vec(any::<u8>(), 0..12)) {
            if let Ok(plain) = decoded(&coded) {
                prop_assert_eq!(encode(&plain), coded);
            }
        }
    }
}
