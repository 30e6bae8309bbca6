//! What can go wrong between a program and the archive of its image, with what to do about it.

use std::io;
use std::path::PathBuf;

use crate::elf::Unfit;

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The program is not there, or may not be read, or its disk failed.
    #[error("can't read {path}: {source}")]
    Read {
        /// The program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("{0} is not a file: name the program's file")]
    NotAFile(PathBuf),
    /// No bytes at all.
    #[error("{0} is empty: build the program anew")]
    Empty(PathBuf),
    /// No bit says that it may be run.
    #[error("{0} is not executable: if it is the right file, chmod +x {0}")]
    NotExecutable(PathBuf),
    /// It can't run in an image that holds nothing else.
    #[error("{path} {why}")]
    Unfit {
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        why: Unfit,
    },
    /// Written to, by a build for instance, between two readings.
    #[error("{0} changed while it was read: try again when nothing writes to it")]
    Changed(PathBuf),
    /// The program would stand where runtimes mount something, or where the image has a folder, or its name is none.
    #[error("/{0} can't be the program's place in an image: copy the program under another name")]
    FileName(String),
    /// The name of the image is none.
    #[error(
        "{name:?} is not a name for an image ({why}): give one like localhost/orders or localhost/orders:1.0"
    )]
    Name {
        /// As it was given.
        name: String,
        /// The rule that it breaks.
        why: String,
    },
    /// The archive can't go where it should.
    #[error("can't write the archive: {0}")]
    Write(io::Error),
}

impl ImageError {
    /// What an error of copying was: a reader of this crate hands its own kind through [`io::Error`], anything else is the writer's.
    pub(crate) fn of_copying(error: io::Error) -> ImageError {
        error.downcast().unwrap_or_else(ImageError::Write)
    }
}
