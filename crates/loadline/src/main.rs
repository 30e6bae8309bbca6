//! loadline: what a deployment platform costs an HTTP service, proved with intervals.
//!
//! This crate is the command line and nothing else: arguments, progress, exit codes.

mod arguments;
mod commands;
mod exit;
mod interrupt;
mod outputs;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::Exit;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(log_filter())
        .without_time()
        .init();
    let result = match arguments.command {
        Command::Compare(arguments) => commands::compare(&arguments),
        Command::Run(arguments) => commands::run(&arguments),
        Command::Load(arguments) => commands::load(&arguments),
        Command::Report(arguments) => commands::report(&arguments),
        Command::Serve(arguments) => commands::serve(&arguments),
        Command::Clean => commands::clean(),
        Command::Schema { which } => commands::schema(which),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            exit::print_error(&error);
            Exit::of(&error).into()
        }
    }
}

/// Warnings, unless LOADLINE_LOG asks for more.
fn log_filter() -> tracing_subscriber::EnvFilter {
    tracing_subscriber::EnvFilter::try_from_env("LOADLINE_LOG").unwrap_or_else(|_| "warn".into())
}
