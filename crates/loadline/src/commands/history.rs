//! `loadline history`: a metric over the stored runs, and where it changed.

use std::path::Path;

use anyhow::Result;
use jiff::tz::TimeZone;
use loadline_analysis::Chronicle;
use loadline_model::result::history::History;
use loadline_store::{Store, StoreError};

use super::report::local_time;
use crate::arguments::HistoryArguments;
use crate::exit::Exit;
use crate::outputs;
use crate::streams::print;

pub fn history(arguments: &HistoryArguments) -> Result<Exit> {
    let files = [&arguments.json, &arguments.csv].into_iter().flatten();
    outputs::check_files(files.clone())?;
    let text = arguments.matching.as_deref().unwrap_or_default();
    let metric = loadline_spec::metric(&arguments.metric)?;
    let history = of_store(&arguments.store, &metric, text)?;
    if let Some(path) = &arguments.json {
        outputs::to(path, |out| loadline_report::history_json(&history, out))?;
    }
    if let Some(path) = &arguments.csv {
        outputs::to(path, |out| loadline_report::history_csv(&history, out))?;
    }
    if !files.clone().any(|path| outputs::is_stdout(path)) {
        let (style, zone) = (outputs::style(), TimeZone::system());
        let text = loadline_report::history(&history, style.width, style.colour, |started| {
            local_time(started, &zone)
        });
        print(text.trim_end())?;
    }
    Ok(Exit::Done)
}

/// The history of a metric, named by its id, over the runs of a store whose name or tag contains this text.
pub fn of_store(store: &Path, metric: &str, text: &str) -> Result<History, StoreError> {
    let store = Store::open(store)?;
    let mut runs = store.runs()?;
    runs.retain(|run| run.matches(text));
    // Imported runs have the newest numbers.
    runs.sort_by(|one, other| one.started.cmp(&other.started));
    let mut chronicle = Chronicle::new(metric);
    for run in runs {
        let run = store.run(Some(run.id))?;
        chronicle.add(&run, &store.slices(run.id)?);
    }
    Ok(chronicle.finish())
}
