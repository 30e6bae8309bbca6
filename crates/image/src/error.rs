//! What can go wrong between a program and the archive of its image, with what to do about it.

use std::io;
use std::path::PathBuf;

use crate::elf::UnsuitableProgram;

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The program does not exist or cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The program.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("{0} is not a file: give the path of the program")]
    NotAFile(PathBuf),
    /// An empty file.
    #[error("{0} is empty: build the program again")]
    Empty(PathBuf),
    /// The file has no execute permission.
    #[error("{0} is not executable: if it is the right file, chmod +x {0}")]
    NotExecutable(PathBuf),
    /// It cannot run in an image that contains nothing else.
    #[error("{path} {why}")]
    UnsuitableProgram {
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        why: UnsuitableProgram,
    },
    /// It was written to between two readings, for example by a build.
    #[error("{0} changed while it was read: try again when it is no longer being written")]
    Changed(PathBuf),
    /// The program's name is invalid, or its path is reserved by runtimes or by the image.
    #[error("the program cannot be /{0} in an image: copy it under another name")]
    FileName(String),
    /// The name of the image is not valid.
    #[error(
        "{name:?} is not a valid image name ({why}): use a name like localhost/orders or localhost/orders:1.0"
    )]
    Name {
        /// The name as given.
        name: String,
        /// The rule that it breaks.
        why: String,
    },
    /// The archive cannot be written.
    #[error("cannot write the archive: {0}")]
    Write(io::Error),
}

impl ImageError {
    /// Classifies an error of copying: readers of this crate wrap their own errors in [`io::Error`], anything else comes from the writer.
    pub(crate) fn of_copying(error: io::Error) -> ImageError {
        error.downcast().unwrap_or_else(ImageError::Write)
    }
}
