//! Whether a program can be started: found as execvp(3) finds it, and executable by this user.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::error::Complaint;

/// Checks that `program` can be started with the search path `path`; nothing is started.
pub(super) fn startable(program: &str, path: &OsStr) -> Result<(), Complaint> {
    if program.is_empty() {
        return Err(Complaint::new("the command is empty").help("write the program and its arguments"));
    }
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let candidates: Vec<PathBuf> = std::env::split_paths(path).map(|folder| folder.join(program)).collect();
    if candidates.iter().any(|candidate| executable(candidate).is_ok()) {
        return Ok(());
    }
    // A file of that name that is not executable is a likelier mistake than a missing program.
    if let Some(found) = candidates.iter().find(|candidate| candidate.is_file()) {
        return executable(found);
    }
    Err(Complaint::new(format!("there is no program `{program}` on the PATH"))
        .help("install it, or write its path; commands run without a shell"))
}

fn executable(program: &Path) -> Result<(), Complaint> {
    let shown = program.display();
    let complain = |message: String, help: String| Err(Complaint::new(message).help(help));
    match std::fs::metadata(program) {
        Err(_) => complain(
            format!("there is no program `{shown}`"),
            "paths are relative to the working directory".to_owned(),
        ),
        Ok(found) if !found.is_file() => {
            complain(format!("`{shown}` is not a program"), "write the path of a file".to_owned())
        }
        Ok(_) if access(program, Access::EXEC_OK).is_err() => {
            complain(format!("`{shown}` is not executable"), format!("chmod +x {shown}"))
        }
        Ok(_) => Ok(()),
    }
}
