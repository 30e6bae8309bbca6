//! What measures, or tries requests out, is a process of its own, so that what goes wrong in it ends nothing else. It has
//! the scheduling policy of the thread that starts it, which must be the usual one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use loadline_model::{Event, printable};
use rustix::process::{Pid, Signal, kill_process};

/// How much of what it says on stderr is kept: its end.
const MOST_SAID: usize = 16 * 1024;
/// How much of an output is read.
const MOST_PUT_OUT: u64 = 4 << 20;
/// How often to check whether one has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How long one that was interrupted may tidy up.
const FOR_TIDYING_UP: Duration = Duration::from_secs(60);

/// How it ended.
pub(crate) struct Ended {
    /// Its exit code; absent if it was killed.
    pub code: Option<i32>,
    /// The end of what it said on stderr.
    pub said: String,
}

/// One that was started.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a command that reads an experiment.
    pub(crate) fn start(mut command: Command, yaml: &str) -> io::Result<Process> {
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

    fn ends_within(&mut self, time: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < time && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// What it puts out, once it has ended. It is interrupted if that takes longer than this.
    pub(crate) fn output(mut self, within: Duration) -> (String, Ended) {
        let (stdout, stderr) = (self.0.stdout.take(), self.0.stderr.take());
        let reading = thread::spawn(move || stdout.map(beginning_of).unwrap_or_default());
        let listening = thread::spawn(move || stderr.map(end_of).unwrap_or_default());
        if !self.ends_within(within) {
            self.pid().into_iter().for_each(interrupt);
            if !self.ends_within(FOR_TIDYING_UP) {
                // It hangs. What it leaves is removed at the server's next start.
                let _ = self.0.kill();
            }
        }
        let code = self.0.wait().ok().and_then(|status| status.code());
        let said = listening.join().unwrap_or_default();
        let ended = Ended { code, said: printable(said.trim_end()).into_owned() };
        (reading.join().unwrap_or_default(), ended)
    }
}

/// As Ctrl-C: it keeps what was measured, and removes what it created.
pub(crate) fn interrupt(pid: Pid) {
    // One that is gone needs no signal.
    let _ = kill_process(pid, Signal::INT);
}

fn beginning_of(from: impl Read) -> String {
    let mut read = Vec::new();
    // What came before an error is still of use.
    let _ = from.take(MOST_PUT_OUT).read_to_end(&mut read);
    String::from_utf8_lossy(&read).into_owned()
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
