//! Python: the interpreter and its standard library, at the paths that are compiled into it. A virtual environment comes whole; the
//! packages beside an interpreter of the machine do not.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Runtime, ask};
use crate::error::ImageError;

/// `sys.path` of an isolated interpreter: the standard library, and the packages installed beside it.
const QUESTION: &str = "import json, sys; print(json.dumps(dict(program=sys.executable, \
    environment=sys.prefix if sys.prefix != sys.base_prefix else None, folders=sys.path)))";

/// Folders without what a service needs: tests, compiled files, which depend on times, windows, and what installs packages.
const LEFT_OUT: [&str; 10] = [
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "lib2to3",
    "site-packages",
    "dist-packages",
];

/// Extension modules of the folders above, by the beginnings of their names.
const MODULES_LEFT_OUT: [&str; 5] = ["_tkinter.", "_test", "_ctypes_test.", "_xxtestfuzz.", "xxlimited"];

#[derive(Deserialize)]
struct Answer {
    program: PathBuf,
    environment: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

/// `python`, `python3`, `python3.12`.
pub fn is_its_name(name: &str) -> bool {
    let version = name.strip_prefix("python");
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

pub fn runtime(found: &Path) -> Result<Runtime, ImageError> {
    let (said, _) = ask(found, ["-I", "-c", QUESTION])?;
    let answer: Answer = serde_json::from_str(said.trim())
        .map_err(|error| ImageError::Asked { program: found.to_owned(), why: error.to_string() })?;
    let mut runtime = Runtime::alone(&answer.program)?;
    for folder in answer.folders.iter().filter(|folder| !is_packages(folder) && folder.is_dir()) {
        runtime.tree.mirror_folder(folder, &is_left_out)?;
    }
    if let Some(environment) = &answer.environment {
        runtime.tree.mirror_folder(environment, &|path| path.ends_with("__pycache__"))?;
    }
    Ok(runtime)
}

fn is_packages(folder: &Path) -> bool {
    folder.ends_with("site-packages") || folder.ends_with("dist-packages")
}

fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        // The static library, with what it was built from.
        return LEFT_OUT.contains(&&*name) || name.starts_with("config-");
    }
    MODULES_LEFT_OUT.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_names_have_a_version_or_none() {
        assert!(["python", "python3", "python3.12"].into_iter().all(is_its_name));
        assert!(!["python3-config", "pythonw", "pypy3", "ipython"].into_iter().any(is_its_name));
    }
}
