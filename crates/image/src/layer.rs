//! A layer of an image: a tar of some files, as a stream that is never held in memory.
//!
//! It is not compressed. Archives go from one disk to the same machine's runtime, where unpacking would cost more than reading; the
//! layer's two digests (of the blob and of its contents) are one; and the bytes do not depend on a compressor's version.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use oci_spec::image::Sha256Digest;
use tar::{Builder, EntryType};

use crate::error::ImageError;
use crate::sha256::{Hasher, Hashing};
use crate::tarball;
use crate::tree::{Contents, Node};

/// Some programs look up their user, and some write files to its home, so that is writable.
pub const PASSWD: &[u8] = b"loadline:x:1000:1000:loadline:/tmp:/sbin/nologin\n";

/// The files of a layer, in its order.
#[derive(Debug)]
pub struct Part {
    /// What the layer holds, in a word or two.
    pub title: String,
    /// How the image's history says that it was made.
    pub created_by: String,
    /// What it is made from: to blame if it changes unnoticed.
    pub origin: PathBuf,
    /// Absolute paths in the image.
    pub nodes: Vec<(PathBuf, Node)>,
}

/// A layer, worked out.
pub struct Layer<'a> {
    part: &'a Part,
    mtime_s: u64,
    pub digest: Sha256Digest,
    pub bytes: u64,
}

impl<'a> Layer<'a> {
    /// Reads all files once for the digest.
    pub fn of(part: &'a Part, mtime_s: u64) -> Result<Layer<'a>, ImageError> {
        let mut hasher = Hasher::default();
        part.write(mtime_s, &mut hasher).map_err(ImageError::of_copying)?;
        let bytes = hasher.bytes();
        Ok(Layer { part, mtime_s, digest: hasher.digest(), bytes })
    }

    pub fn title(&self) -> &str {
        &self.part.title
    }

    pub fn created_by(&self) -> &str {
        &self.part.created_by
    }

    /// Writes the layer, which must be the same as before.
    pub fn write(&self, out: impl Write) -> Result<(), ImageError> {
        let mut hashing = Hashing::new(out);
        self.part.write(self.mtime_s, &mut hashing).map_err(ImageError::of_copying)?;
        if hashing.hasher.digest() == self.digest {
            Ok(())
        } else {
            Err(ImageError::Changed(self.part.origin.clone()))
        }
    }
}

impl Part {
    fn write(&self, mtime_s: u64, out: impl Write) -> io::Result<()> {
        let mut tar = Builder::new(out);
        for (path, node) in &self.nodes {
            let path = path.strip_prefix("/").unwrap_or(path);
            let header = |kind, mode, bytes| tarball::header(kind, mode, bytes, mtime_s);
            match node {
                Node::Folder { mode } => {
                    // With a slash at its end.
                    let mut header = header(EntryType::Directory, *mode, 0);
                    tar.append_data(&mut header, path.join(""), io::empty())?;
                }
                Node::Link { target } => {
                    tar.append_link(&mut header(EntryType::Symlink, 0o777, 0), path, target)?;
                }
                Node::File { mode, contents } => {
                    let header = |bytes| header(EntryType::Regular, *mode, bytes);
                    append(&mut tar, path, contents, header)?;
                }
            }
        }
        tar.into_inner()?.flush()
    }
}

fn append(
    tar: &mut Builder<impl Write>,
    path: &Path,
    contents: &Contents,
    header: impl Fn(u64) -> tar::Header,
) -> io::Result<()> {
    let mut append = |bytes, contents: &mut dyn Read| tar.append_data(&mut header(bytes), path, contents);
    match contents {
        Contents::Text(text) => append(text.len() as u64, &mut &text[..]),
        Contents::Source(file) => append(file.size_bytes(), &mut file.contents().map_err(io::Error::other)?),
        Contents::Program(program) => append(program.size_bytes(), &mut program.contents()),
    }
}
