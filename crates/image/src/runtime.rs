//! A program of this machine that an image gets beside a folder, with the files that it cannot do without. What these are the program is
//! asked itself where it is known to have any: the one that is found may be a script that starts another.

mod java;
mod node;
mod python;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::elf::{UnsuitableProgram, examine};
use crate::error::ImageError;
use crate::find;
use crate::libraries::Moved;
use crate::tree::Tree;

/// A program and its files.
pub struct Runtime {
    /// What a command may call it, without a folder: what was given, and the names of its file.
    pub names: Vec<String>,
    /// What was given.
    pub given: PathBuf,
    /// Where the program is in the image, and here; the one here without symbolic links.
    pub program: PathBuf,
    pub here: PathBuf,
    pub tree: Tree,
    /// Where its files are in the image, if not where they are here.
    pub moved: Option<Moved>,
}

impl Runtime {
    /// Finds a program by its path, or by its name in the folders of `PATH`.
    pub fn find(given: &Path) -> Result<Runtime, ImageError> {
        let found = find::program(given)?;
        let name = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut runtime = match name.as_str() {
            "java" => java::runtime(&found)?,
            "node" | "nodejs" => node::runtime(&found)?,
            _ if python::is_its_name(&name) => python::runtime(&found)?,
            _ => Runtime::alone(&found)?,
        };
        runtime.given = given.to_owned();
        let files = [runtime.program.as_path(), runtime.here.as_path()].map(Path::file_name);
        let files = files.into_iter().flatten().map(|file| file.to_string_lossy().into_owned());
        runtime.names = [name].into_iter().chain(files).collect();
        runtime.names.dedup();
        Ok(runtime)
    }

    /// A program that needs libraries at most, at its own path.
    fn alone(program: &Path) -> Result<Runtime, ImageError> {
        let program = std::path::absolute(program).map_err(ImageError::unreadable(program))?;
        let mut tree = Tree::default();
        let here = tree.mirror(&program)?;
        check(&program, &here)?;
        Ok(Runtime { names: Vec::new(), given: program.clone(), program, here, tree, moved: None })
    }
}

/// Refuses what the kernel would not start.
fn check(shown: &Path, file: &Path) -> Result<(), ImageError> {
    let open = std::fs::File::open(file).map_err(ImageError::unreadable(file))?;
    match examine(&object::ReadCache::new(&open)) {
        Ok(_) | Err(UnsuitableProgram::Dynamic { .. }) => Ok(()),
        Err(UnsuitableProgram::Script) => Err(ImageError::ScriptWith(shown.to_owned())),
        Err(why) => Err(ImageError::UnsuitableProgram { path: shown.to_owned(), why }),
    }
}

/// What a program prints, asked with these arguments: standard output, standard error.
fn ask(
    program: &Path,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<(String, String), ImageError> {
    let failed = |why: String| ImageError::Asked { program: program.to_owned(), why };
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let [out, err] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    if output.status.success() {
        return Ok((out, err));
    }
    let said = if err.trim().is_empty() { out } else { err };
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = lines[lines.len().saturating_sub(3)..].join("; ");
    Err(failed(format!("{}: {said}", output.status)))
}
