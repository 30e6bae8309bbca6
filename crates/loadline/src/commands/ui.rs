//! `loadline ui`: the stored runs as pages, and new ones started from them.

mod offers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::Parser;
use loadline_machine::{Registry, Turn};
use loadline_model::experiment::{Experiment, Service};
use loadline_model::plan::Plan;
use loadline_model::result::history::History;
use loadline_observe::describe_machine;
use loadline_report::Style;
use loadline_spec::{
    Flags, SpecError, add_conditions, from_flags, from_flags_for, from_yaml, is_reference_service,
    service_lines, to_yaml,
};
use loadline_store::Store;
use loadline_web::{Certificate, Draft, NoHistory, Offer, Program, Token, Ui};

use offers::Offers;

use super::experiment::own_program;
use super::history;
use super::machine::machine;
use super::measured;
use crate::arguments::{Arguments, Command as Subcommand, UiArguments, or_orders};
use crate::exit::{Exit, UsageError};
use crate::streams::{print, tell};
use crate::{interrupt, outputs};

/// What a complaint calls an experiment that is in no file.
const NAME: &str = "experiment.yaml";
/// Columns that a plan is printed for.
const WIDTH: usize = 100;

pub fn ui(arguments: &UiArguments) -> Result<Exit> {
    let is_open = !arguments.listen.ip().is_loopback();
    if is_open && arguments.certificate.is_none() && !arguments.plain_http {
        let why = "other machines can reach this address, and anyone with the token can start programs as this user: give --certificate and \
             --key, or accept the risk with --plain-http";
        return Err(UsageError(why.to_owned()).into());
    }
    outputs::check_files([&arguments.store])?;
    let stop = interrupt::stop_flag()?;
    let certificate = arguments.certificate.clone().zip(arguments.key.clone());
    let ui = Ui {
        store: arguments.store.clone(),
        listen: arguments.listen,
        names: arguments.name.clone(),
        token: token(arguments.token_file.as_deref())?,
        certificate: certificate.map(|(chain, key)| Certificate { chain, key }),
        program: Arc::new(ThisProgram { file: own_program()?, offers: Offers::default() }),
    };
    // What a server that was killed left of its run.
    if let Err(error) = loadline_machine::clean(&loadline_platforms::cleaners(), &mut Vec::new()) {
        tell(format_args!("what an earlier run left could not be removed: {error:#}"));
    }
    if let Err(error) = end_killed_runs(&arguments.store) {
        tell(format_args!("runs that were killed are still shown as not finished: {error:#}"));
    }
    loadline_web::serve(ui, &stop, |url| {
        // Without a reader there is nobody to tell.
        let _ = print(format_args!("{url}"));
    })?;
    Ok(Exit::Done)
}

/// Ends the runs that nobody measures any more, as after a loss of power.
fn end_killed_runs(store: &Path) -> Result<()> {
    if !store.exists() {
        return Ok(());
    }
    let registry = Registry::of_this_user()?;
    // A run that has just begun may not have registered yet.
    let Turn::Ours(_turn) = registry.take_turn()? else { return Ok(()) };
    let alive: Vec<String> = registry.live_runs()?.iter().map(ToString::to_string).collect();
    Ok(Store::open(store)?.end_killed_runs(describe_machine().hostname.as_deref(), &alive)?)
}

fn token(file: Option<&Path>) -> Result<Token> {
    let Some(file) = file else { return Token::random().context("cannot draw a token") };
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let why = || {
        UsageError(format!("the token in {} is not one: 16 letters, digits, - or _ at least", file.display()))
    };
    Ok(Token::chosen(text.trim()).ok_or_else(why)?)
}

/// This command line, as the server uses it.
struct ThisProgram {
    file: PathBuf,
    offers: Offers,
}

impl Program for ThisProgram {
    fn services(&self) -> Vec<String> {
        service_lines(&machine())
    }

    fn is_reference(&self, service: &Service) -> bool {
        is_reference_service(service, &machine())
    }

    fn platforms(&self) -> Vec<Offer> {
        self.offers.all()
    }

    fn known_platforms(&self) -> Vec<Offer> {
        self.offers.known()
    }

    fn draft(&self, yaml: &str) -> Result<Draft, String> {
        let experiment = from_yaml(NAME, yaml.as_bytes(), &machine());
        draft(&experiment.map_err(|error| error.render(false))?)
    }

    fn draft_of_flags(&self, flags: &[String]) -> Result<Draft, String> {
        draft_of(flags, |flags| from_flags(&or_orders(flags), &machine()))
    }

    fn draft_of_service(&self, service: &Service, flags: &[String]) -> Result<Draft, String> {
        draft_of(flags, |flags| from_flags_for(service, &flags, &machine()))
    }

    fn yaml(&self, experiment: &Experiment) -> String {
        to_yaml(experiment)
    }

    fn history(
        &self,
        store: &Path,
        metric: &str,
        text: &str,
        stop: &AtomicBool,
    ) -> Result<History, NoHistory> {
        history::of_store(store, metric, text, stop).map_err(|error| match error.downcast() {
            Ok(unreadable) => NoHistory::Store(unreadable),
            Err(error) => NoHistory::Metric(error.to_string()),
        })
    }

    fn alive(&self) -> Vec<String> {
        measured::alive()
    }

    fn others_measure(&self) -> bool {
        measured::is_anybody_measuring()
    }

    fn shrink(&self, store: &Store) {
        measured::shrink(store);
    }

    fn run(&self, store: &Path) -> Command {
        let mut command = Command::new(&self.file);
        command.args(["run", "-", "--events", "-", "--store"]).arg(store);
        command
    }

    fn try_out(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.args(["--quiet", "try", "-"]);
        command
    }
}

/// What the flags of a command line ask for, if `made` makes an experiment of them.
fn draft_of(
    flags: &[String],
    made: impl FnOnce(Flags) -> Result<Experiment, SpecError>,
) -> Result<Draft, String> {
    let command = if flags.iter().any(|flag| flag == "--objective") { "capacity" } else { "compare" };
    let line = ["loadline", command].into_iter().map(str::to_owned).chain(flags.iter().cloned());
    let arguments = Arguments::try_parse_from(line).map_err(|error| error.to_string())?;
    let (flags, outputs) = match &arguments.command {
        Subcommand::Compare(arguments) => (arguments.without_service(), &arguments.outputs),
        Subcommand::Capacity(arguments) => (arguments.without_service(), &arguments.outputs),
        _ => return Err("these are no flags".to_owned()),
    };
    let flags = flags.map_err(|error| error.to_string())?;
    let mut experiment = made(flags).map_err(|error| error.render(false))?;
    add_conditions(&mut experiment, &outputs.fail_if).map_err(|error| error.render(false))?;
    draft(&experiment)
}

fn draft(experiment: &Experiment) -> Result<Draft, String> {
    let preview =
        loadline_run::preview(experiment, &Plan::new(experiment)).map_err(|error| error.to_string())?;
    let style = Style { colour: false, width: WIDTH, full: false, by_request: false, spectrum: false };
    let total = preview.time.total_s;
    Ok(Draft {
        name: experiment.name.clone(),
        yaml: to_yaml(experiment),
        plan: loadline_report::preview(&preview, &style),
        seconds: [total.least, total.most],
    })
}
