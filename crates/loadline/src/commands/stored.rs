//! `loadline compare RUN1 RUN2`: a stored run against an earlier one.

use anyhow::Result;
use loadline_analysis::{analyse, join};
use loadline_spec::add_conditions;
use loadline_store::Store;

use crate::arguments::OutputArguments;
use crate::exit::{Exit, UsageError};
use crate::outputs;

pub fn compare([before, after]: [i64; 2], outputs: &OutputArguments) -> Result<Exit> {
    outputs::check(outputs)?;
    if outputs.flame_graphs.is_some() {
        let why = "--flame-graphs draws those of one run: loadline report RUN --flame-graphs FOLDER";
        return Err(UsageError(why.to_owned()).into());
    }
    let store = Store::open(&outputs.store)?;
    let joined = join(store.data(Some(before))?, store.data(Some(after))?);
    let mut data = joined.map_err(|error| UsageError(error.to_string()))?;
    add_conditions(&mut data.run.experiment, &outputs.fail_if)?;
    let mut result = analyse(&data);
    // No further deployments of a run that is over.
    result.plan.seconds_to_settle = None;
    outputs::write_files(&result, &store, outputs)?;
    outputs::print(&result, outputs, None)?;
    Ok(outputs::exit_of(&result, outputs))
}
