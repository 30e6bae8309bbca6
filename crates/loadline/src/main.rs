//! loadline: what a deployment platform costs an HTTP service, proved with intervals.
//!
//! This crate is the command line and nothing else: arguments, progress, exit codes.

mod arguments;
mod commands;
mod configuration;
mod console;
mod event_log;
mod exit;
mod flame_graphs;
mod interrupt;
mod journal;
mod outputs;
mod progress;
mod streams;
mod turn;

use std::process::ExitCode;

use rustix::process::{Resource, Rlimit};

use arguments::Command;
use exit::Exit;

fn main() -> ExitCode {
    let arguments = match configuration::arguments() {
        Ok(arguments) => arguments,
        Err(error) => return fail(&error.into()),
    };
    console::choose(arguments.console);
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(console::log_filter())
        .without_time()
        .init();
    allow_many_connections();
    let result = match arguments.command {
        Command::Compare(arguments) => commands::compare(&arguments),
        Command::Run(arguments) => commands::run(&arguments),
        Command::Plan(arguments) => commands::plan(&arguments),
        Command::Try(arguments) => commands::try_out(&arguments),
        Command::Layers(arguments) => commands::layers(&arguments),
        Command::Capacity(arguments) => commands::capacity(&arguments),
        Command::Load(arguments) => commands::load(&arguments),
        Command::Report(arguments) => commands::report(&arguments),
        Command::Decide(arguments) => commands::decide(&arguments),
        Command::History(arguments) => commands::history(&arguments),
        Command::Ui(arguments) => commands::ui(&arguments),
        Command::Store(arguments) => commands::store(&arguments),
        Command::Serve(arguments) => commands::serve(&arguments),
        Command::Init(arguments) => commands::init(&arguments),
        Command::Image(arguments) => commands::image(&arguments),
        Command::Agent(arguments) => commands::agent(&arguments),
        Command::Doctor(arguments) => commands::doctor(&arguments),
        Command::Clean => commands::clean(),
        Command::Schema { which } => commands::schema(which),
        Command::Completions { shell } => commands::completions(shell),
        Command::Man { folder } => commands::man(&folder),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    exit::print_error(error);
    Exit::of(error).into()
}

/// Raises the soft limit on open files to the hard one: every connection is one, and the usual soft limit is 1024.
fn allow_many_connections() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = rustix::process::setrlimit(Resource::Nofile, raised) {
        tracing::warn!("the limit on open files stays at {:?}: {error}", limit.current);
    }
}
