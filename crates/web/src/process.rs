//! A run in a process of its own, so that what goes wrong in it ends nothing else, and what this server does takes no time from it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

use loadline_model::{Event, printable};
use rustix::process::{Pid, Signal, kill_process};

use crate::program::Program;

/// How much of what it says on stderr is kept: its end.
const MOST_SAID: usize = 16 * 1024;

/// How it ended.
pub(crate) struct Ended {
    /// Its exit code; absent if it was killed.
    pub code: Option<i32>,
    /// The end of what it said on stderr.
    pub said: String,
}

/// A run that was started.
pub(crate) struct Process(Child);

impl Process {
    /// Starts to measure the experiment.
    pub(crate) fn start(program: &dyn Program, store: &Path, yaml: &str) -> io::Result<Process> {
        let mut command = program.run(store);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in the server's terminal reaches the server, which passes it on: twice would end the run without its tidying up.
        command.process_group(0);
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // If it ends before it has read this, it says why.
            let _ = stdin.write_all(yaml.as_bytes());
        }
        Ok(Process(child))
    }

    pub(crate) fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.0.id() as i32)
    }

    /// Hands over its events until it ends.
    pub(crate) fn follow(mut self, mut on_event: impl FnMut(&Event)) -> Ended {
        let stderr = self.0.stderr.take();
        let listening = thread::spawn(move || stderr.map(end_of).unwrap_or_default());
        if let Some(stdout) = self.0.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                match serde_json::from_str(&line) {
                    Ok(event) => on_event(&event),
                    Err(error) => tracing::warn!("a run said what is not an event: {error}"),
                }
            }
        }
        let code = self.0.wait().ok().and_then(|status| status.code());
        let said = listening.join().unwrap_or_default();
        Ended { code, said: printable(said.trim_end()).into_owned() }
    }
}

/// As Ctrl-C: it keeps what was measured, and removes what it created.
pub(crate) fn interrupt(pid: Pid) {
    // One that is gone needs no signal.
    let _ = kill_process(pid, Signal::INT);
}

fn end_of(mut from: impl Read) -> String {
    let (mut said, mut next) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut next) {
        said.extend_from_slice(&next[..count]);
        let more = said.len().saturating_sub(MOST_SAID);
        said.drain(..more);
    }
    String::from_utf8_lossy(&said).into_owned()
}
