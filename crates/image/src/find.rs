//! Where a program is: at its path, or in the first folder of `PATH` that has it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::ImageError;

/// The path of a program, absolute, with its symbolic links.
pub fn program(given: &Path) -> Result<PathBuf, ImageError> {
    if is_name(given) {
        return on_path(given);
    }
    let metadata = std::fs::metadata(given).map_err(ImageError::unreadable(given))?;
    if !metadata.is_file() {
        return Err(ImageError::NotAFile(given.to_owned()));
    }
    if !is_executable(given) {
        return Err(ImageError::NotExecutable(given.to_owned()));
    }
    std::path::absolute(given).map_err(ImageError::unreadable(given))
}

/// Whether it names a program without saying where it is.
pub fn is_name(given: &Path) -> bool {
    given.components().count() == 1 && !given.as_os_str().as_encoded_bytes().contains(&b'/')
}

/// The absolute path of the program with this name in the folders of `PATH`.
pub fn on_path(name: &Path) -> Result<PathBuf, ImageError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_executable(file));
    let found = found.ok_or_else(|| ImageError::NotOnPath(name.to_string_lossy().into_owned()))?;
    std::path::absolute(&found).map_err(ImageError::unreadable(&found))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
