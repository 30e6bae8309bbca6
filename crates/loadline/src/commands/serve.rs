//! `loadline serve`: a built-in service, until it is told to stop.

use anyhow::{Context, Result};
use clap::Parser;
use loadline_services::{Builtin, Hello, Options, Orders};

use crate::arguments::{Arguments, ServeArguments, ServeCommand, ServeOptions};
use crate::exit::Exit;

pub fn serve(arguments: &ServeArguments) -> Result<Exit> {
    let (builtin, common) = service(&arguments.service);
    let ServeOptions { listen, stall } = common;
    loadline_services::serve(listen, builtin, Options { stall })
        .with_context(|| format!("cannot serve on {listen}"))?;
    Ok(Exit::Done)
}

/// Whether a built-in service takes these arguments; the sentence says what is wrong with them.
pub fn check(name: &str, args: &[String]) -> Result<(), String> {
    let line = ["loadline", "serve", name].into_iter().map(str::to_owned).chain(args.iter().cloned());
    match Arguments::try_parse_from(line) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(first.trim_start_matches("error: ").to_owned())
        }
    }
}

fn service(command: &ServeCommand) -> (Builtin, ServeOptions) {
    match command {
        ServeCommand::Orders { orders, delay, at_once, common } => {
            (Builtin::Orders(Orders { orders: *orders, delay: *delay, at_once: *at_once }), common.clone())
        }
        ServeCommand::Hello { common } => (Builtin::Hello(Hello::default()), common.clone()),
        ServeCommand::Cpu { common } => (Builtin::Cpu, common.clone()),
    }
}
