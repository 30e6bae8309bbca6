//! Where everything runs: a network namespace of its own, two CPUs, a temporary folder, as many files as the limit allows.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use loadline_machine::Netns;
use rustix::process::{Resource, Rlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

/// Settings of the namespace: ports for 50,000 connections to one address, and room for as many at once.
const SETTINGS: [(&str, &str); 2] =
    [("net/ipv4/ip_local_port_range", "10000 65535"), ("net/core/somaxconn", "65535")];

/// The environment of the measurement.
pub struct Place {
    /// The server's CPU.
    pub server_cpu: usize,
    /// The generator's CPU.
    pub generator_cpu: usize,
    /// The maximum number of open files of a process.
    pub files: u64,
    folder: TempDir,
    stop: Arc<AtomicBool>,
}

impl Place {
    /// Moves this process into a network namespace of its own, so that no rule, no other traffic and no used port of the
    /// machine takes part. Must be called before any thread is started.
    pub fn prepare() -> Result<Place> {
        if rustix::process::geteuid().is_root() {
            Netns::new()?.enter()?;
        } else {
            loadline_machine::enter_user_namespace()?;
        }
        for (setting, value) in SETTINGS {
            fs::write(Path::new("/proc/sys").join(setting), value).with_context(|| {
                format!("cannot set {setting} to {value} in a network namespace of our own")
            })?;
        }
        let limit = rustix::process::getrlimit(Resource::Nofile);
        rustix::process::setrlimit(
            Resource::Nofile,
            Rlimit { current: limit.maximum, maximum: limit.maximum },
        )
        .context("cannot raise the number of open files to the hard limit")?;
        let allowed = rustix::thread::sched_getaffinity(None)?;
        let mut cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let (Some(server_cpu), Some(generator_cpu)) = (cpus.next(), cpus.next()) else {
            bail!("two CPUs are needed, one for the server and one for the generator");
        };
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, stop.clone())?;
        }
        Ok(Place {
            server_cpu,
            generator_cpu,
            files: limit.maximum.unwrap_or(u64::MAX),
            folder: tempfile::Builder::new().prefix("loadline-bench-").tempdir()?,
            stop,
        })
    }

    /// A folder that is removed with this value.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Fails once the user has asked to stop.
    pub fn go_on(&self) -> Result<()> {
        ensure!(!self.stop.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }
}
