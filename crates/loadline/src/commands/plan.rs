//! `loadline plan`: what a run would do and how long it would take. Nothing is started, and no file is written.

use anyhow::{Context, Result};
use loadline_model::experiment::Experiment;
use loadline_model::plan::Plan;
use loadline_spec::{from_flags, from_yaml_file, to_yaml};
use serde_json::json;

use super::machine::machine;
use crate::arguments::PreviewArguments;
use crate::exit::{Exit, UsageError};
use crate::outputs;

pub fn plan(arguments: &PreviewArguments) -> Result<Exit> {
    let experiment = experiment(arguments)?;
    let preview = loadline_run::preview(&experiment, &Plan::new(&experiment))
        .map_err(|error| UsageError(error.to_string()))?;
    let yaml = to_yaml(&experiment);
    let text = match arguments.json {
        true => format!("{:#}\n", json!({ "experiment": experiment, "yaml": yaml, "plan": preview })),
        false => format!("{yaml}\n{}", loadline_report::preview(&preview, &outputs::style())),
    };
    let mut out = outputs::create("-".as_ref())?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(Exit::Done)
}

/// The experiment of a file or of flags.
pub(super) fn experiment(arguments: &PreviewArguments) -> Result<Experiment> {
    match arguments.file() {
        Some(_) if !arguments.experiment.are_absent() => {
            let why = "an experiment file cannot be combined with flags that describe an experiment: leave out one or the other";
            Err(UsageError(why.to_owned()).into())
        }
        Some(file) => Ok(from_yaml_file(file, &machine())?),
        None => Ok(from_flags(&arguments.flags()?, &machine())?),
    }
}
