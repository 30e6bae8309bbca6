//! Files as a process sees them, which may be in a container of its own. Its root is not trusted: no path leads out of it, and nothing but
//! a small regular file is read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, unlinkat};
use rustix::io::Errno;
use rustix::process::Pid;

/// The root folder of a process.
pub(crate) struct Inside {
    root: OwnedFd,
}

impl Inside {
    /// That of the process, as long as it lives.
    pub(crate) fn of(pid: Pid) -> Result<Inside, Errno> {
        let path = format!("/proc/{pid}/root");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Inside { root: openat(CWD, path, flags, Mode::empty())? })
    }

    /// Opens something below it. Links are followed as the process would follow them (openat2(2), RESOLVE_IN_ROOT).
    pub(crate) fn open(&self, path: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.root, path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty(), resolve)
    }

    /// A folder below it, to work in.
    pub(crate) fn folder(&self, path: &str) -> Result<OwnedFd, Errno> {
        self.open(OsStr::new(path), OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// The bytes of a regular file, which must not be longer.
    pub(crate) fn read(&self, path: &OsStr, longest: u64) -> Result<Vec<u8>, ReadError> {
        // A FIFO that is opened without waiting is still no file.
        let file = self.open(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let status = fstat(&file)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(ReadError::NotAFile);
        }
        if u64::try_from(status.st_size).is_ok_and(|bytes| bytes > longest) {
            return Err(ReadError::TooLong(status.st_size.unsigned_abs()));
        }
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        File::from(file)
            .take(longest)
            .read_to_end(&mut bytes)
            .map_err(|error| ReadError::Refused(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        Ok(bytes)
    }
}

/// Why there are no bytes.
#[derive(Debug)]
pub(crate) enum ReadError {
    Refused(Errno),
    NotAFile,
    TooLong(u64),
}

impl From<Errno> for ReadError {
    fn from(errno: Errno) -> ReadError {
        ReadError::Refused(errno)
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Refused(errno) => errno.fmt(f),
            ReadError::NotAFile => f.write_str("it is no regular file"),
            ReadError::TooLong(bytes) => write!(f, "it has {bytes} bytes"),
        }
    }
}

/// The names in a folder.
pub(crate) fn names_in(folder: &OwnedFd) -> impl Iterator<Item = std::ffi::OsString> {
    Dir::read_from(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(OsStr::from_bytes(entry.ok()?.file_name().to_bytes()).to_owned()))
}

/// A file that this process puts into a folder of another; it is gone when this is dropped.
pub(crate) struct Placed<'a> {
    folder: &'a OwnedFd,
    name: String,
}

impl Placed<'_> {
    /// An empty file, unless something has its name.
    pub(crate) fn new(folder: &OwnedFd, name: String) -> Result<Placed<'_>, Errno> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat(folder, &*name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(Placed { folder, name })
    }
}

impl Drop for Placed<'_> {
    fn drop(&mut self) {
        // The process's own folder may be gone.
        let _ = unlinkat(self.folder, &*self.name, rustix::fs::AtFlags::empty());
    }
}
