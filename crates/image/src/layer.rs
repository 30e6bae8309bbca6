//! The image's only layer: a tar of the program, `/tmp` and `/etc/passwd`, as a stream that is never held in memory.
//!
//! It is not compressed. Archives go from one disk to the same machine's runtime, where unpacking would cost more than reading; the
//! layer's two digests (of the blob and of its contents) are one; and the bytes do not depend on a compressor's version.

use std::io::{self, Read};

use oci_spec::image::Sha256Digest;
use tar::{Builder, EntryType};

use crate::error::ImageError;
use crate::image::Image;
use crate::sha256::Hasher;
use crate::tarball;

/// Some programs look up their user, and some write files to its home, so that is writable.
const PASSWD: &[u8] = b"loadline:x:1000:1000:loadline:/tmp:/sbin/nologin\n";

/// The layer of an image.
pub struct Layer<'a> {
    image: &'a Image,
    /// Everything before the program's bytes.
    head: Vec<u8>,
    pub digest: Sha256Digest,
    pub bytes: u64,
}

impl<'a> Layer<'a> {
    /// Reads the program once for the digest.
    pub fn of(image: &'a Image) -> Result<Layer<'a>, ImageError> {
        let head = head(image).map_err(ImageError::Write)?;
        let mut hasher = Hasher::default();
        io::copy(&mut stream(image, &head), &mut hasher).map_err(ImageError::of_copying)?;
        let bytes = hasher.bytes();
        Ok(Layer { image, head, digest: hasher.digest(), bytes })
    }

    /// The layer's bytes.
    pub fn reader(&self) -> impl Read + '_ {
        stream(self.image, &self.head)
    }
}

fn stream<'s>(image: &'s Image, head: &'s [u8]) -> impl Read + 's {
    let program_bytes = image.program.size_bytes();
    let rest_bytes = tarball::padded(program_bytes) - program_bytes + tarball::END_BYTES;
    head.chain(image.program.contents()).chain(io::repeat(0).take(rest_bytes))
}

fn head(image: &Image) -> io::Result<Vec<u8>> {
    let mtime_s = image.created_s();
    let mut tar = Builder::new(Vec::new());
    let mut folder = |path: &str, mode| {
        let mut header = tarball::header(EntryType::Directory, mode, 0, mtime_s);
        tar.append_data(&mut header, path, io::empty())
    };
    folder("etc/", 0o755)?;
    folder("tmp/", 0o1777)?;
    let mut file = |path: &str, mode, bytes, contents: &[u8]| {
        let mut header = tarball::header(EntryType::Regular, mode, bytes, mtime_s);
        tar.append_data(&mut header, path, contents)
    };
    file("etc/passwd", 0o644, PASSWD.len() as u64, PASSWD)?;
    // Its bytes follow in the stream.
    file(image.file_name(), 0o555, image.program.size_bytes(), &[])?;
    let mut bytes = tar.into_inner()?;
    bytes.truncate(bytes.len() - tarball::END_BYTES as usize);
    Ok(bytes)
}
