//! The program that an image is made of: opened once, checked, and known by its digest from then on.
//! It is read again through the same open file, so that a build which replaces it cannot mix two programs.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use object::ReadCache;
use oci_spec::image::{Arch, Sha256Digest};

use crate::elf;
use crate::error::ImageError;
use crate::find;
use crate::sha256::Hasher;

/// A static Linux program.
#[derive(Debug)]
pub struct Program {
    file: File,
    path: PathBuf,
    bytes: u64,
    digest: Sha256Digest,
    architecture: Arch,
}

impl Program {
    /// Opens a program, checks that it can run without other files, and reads it once.
    ///
    /// # Errors
    /// Every variant of [`ImageError`] but those of names and writing.
    pub fn open(path: &Path) -> Result<Program, ImageError> {
        Program::open_as(path, path.to_owned())
    }

    /// As [`Program::open`], of a program as a command line names it: by its path, or by its name in the folders of `PATH`.
    ///
    /// # Errors
    /// As [`Program::open`], and where no folder of `PATH` has it.
    pub fn find(given: &Path) -> Result<Program, ImageError> {
        if find::is_name(given) { Program::open(&find::on_path(given)?) } else { Program::open(given) }
    }

    /// The program that is running, even if its file has been replaced or removed since it started.
    ///
    /// # Errors
    /// As [`Program::open`]; it may have been linked dynamically.
    pub fn running() -> Result<Program, ImageError> {
        let link = Path::new("/proc/self/exe");
        Program::open_as(link, std::fs::read_link(link).unwrap_or_else(|_| link.to_owned()))
    }

    fn open_as(path: &Path, shown: PathBuf) -> Result<Program, ImageError> {
        let unreadable = |source| ImageError::Read { path: shown.clone(), source };
        // Opening a pipe would wait for its writer.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(ImageError::NotAFile(shown));
        }
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.len() == 0 {
            return Err(ImageError::Empty(shown));
        }
        // A wrong kind of file is the more useful error, so headers are checked before the permission.
        let architecture = match elf::examine(&ReadCache::new(&file)) {
            Ok(architecture) => architecture,
            Err(why) => return Err(ImageError::UnsuitableProgram { path: shown, why }),
        };
        if metadata.permissions().mode() & 0o111 == 0 {
            return Err(ImageError::NotExecutable(shown));
        }
        let mut hasher = Hasher::default();
        io::copy(&mut Positioned { file: &file, offset: 0 }, &mut hasher).map_err(unreadable)?;
        if hasher.bytes() != metadata.len() {
            return Err(ImageError::Changed(shown));
        }
        let (bytes, digest) = (hasher.bytes(), hasher.digest());
        Ok(Program { file, path: shown, bytes, digest, architecture })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of its bytes: 64 hexadecimal digits.
    pub fn sha256(&self) -> &str {
        self.digest.digest()
    }

    /// The machine it is for.
    pub fn architecture(&self) -> &Arch {
        &self.architecture
    }

    /// Its size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.bytes
    }

    /// The tag of its images unless another is given: the first 12 digits of its digest, so that a stale image cannot be mistaken for this
    /// program.
    pub fn tag(&self) -> &str {
        &self.sha256()[..12]
    }

    /// Its bytes, from the start; as many as there were when it was opened, or [`ImageError::Changed`] inside the error.
    pub(crate) fn contents(&self) -> impl Read + '_ {
        let left = self.bytes;
        Contents { program: self, reader: Positioned { file: &self.file, offset: 0 }.take(left), left }
    }
}

/// A reader with its own position in a shared file.
struct Positioned<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

struct Contents<'a> {
    program: &'a Program,
    reader: io::Take<Positioned<'a>>,
    left: u64,
}

impl Read for Contents<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let path = || self.program.path.clone();
        let count = self
            .reader
            .read(buffer)
            .map_err(|source| io::Error::other(ImageError::Read { path: path(), source }))?;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::other(ImageError::Changed(path())));
        }
        self.left -= count as u64;
        Ok(count)
    }
}
