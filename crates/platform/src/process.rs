//! One process of a deployment, its service or what a layer needs beside it: started in its session, cgroup and
//! namespace, on its CPUs; watched; stopped with all that it started itself.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid},
    thread::CpuSet,
};

use crate::{
    Cgroup, Error, Ground, Netns, Service,
    error::Doing,
    output::OutputTail,
    owner::{Owner, PROCESS_LABEL},
    processes::ProcessMark,
    sys::{ChildSetup, Program},
    tool,
};

/// How long a service may take to end by itself after SIGTERM.
const TERM_PATIENCE: Duration = Duration::from_secs(2);

type Environment = BTreeMap<OsString, OsString>;

/// Where a process is put.
pub(crate) struct Place<'a> {
    pub owner: Owner,
    /// `None` is the node's.
    pub netns: Option<&'a Netns>,
    pub cgroup: Option<&'a Cgroup>,
    /// What it listens on: a service is told so.
    pub listen: std::net::SocketAddrV4,
}

/// A program that a layer needs beside the service: a proxy.
pub(crate) struct Helper {
    pub path: PathBuf,
    /// Its own name first.
    pub arguments: Vec<OsString>,
    /// Loadline's if `None`.
    pub working_dir: Option<PathBuf>,
    /// What it finds as its descriptor 3.
    pub third: Option<OwnedFd>,
}

/// A process of a deployment.
pub(crate) struct Running {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    output: OutputTail,
}

impl Running {
    pub fn start(ground: &Ground, service: &Service, place: &Place) -> Result<Running, Error> {
        let (path, arguments, environment) = program(service, place)?;
        let program = Helper { path, arguments, working_dir: service.working_dir.clone(), third: None };
        Running::launch(ground, program, environment, &service.cpus, place)
    }

    /// Starts a program beside the service on `cpus`, with loadline's environment and the deployment's label.
    pub fn start_helper(
        ground: &Ground,
        helper: Helper,
        cpus: &[usize],
        place: &Place,
    ) -> Result<Running, Error> {
        let mut environment: Environment = std::env::vars_os().collect();
        environment.insert(PROCESS_LABEL.into(), place.owner.label().into());
        Running::launch(ground, helper, environment, cpus, place)
    }

    fn launch(
        ground: &Ground,
        program: Helper,
        environment: Environment,
        cpus: &[usize],
        place: &Place,
    ) -> Result<Running, Error> {
        let name = program.arguments.first().ok_or(Error::EmptyCommand)?.to_string_lossy().into_owned();
        let failed = |step, source| Error::Start { command: name.clone(), step, source };
        let (reader, writer) = io::pipe().doing(|| "make a pipe")?;
        let writer_too = writer.try_clone().doing(|| "duplicate a pipe")?;

        let mut command = Command::new(&program.path);
        command.stdin(Stdio::null()).stdout(writer).stderr(writer_too);
        if let Some(dir) = &program.working_dir {
            dir.read_dir().doing(|| format!("work in {}", dir.display()))?;
            command.current_dir(dir);
        }
        let setup = ChildSetup {
            cgroups: place.cgroup.map(Cgroup::open_procs).transpose()?.unwrap_or_default(),
            netns: place.netns.map(Netns::try_clone_fd).transpose()?,
            cpus: cpu_set(cpus).map_err(|source| failed("pinning it to its CPUs", source))?,
            parent: rustix::process::getpid(),
            third: program.third,
            program: Program::new(program.path, program.arguments, environment)
                .map_err(|source| failed("preparing its start", source))?,
        };
        let child = ground.spawner().spawn(command, setup).map_err(|(step, source)| failed(step, source))?;

        // A number that the kernel has just given fits its own type.
        let pid = Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).doing(|| format!("hold process {pid}"));
        let running = pidfd.map(|pidfd| Running { child, pid, pidfd, output: OutputTail::follow(reader) })?;
        if let Some(mark) = ProcessMark::of(pid) {
            ground.folder().update(|state| state.processes.push(mark))?;
        }
        Ok(running)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit status once the process has ended. It isn't reaped yet: its number stays its group's name.
    pub fn exited(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid), options).ok()??;
        // The encoding of `wait(2)`: the signal in the low byte, the exit code in the next.
        let raw = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code << 8,
            (_, Some(signal)) => signal,
            _ => return None,
        };
        Some(ExitStatus::from_raw(raw))
    }

    pub fn output_tail(&self) -> String {
        if self.exited().is_some() {
            self.output.wait_for_end();
        }
        self.output.text()
    }

    /// Asks the whole group to end, then makes it, and reaps the process.
    pub fn stop(mut self) -> Result<(), Error> {
        // A group without members, or with dead ones only, is what we want.
        let _ = kill_process_group(self.pid, Signal::TERM);
        self.wait_for_exit(TERM_PATIENCE)?;
        let _ = kill_process_group(self.pid, Signal::KILL);
        self.child.wait().doing(|| format!("reap process {}", self.pid))?;
        Ok(())
    }

    fn wait_for_exit(&self, patience: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout)) {
                Err(rustix::io::Errno::INTR) => {}
                waited => return waited.map(drop).doing(|| format!("wait for process {}", self.pid)),
            }
        }
    }
}

/// The file, the arguments and the environment of a service, with placeholders filled in.
fn program(service: &Service, place: &Place) -> Result<(PathBuf, Vec<OsString>, Environment), Error> {
    let (host, port) = (place.listen.ip().to_string(), place.listen.port());
    let fill = |text: &String| OsString::from(service.fill(text, &host, port));
    let own_path =
        service.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    let name = service.argv.first().ok_or(Error::EmptyCommand)?;
    let path = find_program(name, own_path)?;

    let mut environment: Environment = std::env::vars_os().collect();
    environment.insert("HOST".into(), (&host).into());
    environment.insert("PORT".into(), port.to_string().into());
    environment.extend(service.env.iter().map(|(name, value)| (name.into(), fill(value))));
    environment.insert(PROCESS_LABEL.into(), place.owner.label().into());
    Ok((path, service.argv.iter().map(fill).collect(), environment))
}

/// The file that a command means: with a slash a path from loadline's working directory, else the first in PATH.
fn find_program(name: &str, path: Option<&OsStr>) -> Result<PathBuf, Error> {
    let not_found = |searched| Error::CommandNotFound { command: name.to_owned(), searched };
    if name.contains('/') {
        let file = std::path::absolute(name).doing(|| format!("make {name} an absolute path"))?;
        return if tool::is_executable(&file) {
            Ok(file)
        } else if file.exists() {
            Err(Error::NotExecutable { path: file })
        } else {
            Err(not_found("there is no such file".to_owned()))
        };
    }
    let path = path.map(OsStr::to_owned).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let files = || std::env::split_paths(&path).map(|dir| dir.join(name));
    if let Some(file) = files().find(|file| tool::is_executable(file)) {
        return Ok(file);
    }
    match files().find(|file| Path::is_file(file)) {
        Some(path) => Err(Error::NotExecutable { path }),
        None => Err(not_found(format!("searched PATH: {}", path.to_string_lossy()))),
    }
}

/// The set of the CPUs, `None` for no CPUs, which leaves the process where it may run anyway.
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
