//! `loadline history`: a metric over the stored runs, and where it changed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use jiff::tz::TimeZone;
use loadline_analysis::Chronicle;
use loadline_model::result::history::History;
use loadline_store::Store;

use super::report::local_time;
use crate::arguments::HistoryArguments;
use crate::exit::Exit;
use crate::outputs;
use crate::streams::print;

pub fn history(arguments: &HistoryArguments) -> Result<Exit> {
    let files = [&arguments.json, &arguments.csv].into_iter().flatten();
    outputs::check_files(files.clone())?;
    let text = arguments.matching.as_deref().unwrap_or_default();
    let history = of_store(&arguments.store, &arguments.metric, text, &AtomicBool::new(false))?;
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

/// The history of a metric, in the words of the command line, over the runs of a store whose name or tag contains this text. Once `stop` is set
/// no further run is read.
///
/// # Errors
/// When the store cannot be read, or its runs have no such metric: a `StoreError`, and a `SpecError`.
pub fn of_store(store: &Path, metric: &str, text: &str, stop: &AtomicBool) -> Result<History> {
    let id = loadline_spec::metric(metric)?;
    let store = Store::open(store)?;
    let mut runs = store.runs()?;
    runs.retain(|run| run.matches(text));
    // Imported runs have the newest numbers.
    runs.sort_by(|one, other| one.started.cmp(&other.started));
    let mut chronicle = Chronicle::new(&id);
    for run in runs {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        chronicle.add(&store.measured(run.id)?);
    }
    match chronicle.known_instead() {
        Some(known) => Err(loadline_spec::unknown_metric(metric, known).into()),
        None => Ok(chronicle.finish()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::Machine;
    use loadline_model::plan::Plan;
    use loadline_model::rows::NewRun;
    use loadline_spec::from_yaml;

    /// A store with two runs that have no figures.
    fn two_runs(path: &Path) {
        let yaml = b"service: {builtin: orders}\nplatforms: [host]\nloads: [{rate: 200/s}]\n";
        let experiment = from_yaml("experiment.yaml", yaml, &loadline_spec::Machine::this(&|_, _| Ok(())));
        let experiment = experiment.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let run = NewRun {
            label: "3fa9c1",
            version: "0.1.0",
            command_line: &[],
            experiment: &experiment,
            plan: &Plan::new(&experiment),
            machine: &Machine::default(),
            service_cpus: &[],
            load_cpus: &[],
            metrics: &[],
        };
        let store = Store::create(path).expect("a store");
        for _ in 0..2 {
            store.begin_run(&run).expect("a run");
        }
    }

    #[test]
    fn a_history_that_nobody_waits_for_reads_no_further_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("loadline.db");
        two_runs(&path);
        let looked_at = |stop| {
            let history = of_store(&path, "response.p50", "", &AtomicBool::new(stop));
            history.expect("a store").left_out.len()
        };
        assert_eq!((looked_at(false), looked_at(true)), (2, 0));
    }
}
