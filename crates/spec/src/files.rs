//! Files that an experiment names.

use std::path::{Path, PathBuf, absolute};

use super::error::{Complaint, Place, Problems};

/// The path of a file that must exist. A relative path is relative to `folder`, that of the experiment file, or to the working directory
/// where there is no such file.
pub(super) fn existing(
    folder: Option<&Path>,
    written: &str,
    place: &Place,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let written = Path::new(written.trim());
    let path = match folder {
        // Absolute, so that the experiment can be written into a file of another folder.
        Some(folder) if folder != Path::new("") => {
            absolute(folder.join(written)).unwrap_or_else(|_| folder.join(written))
        }
        _ => written.to_owned(),
    };
    if path.is_file() {
        return Some(path);
    }
    let complaint = Complaint::new(format!("there is no file {}", path.display()));
    problems.add(
        place,
        match folder {
            Some(_) => complaint.help("a path is relative to the experiment file"),
            None => complaint.help("a path is relative to the working directory"),
        },
    );
    None
}
