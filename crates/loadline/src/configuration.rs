//! Arguments with the defaults of the user's configuration file, which the environment and the command line override.

use std::path::PathBuf;

use clap::{Command, CommandFactory, FromArgMatches};
use loadline_spec::{Configuration, SpecError};

use crate::arguments::Arguments;

/// Names the file; empty for none.
const VARIABLE: &str = "LOADLINE_CONFIG";

/// The arguments of this program; ends it where clap does, after `--help` for example.
///
/// # Errors
/// When the configuration file is not valid.
pub fn arguments() -> Result<Arguments, SpecError> {
    let configuration = match file() {
        Some(path) => Configuration::from_yaml_file(&path)?,
        None => Configuration::default(),
    };
    let command = with_defaults(Arguments::command(), &defaults(configuration));
    Ok(Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit()))
}

/// The user's file, if there is one (XDG Base Directory Specification), or the one that the environment names.
fn file() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(named)).filter(|path| !path.as_os_str().is_empty());
    }
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(folder.join("loadline/config.yaml")).filter(|path| path.exists())
}

/// The options that it is about, and their values.
fn defaults(configuration: Configuration) -> Vec<(&'static str, &'static str)> {
    let switch = |on: bool| if on { "true" } else { "false" };
    let Configuration { store, color, quiet, anyway } = configuration;
    let all = [
        // It lives as long as the program, as clap wants it.
        ("store", store.map(|store| &*store.leak())),
        ("color", color),
        ("quiet", quiet.map(switch)),
        ("anyway", anyway.map(switch)),
    ];
    all.into_iter().filter_map(|(option, value)| Some((option, value?))).collect()
}

/// The command and all below it, with these defaults where they have such an option.
fn with_defaults(command: Command, defaults: &[(&'static str, &'static str)]) -> Command {
    let has = |command: &Command, option: &str| command.get_arguments().any(|arg| arg.get_id() == option);
    let command = defaults.iter().fold(command, |command, (option, value)| match has(&command, option) {
        true => command.mut_arg(option, |arg| arg.default_value(value)),
        false => command,
    });
    command.mut_subcommands(|subcommand| with_defaults(subcommand, defaults))
}
