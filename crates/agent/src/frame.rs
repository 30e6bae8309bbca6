//! Frames: a length of four bytes, big-endian, then as many bytes of JSON.
//! A frame holds at most [`LONGEST_BYTES`], and memory for it is taken as it arrives, never on the word of its length.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest JSON that a frame may hold: seven full histograms are 2 MiB, a replay of a million requests about 10 MiB, and a CSV file
/// takes four thirds of its size.
pub const LONGEST_BYTES: usize = 64 << 20;

/// How much memory is taken before anything of a frame is there.
const FIRST_BYTES: usize = 64 << 10;

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side closed the stream between two frames.
    #[error("the other side closed the connection")]
    Ended,
    /// The stream failed, or ended within a frame.
    #[error("the connection broke: {0}")]
    Stream(#[from] io::Error),
    /// What is to be sent is longer than a frame may be.
    #[error(
        "a message of {bytes} bytes is too long, the limit is {LONGEST_BYTES}: make the request bodies, the CSV file or the replay \
        smaller"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// What comes is no frame.
    #[error(
        "a message claims to be {bytes} bytes long, the limit is {LONGEST_BYTES}: check that the other side is loadline"
    )]
    NoFrame {
        /// The length that it claims.
        bytes: usize,
    },
    /// A frame is not what was due.
    #[error("cannot read a message ({0}): check that the other side is loadline")]
    Json(#[from] serde_json::Error),
}

/// A message as a frame.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let bytes = frame.len() - 4;
    let length = u32::try_from(bytes).ok().filter(|_| bytes <= LONGEST_BYTES);
    frame[..4].copy_from_slice(&length.ok_or(FrameError::TooLong { bytes })?.to_be_bytes());
    Ok(frame)
}

/// Sends a message.
pub fn write(mut stream: impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    stream.write_all(&encode(message)?)?;
    Ok(stream.flush()?)
}

/// Waits for a message.
pub fn read<T: DeserializeOwned>(mut stream: impl Read) -> Result<T, FrameError> {
    let mut length = [0; 4];
    let first = loop {
        match stream.read(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    if first == 0 {
        return Err(FrameError::Ended);
    }
    stream.read_exact(&mut length[first..])?;
    // A u32 fits on every machine that Linux 5.11 runs on.
    let bytes = u32::from_be_bytes(length) as usize;
    if bytes > LONGEST_BYTES {
        return Err(FrameError::NoFrame { bytes });
    }
    Ok(serde_json::from_slice(&read_body(stream, bytes)?)?)
}

/// Reads so many bytes; what is allocated is never more than twice what has come.
fn read_body(mut stream: impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    while body.len() < bytes {
        let come = body.len();
        let room = come.max(FIRST_BYTES).min(bytes - come);
        body.reserve_exact(room);
        body.resize(come + room, 0);
        stream.read_exact(&mut body[come..])?;
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_that_is_too_long_is_not_sent() {
        let error = encode(&"x".repeat(LONGEST_BYTES)).unwrap_err().to_string();
        assert!(
            error.starts_with("a message of 67108866 bytes is too long, the limit is 67108864: "),
            "{error}"
        );
    }

    #[test]
    fn the_end_between_frames_differs_from_the_end_within_one() {
        assert!(matches!(read::<u32>(&b""[..]), Err(FrameError::Ended)));
        for cut in [&b"\0"[..], b"\0\0\0\x02", b"\0\0\0\x021"] {
            let error = read::<u32>(cut).unwrap_err();
            assert!(
                matches!(&error, FrameError::Stream(error) if error.kind() == io::ErrorKind::UnexpectedEof),
                "{error}"
            );
        }
    }

    #[test]
    fn a_length_alone_takes_no_memory() {
        /// Counts how much room it is offered.
        struct Offered(usize);
        impl Read for Offered {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 = self.0.max(buffer.len());
                Ok(0)
            }
        }
        let mut offered = Offered(0);
        assert!(read_body(&mut offered, LONGEST_BYTES).is_err());
        assert_eq!(offered.0, FIRST_BYTES);
    }

    proptest! {
        #[test]
        fn messages_come_back_however_the_stream_is_cut_up(
            texts in prop::collection::vec(".{0,200}", 1..5), step in 1usize..50,
        ) {
            /// Gives a few bytes at a time.
            struct Slow<'a>(&'a [u8], usize);
            impl Read for Slow<'_> {
                fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                    let count = buffer.len().min(self.1);
                    self.0.read(&mut buffer[..count])
                }
            }
            let mut wire = Vec::new();
            for text in &texts {
                write(&mut wire, text).unwrap();
            }
            let mut slow = Slow(&wire, step);
            for text in &texts {
                prop_assert_eq!(&read::<String>(&mut slow).unwrap(), text);
            }
            prop_assert!(matches!(read::<String>(&mut slow), Err(FrameError::Ended)));
        }

        #[test]
        fn long_bodies_are_put_together(length in 0usize..1_000_000) {
            let bytes: Vec<u8> = (0..length).map(|index| index as u8).collect();
            prop_assert_eq!(read_body(&bytes[..], length).unwrap(), bytes);
        }
    }
}
