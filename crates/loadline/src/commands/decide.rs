//! `loadline decide`: what platforms cost that carry a load over a day, by the capacities that a run found.

use anyhow::Result;
use loadline_analysis::decide as decided;
use loadline_spec::{day_profile, prices_from_yaml_file};
use loadline_store::Store;

use crate::arguments::DecideArguments;
use crate::exit::{Exit, UsageError};
use crate::outputs;
use crate::streams::print;

pub fn decide(arguments: &DecideArguments) -> Result<Exit> {
    outputs::check_files(&arguments.json)?;
    let prices = prices_from_yaml_file(&arguments.prices)?;
    let profile = day_profile(&arguments.load)?;
    let store = Store::open(&arguments.store)?;
    let result = outputs::analyse(&store, arguments.run)?;
    let decision = decided(&result, &profile, &prices).map_err(|error| UsageError(error.to_string()))?;
    match &arguments.json {
        Some(path) => outputs::to(path, |out| loadline_report::decision_json(&decision, out))?,
        None => print(loadline_report::decision(&decision, &result, outputs::style().width).trim_end())?,
    }
    Ok(if decision.trusted { Exit::Done } else { Exit::Untrusted })
}
