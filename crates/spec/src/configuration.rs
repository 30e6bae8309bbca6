//! The user's configuration file: what options of the command line are where they are not given.

use std::path::Path;

use crate::error::{Complaint, Problems, SpecError};
use crate::kinds::{choice, parsed, switch};
use crate::options::Table;
use crate::yaml;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// File in which runs are stored: `--store`.
    pub store: Option<String>,
    /// When to use colours: `--color`.
    pub color: Option<&'static str>,
    /// Whether nothing is shown while something is measured: `--quiet`.
    pub quiet: Option<bool>,
    /// Whether to measure beside another loadline: `--anyway`.
    pub anyway: Option<bool>,
}

impl Configuration {
    /// Reads the file at `path`. One without keys says nothing.
    ///
    /// # Errors
    /// When the file cannot be read, is not YAML, or has other keys or values.
    pub fn from_yaml_file(path: &Path) -> Result<Configuration, SpecError> {
        let name = path.display().to_string();
        let bytes = yaml::contents(path, "configuration file")?;
        let text = yaml::text(&name, &bytes)?;
        if text.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#')) {
            return Ok(Configuration::default());
        }
        let fail = |problems| SpecError::in_file(problems, &name, text);
        let tree = yaml::parse(text).map_err(|(place, complaint)| fail(vec![complaint.at(&place)]))?;
        let mut problems = Problems::default();
        let read = table().read_partly(tree, &mut problems).map(|written| written.value);
        problems.finish(read).map_err(fail)
    }
}

fn table() -> Table<Configuration> {
    const COLOURS: &[(&str, &str)] = &[("auto", "auto"), ("always", "always"), ("never", "never")];
    Table::<Configuration>::new("Configuration", "configuration", "")
        .key("store", parsed(file), "", |keys| &mut keys.store)
        .key("color", choice("a choice of colours", COLOURS), "", |keys| &mut keys.color)
        .key("quiet", switch(), "", |keys| &mut keys.quiet)
        .key("anyway", switch(), "", |keys| &mut keys.anyway)
}

/// A file for all working directories.
fn file(text: &str) -> Result<String, Complaint> {
    let path = text.trim();
    match Path::new(path).is_absolute() {
        true => Ok(path.to_owned()),
        false => Err(Complaint::new(format!("`{path}` would be a different file in each folder"))
            .help("write an absolute path: /home/me/loadline.db")),
    }
}
