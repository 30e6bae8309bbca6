//! `loadline completions` and `loadline man`: what shells and man(1) read, made from the same declaration as the help.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::streams::{print, tell};

/// The name under which it is installed.
const NAME: &str = "loadline";

/// Prints a script that completes commands, options and their values.
pub fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut script);
    print(String::from_utf8(script)?.trim_end())?;
    Ok(Exit::Done)
}

/// Writes a man page for loadline and for each of its commands.
pub fn man(folder: &Path) -> Result<Exit> {
    let failed = || format!("cannot write man pages into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(Arguments::command(), folder).with_context(failed)?;
    tell(format_args!("man pages are in {}: man -l {}/{NAME}.1", folder.display(), folder.display()));
    Ok(Exit::Done)
}
