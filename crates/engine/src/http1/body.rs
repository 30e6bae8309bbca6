//! The body of a response: where it ends, by length, by chunks (RFC 9112, section 7.1) or by the connection's end.

/// Longest chunk extension or trailer section; a service has no reason to send more.
const LONGEST_LINES: u32 = 64 * 1024;

/// A chunk is malformed.
#[derive(Debug, PartialEq, Eq)]
pub struct BodyError;

/// How a body ends, and how far it has come.
#[derive(Debug)]
pub enum Body {
    /// After a known number of bytes.
    Sized { left: u64 },
    /// With the last chunk and its trailers.
    Chunked { state: Chunk, line_bytes: u32 },
    /// When the peer closes.
    UntilClose,
}

/// Where in the chunked coding the input stands.
#[derive(Debug, Clone, Copy)]
pub enum Chunk {
    /// In the hexadecimal size.
    Size { size: u64, digits: u8 },
    /// In what may follow the size on its line.
    Extension { size: u64 },
    /// In the data.
    Data { left: u64 },
    /// In the line end after the data.
    DataEnd { seen_cr: bool },
    /// In the trailers; `empty` while the line has no character.
    Trailer { empty: bool },
}

impl Body {
    pub fn chunked() -> Body {
        Body::Chunked { state: Chunk::Size { size: 0, digits: 0 }, line_bytes: 0 }
    }

    /// How many bytes of the input belong to the body, and whether it ended with them.
    /// `on_data` is given the bytes of the body itself.
    #[inline]
    pub fn feed(
        &mut self,
        input: &[u8],
        on_data: &mut impl FnMut(&[u8]),
    ) -> Result<(usize, bool), BodyError> {
        match self {
            Body::Sized { left } => {
                let taken = (*left).min(input.len() as u64);
                *left -= taken;
                on_data(&input[..taken as usize]);
                Ok((taken as usize, *left == 0))
            }
            Body::UntilClose => {
                on_data(input);
                Ok((input.len(), false))
            }
            Body::Chunked { state, line_bytes } => {
                let mut used = 0;
                while used < input.len() {
                    if let Chunk::Data { left } = state {
                        let taken = (*left).min((input.len() - used) as u64);
                        *left -= taken;
                        on_data(&input[used..used + taken as usize]);
                        used += taken as usize;
                        if *left == 0 {
                            *state = Chunk::DataEnd { seen_cr: false };
                        }
                        continue;
                    }
                    let byte = input[used];
                    used += 1;
                    *line_bytes += 1;
                    if *line_bytes > LONGEST_LINES {
                        return Err(BodyError);
                    }
                    match step(*state, byte)? {
                        Some(next) => {
                            if matches!(next, Chunk::Data { .. }) {
                                *line_bytes = 0;
                            }
                            *state = next;
                        }
                        None => return Ok((used, true)),
                    }
                }
                Ok((used, false))
            }
        }
    }
}

/// The state after one byte outside chunk data; `None` when the body is over.
fn step(state: Chunk, byte: u8) -> Result<Option<Chunk>, BodyError> {
    let next = match (state, byte) {
        (Chunk::Size { digits: 0, .. }, b'\r' | b'\n' | b';') => return Err(BodyError),
        (Chunk::Size { size, .. } | Chunk::Extension { size }, b'\n') => after_size_line(size),
        (Chunk::Size { size, .. }, b'\r' | b';' | b' ' | b'\t') => Chunk::Extension { size },
        (Chunk::Size { size, digits }, _) => {
            let digit = (byte as char).to_digit(16).ok_or(BodyError)?;
            // 15 digits stay below 2^60: no overflow, and no such chunk either.
            if digits == 15 {
                return Err(BodyError);
            }
            Chunk::Size { size: size * 16 + u64::from(digit), digits: digits + 1 }
        }
        (Chunk::Extension { size }, _) => Chunk::Extension { size },
        (Chunk::DataEnd { seen_cr: false }, b'\r') => Chunk::DataEnd { seen_cr: true },
        (Chunk::DataEnd { .. }, b'\n') => Chunk::Size { size: 0, digits: 0 },
        (Chunk::DataEnd { .. }, _) => return Err(BodyError),
        (Chunk::Trailer { empty: true }, b'\n') => return Ok(None),
        (Chunk::Trailer { empty: true }, b'\r') => Chunk::Trailer { empty: true },
        (Chunk::Trailer { .. }, b'\n') => Chunk::Trailer { empty: true },
        (Chunk::Trailer { .. }, _) => Chunk::Trailer { empty: false },
        (Chunk::Data { left }, _) => Chunk::Data { left },
    };
    Ok(Some(next))
}

fn after_size_line(size: u64) -> Chunk {
    if size == 0 { Chunk::Trailer { empty: true } } else { Chunk::Data { left: size } }
}
