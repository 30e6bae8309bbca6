//! One process of a deployment, its service or a helper of a layer: started in its session, cgroup and namespace, on its
//! CPUs; watched; stopped together with everything that it started.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::{
    process::{Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
    thread::CpuSet,
};

use crate::{
    cgroup::Cgroup,
    environment::Environment,
    error::{Error, ErrorContext},
    netns::Netns,
    output::OutputTail,
    owner::{Owner, PROCESS_LABEL},
    process_handle::ProcessHandle,
    processes::ProcessRecord,
    sys::{ChildSetup, Program},
};

/// How long a process may take to exit after SIGTERM.
const TERM_TIMEOUT: Duration = Duration::from_secs(2);

/// Environment variables by name.
pub type Variables = BTreeMap<OsString, OsString>;

/// Where a process runs.
#[derive(Clone, Copy)]
pub struct ProcessPlacement<'a> {
    /// The owner of the process.
    pub owner: Owner,
    /// The network namespace; `None` is the node's.
    pub netns: Option<&'a Netns>,
    /// The cgroup; `None` is loadline's own.
    pub cgroup: Option<&'a Cgroup>,
    /// The CPUs that it is pinned to; empty for all that loadline may use.
    pub cpus: &'a [usize],
}

/// What is started.
pub struct Launch {
    /// The program's file.
    pub path: PathBuf,
    /// The arguments, starting with the program's name.
    pub arguments: Vec<OsString>,
    /// All environment variables; the owner's label is added.
    pub variables: Variables,
    /// The working directory; loadline's own if `None`.
    pub working_dir: Option<PathBuf>,
    /// What it gets as descriptor 3.
    pub third: Option<OwnedFd>,
}

/// A process of a deployment.
pub struct ChildProcess {
    child: Child,
    handle: ProcessHandle,
    output: OutputTail,
}

impl ChildProcess {
    /// Starts a process, registered before this returns.
    ///
    /// # Errors
    /// [`Error::Start`] names the step that failed.
    pub fn start(
        environment: &Environment,
        launch: Launch,
        place: &ProcessPlacement,
    ) -> Result<ChildProcess, Error> {
        let name = launch.arguments.first().map_or(launch.path.as_os_str(), OsString::as_os_str);
        let name = name.to_string_lossy().into_owned();
        let failed = |step, source| Error::Start { command: name.clone(), step, source };
        let (reader, writer) = io::pipe().with_context(|| "create a pipe")?;
        let writer_too = writer.try_clone().with_context(|| "duplicate a pipe")?;

        let mut command = Command::new(&launch.path);
        command.stdin(Stdio::null()).stdout(writer).stderr(writer_too);
        if let Some(dir) = &launch.working_dir {
            dir.read_dir().with_context(|| format!("use the working directory {}", dir.display()))?;
            command.current_dir(dir);
        }
        let mut variables = launch.variables;
        variables.insert(PROCESS_LABEL.into(), place.owner.label().into());
        let setup = ChildSetup {
            cgroups: place.cgroup.map(Cgroup::open_procs).transpose()?.unwrap_or_default(),
            netns: place.netns.map(Netns::try_clone_fd).transpose()?,
            cpus: cpu_set(place.cpus).map_err(|source| failed("pinning it to its CPUs", source))?,
            parent: rustix::process::getpid(),
            third: launch.third,
            program: Program::new(launch.path, launch.arguments, variables)
                .map_err(|source| failed("preparing to start it", source))?,
        };
        let child =
            environment.spawner().spawn(command, setup).map_err(|(step, source)| failed(step, source))?;
        let handle = ProcessHandle::open(child.id());
        let running =
            handle.map(|handle| ChildProcess { child, handle, output: OutputTail::follow(reader) })?;
        if let Some(mark) = ProcessRecord::of(running.handle.raw()) {
            environment.folder().update_state(|state| state.processes.push(mark))?;
        }
        Ok(running)
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit status once the process has ended. It is not reaped yet, so that its id remains the id of its group.
    pub fn exited(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.handle.raw()), options).ok()??;
        // The encoding of `wait(2)`: the signal in the low byte, the exit code in the next.
        let raw = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code << 8,
            (_, Some(signal)) => signal,
            _ => return None,
        };
        Some(ExitStatus::from_raw(raw))
    }

    /// The end of its output so far; complete once it has ended.
    pub fn output_tail(&self) -> String {
        if self.exited().is_some() {
            self.output.wait_for_end();
        }
        self.output.text()
    }

    /// Terminates the whole process group, kills what does not exit in time, and reaps the process.
    ///
    /// # Errors
    /// When waiting for it fails.
    pub fn stop(mut self) -> Result<(), Error> {
        // A group without members, or with dead ones only, is fine.
        let _ = kill_process_group(self.handle.raw(), Signal::TERM);
        self.handle.wait(TERM_TIMEOUT)?;
        let _ = kill_process_group(self.handle.raw(), Signal::KILL);
        self.child.wait().with_context(|| format!("reap process {}", self.handle.pid()))?;
        Ok(())
    }
}

/// The set of the CPUs; `None` for no CPUs, which leaves the affinity of the process as it is.
fn cpu_set(cpus: &[usize]) -> io::Result<Option<CpuSet>> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::Error::other(format!("there is no CPU {cpu}")));
        }
        set.set(cpu);
    }
    Ok((!cpus.is_empty()).then_some(set))
}
