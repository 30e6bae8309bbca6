//! How much is said on stderr while something goes on, and in which colours: what `--quiet`, `--verbose` and `--color` choose, once for the
//! whole program.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, ValueEnum};
use tracing_subscriber::EnvFilter;

use crate::streams::tell;

static CHOSEN: OnceLock<ConsoleArguments> = OnceLock::new();

/// What every command takes.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ConsoleArguments {
    /// Show nothing on stderr while it runs but warnings and errors
    #[arg(
        long, short, global = true, conflicts_with = "verbose", help_heading = "Console",
        env = "LOADLINE_QUIET", hide_env = true, value_parser = FalseyValueParser::new(), action = ArgAction::SetTrue
    )]
    quiet: bool,
    /// Log on stderr what is done step by step
    #[arg(long, short, global = true, help_heading = "Console")]
    verbose: bool,
    /// Colours; automatic ones are for a terminal, unless NO_COLOR is set
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        default_value = "auto",
        help_heading = "Console",
        env = "LOADLINE_COLOR",
        hide_env = true
    )]
    color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Chooses, before anything is said.
pub fn choose(arguments: ConsoleArguments) {
    // There is one command line.
    let _ = CHOSEN.set(arguments);
}

fn chosen() -> ConsoleArguments {
    CHOSEN.get().copied().unwrap_or_default()
}

/// Of the two, the one on the command line counts: a configuration file may ask for quiet.
fn is_quiet() -> bool {
    chosen().quiet && !chosen().verbose
}

/// Whether to colour what goes to this stream (no-color.org).
pub fn colour(stream: &impl IsTerminal) -> bool {
    match chosen().color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Whether somebody watches a line that changes.
pub fn is_watched() -> bool {
    !is_quiet() && std::io::stderr().is_terminal()
}

/// Says on stderr how far something is.
pub fn progress(text: impl std::fmt::Display) {
    if !is_quiet() {
        tell(text);
    }
}

/// Which logs are shown: warnings, with `--verbose` every step, or what LOADLINE_LOG asks for.
pub fn log_filter() -> EnvFilter {
    let usual = if chosen().verbose { "debug" } else { "warn" };
    EnvFilter::try_from_env("LOADLINE_LOG").unwrap_or_else(|_| usual.into())
}
