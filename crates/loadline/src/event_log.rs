//! `--events FILE`: what happens in a run, written as it happens, for another process that watches it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use loadline_model::Event;

use crate::outputs::is_stdout;
use crate::streams::tell;

/// Lines of JSON, an event each.
pub struct EventLog {
    out: Box<dyn Write>,
    begun: bool,
    stop: Arc<AtomicBool>,
}

impl EventLog {
    /// Of a run that `stop` ends.
    pub fn create(file: &Path, stop: Arc<AtomicBool>) -> Result<EventLog> {
        let out: Box<dyn Write> = match is_stdout(file) {
            true => Box::new(io::stdout()),
            false => {
                Box::new(File::create(file).with_context(|| format!("cannot write {}", file.display()))?)
            }
        };
        Ok(EventLog { out, begun: false, stop })
    }

    /// Writes an event of the run that has this number in the store. A run whose watcher has left ends: it is what was to stop it.
    pub fn tell(&mut self, run: Option<i64>, event: &Event) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let begins = run.filter(|_| !self.begun).map(|run| Event::Begun { run });
        self.begun |= begins.is_some();
        for event in begins.iter().chain([event]) {
            if let Err(error) = self.write(event) {
                tell(format_args!("nobody can be told any more what happens ({error}): the run ends"));
                self.stop.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// In one piece: a reader never sees half a line of an event that is complete.
    fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}
