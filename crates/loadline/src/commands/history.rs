//! `loadline history`: a metric over the stored runs, and where it changed.

use anyhow::Result;
use jiff::tz::TimeZone;
use loadline_analysis::Chronicle;
use loadline_store::Store;

use super::report::local_time;
use crate::arguments::HistoryArguments;
use crate::exit::Exit;
use crate::outputs;
use crate::streams::print;

pub fn history(arguments: &HistoryArguments) -> Result<Exit> {
    let files = [&arguments.json, &arguments.csv].into_iter().flatten();
    outputs::check_files(files.clone())?;
    let metric = loadline_spec::metric(&arguments.metric)?;
    let store = Store::open(&arguments.store)?;
    let mut chronicle = Chronicle::new(&metric);
    let mut runs = store.runs()?;
    // Imported runs have the newest numbers.
    runs.sort_by(|one, other| one.started.cmp(&other.started));
    for run in runs {
        if arguments
            .matching
            .as_ref()
            .is_none_or(|text| run.name.to_lowercase().contains(&text.to_lowercase()))
        {
            chronicle.add(&store.data(Some(run.id))?);
        }
    }
    let history = chronicle.finish();
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
