//! Programs under measurement: started on their CPU, always ended by their pid, with the CPU time that they used.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::sys;

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Invocation {
    /// A program without arguments.
    pub fn of(program: impl Into<PathBuf>) -> Invocation {
        Invocation { program: program.into(), arguments: Vec::new() }
    }

    /// Adds one argument.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Invocation {
        self.arguments.push(argument.into());
        self
    }

    /// Adds the words of a line.
    pub fn args(self, line: &str) -> Invocation {
        line.split_whitespace().fold(self, Invocation::arg)
    }
}

/// As one would type it; folders are left out.
impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program.file_name().unwrap_or_default().to_string_lossy())?;
        for argument in &self.arguments {
            let argument = argument.to_string_lossy();
            let plain = match argument.rsplit_once('/') {
                Some((folder, file)) if folder.starts_with('/') => file,
                _ => &argument,
            };
            if plain.contains(['{', ' ', '"', '*']) {
                write!(f, " '{plain}'")?
            } else {
                write!(f, " {plain}")?
            }
        }
        Ok(())
    }
}

/// A running program. It is killed when this value is dropped, and by the kernel when this process ends.
pub struct Running {
    child: Child,
    /// Whether it was waited for, so that its pid may have been reused.
    gone: bool,
    name: String,
    outputs: [PathBuf; 2],
}

/// The outcome of a program.
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// User and system time of all its threads, its start included.
    pub cpu: Duration,
    /// What it printed.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Running {
    /// Starts a program on one CPU. Its output goes to files in `folder`, because a full pipe would stall it.
    pub fn start(invocation: &Invocation, cpu: usize, folder: &Path) -> Result<Running> {
        let name = invocation.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let outputs = ["stdout", "stderr"].map(|stream| folder.join(format!("{name}.{stream}")));
        let [stdout, stderr] = [File::create(&outputs[0])?, File::create(&outputs[1])?];
        // Both replace themselves by the command that follows, so the pid becomes the program's.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "taskset", "--cpu-list", &cpu.to_string()])
            .arg(&invocation.program)
            .args(&invocation.arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .context("cannot start setpriv")?;
        Ok(Running { child, gone: false, name, outputs })
    }

    /// Waits for its end for this time; waiting uses no CPU. Returns whether it ended.
    pub fn ends_within(&self, time: Duration) -> Result<bool> {
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            // A signal for this process: the caller checks whether it was asked to stop.
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for its end, and kills it after `limit`.
    pub fn finish(mut self, limit: Duration) -> Result<Ended> {
        let started = Instant::now();
        while !self.ends_within(limit.saturating_sub(started.elapsed()))? {
            if started.elapsed() >= limit {
                bail!("{} did not end within {limit:?}", self.name);
            }
        }
        let (status, cpu) = sys::wait_with_cpu_time(&self.child)?;
        self.gone = true;
        let [stdout, stderr] = self
            .outputs
            .each_ref()
            .map(|file| fs::read(file).map(|text| String::from_utf8_lossy(&text).into_owned()));
        Ok(Ended { status, cpu, stdout: stdout?, stderr: stderr? })
    }

    /// A line of `/proc/PID/status` in bytes: VmRSS, VmHWM. `None` once it has ended.
    pub fn memory(&self, line: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        memory_line(&status, line)
    }
}

fn memory_line(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.gone {
            // It may already have ended: then there is nothing to kill, and waiting returns at once.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(line: &str, folder: &Path) -> Running {
        let (program, arguments) = line.split_once(' ').unwrap_or((line, ""));
        Running::start(&Invocation::of(program).args(arguments), 0, folder).expect("starts")
    }

    #[test]
    fn a_program_ends_with_its_output_its_status_and_its_cpu_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let ended = start("dd if=/dev/zero of=/dev/null bs=1M count=2000", folder.path())
            .finish(Duration::from_secs(60))
            .expect("ends");
        assert!(ended.status.success() && ended.stderr.contains("2000+0 records out"), "{}", ended.stderr);
        assert!(
            ended.cpu > Duration::from_millis(1) && ended.cpu < Duration::from_secs(60),
            "{:?}",
            ended.cpu
        );
    }

    #[test]
    fn a_program_that_goes_on_is_killed_by_its_pid() {
        let folder = tempfile::tempdir().expect("a folder");
        let sleeper = start("sleep 1000", folder.path());
        assert!(!sleeper.ends_within(Duration::from_millis(50)).expect("asks"));
        assert!(sleeper.memory("VmRSS").expect("it runs") > 0);
        let pid = sleeper.child.id();
        drop(sleeper);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());

        let sleeper = start("sleep 1000", folder.path());
        let complaint = sleeper.finish(Duration::from_millis(20)).err().expect("a complaint");
        assert!(complaint.to_string().contains("sleep did not end within"), "{complaint}");
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(memory_line("VmPeak:\t 10 kB\nVmRSS:\t    4064 kB\n", "VmRSS"), Some(4064 * 1024));
        assert_eq!(memory_line("Name:\tzombie\n", "VmRSS"), None);
    }

    #[test]
    fn a_command_reads_as_one_would_type_it() {
        let command = Invocation::of("/opt/bin/k6").args("run -e").arg("A={\"b\":1}").arg("/tmp/x/k6.js");
        assert_eq!(command.to_string(), "k6 run -e 'A={\"b\":1}' k6.js");
        assert_eq!(Invocation::of("wrk").args("-d3s http://h/").to_string(), "wrk -d3s http://h/");
    }
}
