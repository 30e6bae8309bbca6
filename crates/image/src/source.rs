//! A file of this machine that an image gets: stamped when it is found, and an error if it is another by the time it is read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::ImageError;

/// A regular file, as it was when it was found.
#[derive(Debug, Clone)]
pub struct SourceFile {
    path: PathBuf,
    stamp: Stamp,
    executable: bool,
}

/// What differs once a file has been written to or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    file: (u64, u64),
    modified: (i64, i64),
    /// The kernel's own, which nobody can set back.
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            bytes: metadata.len(),
            file: (metadata.dev(), metadata.ino()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl SourceFile {
    /// Stamps a regular file; symbolic links are followed.
    pub fn find(path: &Path) -> Result<SourceFile, ImageError> {
        let metadata = std::fs::metadata(path).map_err(ImageError::unreadable(path))?;
        if !metadata.is_file() {
            return Err(ImageError::NotAFile(path.to_owned()));
        }
        Ok(SourceFile::of(path, &metadata))
    }

    /// A regular file whose metadata is at hand.
    pub fn of(path: &Path, metadata: &Metadata) -> SourceFile {
        let executable = metadata.permissions().mode() & 0o111 != 0;
        SourceFile { path: path.to_owned(), stamp: Stamp::of(metadata), executable }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn size_bytes(&self) -> u64 {
        self.stamp.bytes
    }

    pub fn is_executable(&self) -> bool {
        self.executable
    }

    /// Its bytes: as many as when it was stamped, or an [`ImageError`] inside the error.
    pub fn contents(&self) -> Result<impl Read + '_, ImageError> {
        let file = File::open(&self.path).map_err(ImageError::unreadable(&self.path))?;
        let contents = Contents { left: self.stamp.bytes, source: self, file };
        contents.check()?;
        Ok(contents)
    }
}

struct Contents<'a> {
    source: &'a SourceFile,
    file: File,
    left: u64,
}

impl Contents<'_> {
    fn check(&self) -> Result<(), ImageError> {
        let metadata = self.file.metadata().map_err(ImageError::unreadable(&self.source.path))?;
        if Stamp::of(&metadata) == self.source.stamp { Ok(()) } else { Err(self.changed()) }
    }

    fn changed(&self) -> ImageError {
        ImageError::Changed(self.source.path.clone())
    }
}

impl Read for Contents<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.check().map_err(io::Error::other)?;
            return Ok(0);
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read(&mut buffer[..room]);
        let count =
            read.map_err(|error| io::Error::other(ImageError::unreadable(&self.source.path)(error)))?;
        if count == 0 && room > 0 {
            return Err(io::Error::other(self.changed()));
        }
        self.left -= count as u64;
        Ok(count)
    }
}
