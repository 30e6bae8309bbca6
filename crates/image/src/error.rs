//! What can go wrong between a program and the archive of its image, with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::elf::UnsuitableProgram;

/// A library that is not on this machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingLibrary {
    /// Its name, or the path of a loader.
    pub library: String,
    /// The file that needs it, by its path in the image.
    pub needed_by: PathBuf,
}

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file does not exist or cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
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
    /// A folder says nothing about what is to be started.
    #[error(
        "an image of a folder needs the command that starts the service, after --: \
        loadline image {0} -o FILE --with python3 -- python3 app.py"
    )]
    NoCommand(PathBuf),
    /// The whole machine.
    #[error("/ is no folder of a service: name the folder with its files")]
    RootFolder,
    /// A symbolic link would lead nowhere in the image.
    #[error(
        "{link} is a link to {target}, which is outside the folder and would not be in the image: copy what it leads to, or remove it"
    )]
    LinkOutside {
        /// The link.
        link: PathBuf,
        /// Its target, as the link has it.
        target: PathBuf,
    },
    /// A file that exists only on this machine.
    #[error("{path} is {kind}, which an image cannot hold: remove it, or name another folder")]
    SpecialFile {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The command's program will not be in the image.
    #[error(
        "the command's program {program} is neither in {folder} nor given by --with: \
        add --with {program}, or write its path as it is in the folder"
    )]
    NoSuchProgram {
        /// The command's first word.
        program: String,
        /// The folder.
        folder: PathBuf,
    },
    /// A script whose interpreter will not be in the image.
    #[error(
        "{script} is a script for {interpreter}, which the image would not have: add --with {interpreter}"
    )]
    NoInterpreter {
        /// The script.
        script: PathBuf,
        /// What its first line names.
        interpreter: String,
    },
    /// No folder of `PATH` has a program of this name.
    #[error("no folder of PATH has a program {0}: install it, or give its path")]
    NotOnPath(String),
    /// A script whose program is unknown.
    #[error("{0} is a script: give the program that it starts, and the script in the folder if it is needed")]
    ScriptWith(PathBuf),
    /// A runtime did not say what it needs, or jlink failed.
    #[error("{program} could not be asked what it needs: {why}")]
    Asked {
        /// The program that was started.
        program: PathBuf,
        /// How it ended, and what it said.
        why: String,
    },
    /// Java runtimes are kept for the next image.
    #[error(
        "there is no place for the Java runtime that jlink makes: set HOME or XDG_CACHE_HOME, or make a runtime with jlink and give its java"
    )]
    NoCache,
    /// Java runtimes are kept for the next image.
    #[error("cannot write {path}, where Java runtimes are kept: {source}")]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Two programs with one name: a command could not say which.
    #[error("--with {0} is given twice: give one of them")]
    GivenTwice(String),
    /// A container would not see the program.
    #[error("{program} is in {folder}, which containers have from the kernel: copy the program elsewhere")]
    MountedOver {
        /// The program.
        program: PathBuf,
        /// The folder that is mounted over.
        folder: &'static str,
    },
    /// Two files that cannot both be there.
    #[error(
        "{0} would be two different things in the image: copy the program or the folder to another place"
    )]
    Conflict(PathBuf),
    /// What is started would not find a library.
    #[error("{} needs {}, which this machine does not have: install it, or put it beside the program", .0.needed_by.display(), .0.library)]
    MissingLibrary(MissingLibrary),
    /// The archive cannot be written.
    #[error("cannot write the archive: {0}")]
    Write(io::Error),
}

impl ImageError {
    /// What an error of the system means for this file.
    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> ImageError {
        move |source| ImageError::Read { path: path.to_owned(), source }
    }

    /// The same for what is kept for the next image.
    pub(crate) fn cache(path: &Path) -> impl FnOnce(io::Error) -> ImageError {
        move |source| ImageError::Cache { path: path.to_owned(), source }
    }

    /// Classifies an error of copying: readers of this crate wrap their own errors in [`io::Error`], anything else comes from the writer.
    pub(crate) fn of_copying(error: io::Error) -> ImageError {
        error.downcast().unwrap_or_else(ImageError::Write)
    }
}
