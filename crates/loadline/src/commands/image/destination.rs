//! Where an archive goes: standard output, or a file that is complete or not there at all.

use std::fs::Permissions;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use loadline_image::Archive;
use tempfile::NamedTempFile;

use crate::exit::{Exit, UsageError};
use crate::interrupt;
use crate::outputs::{check_files, is_stdout};
use crate::streams::tell;

/// An archive is tens of megabytes, made of small pieces.
const BUFFER_BYTES: usize = 256 * 1024;

pub enum Destination {
    Stdout,
    File(NewFile),
}

/// A file that takes the place of another when it is complete, and vanishes with the value until then.
pub struct NewFile {
    file: NamedTempFile,
    /// What it will be called.
    path: PathBuf,
    /// Set by Ctrl-C.
    stop: Arc<AtomicBool>,
}

impl Destination {
    /// Finds out what is possible before anything is written. The archive may not replace `origins`, which it is made from, or be in one.
    pub fn open(path: &Path, origins: &[PathBuf]) -> Result<Destination> {
        if !is_stdout(path) {
            return Ok(Destination::File(NewFile::beside(path, origins)?));
        }
        if io::stdout().is_terminal() {
            let why = "an archive means nothing to a terminal: name a file (-o image.tar), or pipe it (| docker load)";
            return Err(UsageError(why.to_owned()).into());
        }
        Ok(Destination::Stdout)
    }

    /// Writes the archive. After an error, or Ctrl-C, nothing of it is left in a file.
    pub fn write(self, archive: &Archive) -> Result<Exit> {
        match self {
            Destination::Stdout => {
                let out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout());
                archive.write(out).context("standard output")?;
                Ok(Exit::Done)
            }
            Destination::File(file) => file.write(archive),
        }
    }
}

impl NewFile {
    fn beside(path: &Path, origins: &[PathBuf]) -> Result<NewFile> {
        check_files([&path.to_owned()])?;
        // A link's own file is replaced, not the link; there may be none yet.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let why = format!(
                "{} is not a file, and would be replaced by one: use -o - and redirect",
                path.display()
            );
            return Err(UsageError(why).into());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        for origin in origins.iter().filter_map(|origin| origin.canonicalize().ok()) {
            let why = if origin == path {
                format!("{} is the program itself: name another file for its image", path.display())
            } else if folder.canonicalize().is_ok_and(|folder| folder.starts_with(&origin)) {
                format!(
                    "{} is in the folder, and would be in its next image: write it elsewhere",
                    path.display()
                )
            } else {
                continue;
            };
            return Err(UsageError(why).into());
        }
        let stop = interrupt::stop_flag()?;
        let file = tempfile::Builder::new()
            .prefix(".loadline-image-")
            // As any new file: what the umask leaves of this.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(|| format!("cannot write in {}", folder.display()))?;
        Ok(NewFile { file, path, stop })
    }

    fn write(mut self, archive: &Archive) -> Result<Exit> {
        let failed = || self.path.display().to_string();
        let out = Stoppable { inner: self.file.as_file_mut(), stop: &self.stop };
        if let Err(error) = archive.write(BufWriter::with_capacity(BUFFER_BYTES, out)) {
            if self.stop.load(Ordering::Relaxed) {
                tell("interrupted: nothing was written");
                return Ok(Exit::Interrupted);
            }
            return Err(error).with_context(failed);
        }
        // Some file systems say only now that they are full.
        self.file.as_file().sync_all().with_context(failed)?;
        self.file.persist(&self.path).with_context(failed)?;
        Ok(Exit::Done)
    }
}

/// A writer that gives up once the user has.
struct Stoppable<'a, W> {
    inner: W,
    stop: &'a AtomicBool,
}

impl<W: Write> Write for Stoppable<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            // Not `Interrupted`, which callers would retry.
            return Err(io::Error::other("interrupted"));
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
