//! What is shown and written of each second while the load goes on: the line on the terminal, the CSV, the log of histograms.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use loadline_analysis::Seconds;
use loadline_engine::Record;
use loadline_model::Second;
use loadline_report::load::{IntervalLog, SecondsCsv};

use super::live::Live;
use crate::arguments::LoadArguments;
use crate::console::is_watched;
use crate::outputs::create;

/// The outputs of seconds.
pub struct PerSecond {
    seconds: Seconds,
    outputs: Outputs,
}

impl PerSecond {
    /// Creates the files. The load has the length `whole`, and its records come every `interval`.
    pub fn new(
        arguments: &LoadArguments,
        whole: Duration,
        interval: Duration,
        started: SystemTime,
    ) -> Result<PerSecond> {
        let outputs = Outputs {
            live: Live::new(whole),
            csv: of_file(arguments.csv.as_ref(), |out| Ok(SecondsCsv::new(out)?))?,
            log: of_file(arguments.hlog.as_ref(), |out| Ok(IntervalLog::new(out, started)?))?,
        };
        Ok(PerSecond { seconds: Seconds::new(interval, whole), outputs })
    }

    /// Whether anything is shown or written.
    pub fn is_wanted(arguments: &LoadArguments) -> bool {
        arguments.csv.is_some() || arguments.hlog.is_some() || is_watched()
    }

    /// Takes the record of an interval, and puts out the second that ends with it, if one does.
    pub fn take(&mut self, interval: &Record) -> Result<()> {
        self.seconds.take(interval, |second| self.outputs.second(second))
    }

    /// Wipes the line on the terminal.
    pub fn wipe(&self) {
        self.outputs.live.finish();
    }

    /// Puts out the last second of a load that was as long as this.
    pub fn finish(&mut self, duration: Duration) -> Result<()> {
        let written = self.seconds.finish(duration, |second| self.outputs.second(second));
        self.wipe();
        written
    }
}

struct Outputs {
    live: Live,
    csv: Option<(SecondsCsv<Box<dyn Write>>, PathBuf)>,
    log: Option<(IntervalLog<Box<dyn Write>>, PathBuf)>,
}

impl Outputs {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.live.show(second);
        if let Some((csv, path)) = &mut self.csv {
            csv.second(second).with_context(|| cannot_write(path))?;
        }
        if let Some((log, path)) = &mut self.log {
            log.second(second).with_context(|| cannot_write(path))?;
        }
        Ok(())
    }
}

fn of_file<T>(
    path: Option<&PathBuf>,
    begin: impl FnOnce(Box<dyn Write>) -> Result<T>,
) -> Result<Option<(T, PathBuf)>> {
    path.map(|path| Ok((begin(create(path)?).with_context(|| cannot_write(path))?, path.clone()))).transpose()
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
