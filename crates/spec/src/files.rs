//! Files that an experiment names.

use std::path::{Path, PathBuf};

use super::draft::Text;
use super::error::{Complaint, Problems};

/// The path of a file that must exist. A relative path is relative to `folder`, that of the experiment file, or to the working directory
/// where there is no such file.
pub(super) fn existing(folder: Option<&Path>, text: &Text, problems: &mut Problems) -> Option<PathBuf> {
    let written = Path::new(text.value.trim());
    let path = folder.map_or_else(|| written.to_owned(), |folder| folder.join(written));
    if path.is_file() {
        return Some(path);
    }
    let complaint = Complaint::new(format!("there is no file {}", path.display()));
    problems.add(
        &text.place,
        match folder {
            Some(_) => complaint.help("a path is relative to the experiment file"),
            None => complaint.help("a path is relative to the working directory"),
        },
    );
    None
}
