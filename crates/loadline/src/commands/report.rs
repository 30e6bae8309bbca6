//! `loadline report`: a stored run again, in any form, or a list of the runs.

use std::path::Path;

use anyhow::Result;
use jiff::{Timestamp, tz::TimeZone};
use loadline_spec::add_conditions;
use loadline_store::Store;

use crate::arguments::{OutputArguments, ReportArguments};
use crate::exit::{Exit, UsageError};
use crate::outputs;
use crate::streams::print;

pub fn report(arguments: &ReportArguments) -> Result<Exit> {
    refuse_events(&arguments.outputs)?;
    let store = Store::open(&arguments.outputs.store)?;
    if arguments.list {
        list(&store, &arguments.outputs.store, arguments.last, arguments.matching.as_deref())?;
        return Ok(Exit::Done);
    }
    let mut data = store.data(arguments.run)?;
    add_conditions(&mut data.run.experiment, &arguments.outputs.fail_if)?;
    let result = loadline_analysis::analyse(&data);
    outputs::write(&result, &store, &arguments.outputs)?;
    Ok(outputs::exit_of(&result, &arguments.outputs))
}

/// Refuses to tell of what is over.
pub(super) fn refuse_events(outputs: &OutputArguments) -> Result<(), UsageError> {
    match outputs.events {
        None => Ok(()),
        Some(_) => Err(UsageError("--events tells of a run while it is measured: leave it out".to_owned())),
    }
}

/// Lists the newest runs of a store, those about a text if there is one. `file`: where the store is.
pub(super) fn list(store: &Store, file: &Path, last: usize, matching: Option<&str>) -> Result<()> {
    let mut results = Vec::new();
    for run in store.runs()?.into_iter().rev() {
        if results.len() == last {
            break;
        }
        let result = outputs::analyse(store, Some(run.id))?;
        if matching.is_none_or(|text| loadline_report::matches(&result, text)) {
            results.push(result);
        }
    }
    results.reverse();
    if results.is_empty() {
        let about = matching.map(|text| format!(" about “{text}”")).unwrap_or_default();
        return print(format_args!("no runs{about} in {}", file.display()));
    }
    let zone = TimeZone::system();
    let listed = loadline_report::list(&results, &outputs::style(), |started| local_time(started, &zone));
    print(listed.trim_end())
}

/// Without the seconds; what is no time stays as it is.
pub(super) fn local_time(started: &str, zone: &TimeZone) -> String {
    let time: Result<Timestamp, _> = started.parse();
    time.map_or_else(
        |_| started.to_owned(),
        |time| time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
