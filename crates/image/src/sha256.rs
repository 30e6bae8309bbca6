//! SHA-256 of a stream, in the form that image documents use.

use std::io::{self, Write};

use oci_spec::image::Sha256Digest;
use sha2::{Digest, Sha256};

/// Computes the digest and the number of the bytes written to it.
#[derive(Default)]
pub struct Hasher {
    state: Sha256,
    bytes: u64,
}

impl Hasher {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn digest(self) -> Sha256Digest {
        let hex: String = self.state.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        hex.parse().expect("64 hexadecimal digits are a digest")
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.state.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The digest of some bytes.
pub fn of(bytes: &[u8]) -> Sha256Digest {
    let mut hasher = Hasher::default();
    hasher.state.update(bytes);
    hasher.digest()
}

/// Passes bytes on and computes their digest.
pub struct Hashing<W> {
    inner: W,
    pub hasher: Hasher,
}

impl<W: Write> Hashing<W> {
    pub fn new(inner: W) -> Hashing<W> {
        Hashing { inner, hasher: Hasher::default() }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.write_all(&bytes[..count])?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn the_digest_is_that_of_the_standard() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of(b"abc").digest(), expected);
        let mut hashing = Hashing::new(Vec::new());
        hashing.write_all(b"abc").expect("memory");
        assert_eq!(hashing.hasher.digest().digest(), expected);
    }
}
