//! Memory of loadline with many connections, and whether it stays what it was.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::arguments::Effort;
use crate::child::{Ended, Running};
use crate::contestant::{Contestant, Job, Load};
use crate::place::Place;
use crate::server::Server;

/// Connections whose memory has a bar.
pub const CONNECTIONS: usize = 10_000;
/// Connections that must open where the limit on files allows.
pub const MANY: usize = 50_000;
/// Files of nginx and of a generator that are no connections.
const OTHER_FILES: u64 = 200;
/// How often memory is read.
const INTERVAL: Duration = Duration::from_millis(100);
/// From when on it must not grow.
const SETTLED: Duration = Duration::from_secs(2);
/// How much longer than its job it may take: to open connections, and to give up.
const GRACE: Duration = Duration::from_secs(60);

/// What was seen.
pub struct Memory {
    /// With 10,000 connections.
    pub connections: Opened,
    /// With 50,000.
    pub many: Opened,
    /// With as many as the limit on files allows, if 50,000 are too many.
    pub most: Option<Opened>,
    /// Over time, at 20,000 requests a second.
    pub flat: Flat,
    /// Files that a process may open here.
    pub files: u64,
}

/// A run with many connections.
pub struct Opened {
    /// How many were asked for.
    pub asked: usize,
    /// The most that the server saw open.
    pub seen: u64,
    /// Largest resident set, bytes.
    pub peak_bytes: u64,
    /// How it ended and what it said, if not well.
    pub complaint: Option<String>,
    /// The command.
    pub command: String,
}

/// A run that goes on for a while.
pub struct Flat {
    /// Resident set after two seconds, bytes.
    pub settled_bytes: u64,
    /// Resident set at the end, bytes.
    pub last_bytes: u64,
    /// When that was.
    pub time: Duration,
    /// The command.
    pub command: String,
}

/// Measures it all.
pub fn measure(loadline: &dyn Contestant, place: &Place, server: &Server, effort: Effort) -> Result<Memory> {
    let open = |connections| opened(connections, loadline, place, server, effort);
    let connections = open(CONNECTIONS)?;
    let most = usize::try_from(place.files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX);
    let most = if most < MANY { Some(open(most)?) } else { None };
    // Last, because it may leave the server busy with what was given up.
    let many = open(MANY)?;
    Ok(Memory { connections, many, most, flat: flat(loadline, place, effort)?, files: place.files })
}

fn opened(
    connections: usize,
    loadline: &dyn Contestant,
    place: &Place,
    server: &Server,
    effort: Effort,
) -> Result<Opened> {
    eprintln!("memory: {connections} connections");
    let job = Job { load: Load::Uniform(2000), connections, time: effort.time(Duration::from_secs(5)) };
    let invocation = loadline.invocation(&job, place.folder())?.context("loadline knows a uniform rate")?;
    let process = Running::start(&invocation, place.generator_cpu, place.folder())?;
    let started = Instant::now();
    let (mut seen, mut peak_bytes) = (0, 0);
    while !process.ends_within(INTERVAL)? && started.elapsed() < job.time + GRACE {
        place.go_on()?;
        peak_bytes = peak_bytes.max(process.memory("VmHWM").unwrap_or(0));
        // The server may be out of files itself: then it has no answer, and the generator a complaint.
        seen = seen.max(server.counts().map_or(0, |counts| counts.connections.saturating_sub(1)));
    }
    let ended = process.finish(Duration::from_secs(1))?;
    let complaint = if loadline.succeeded(&ended) {
        let errors = loadline.account(&ended, place.folder())?.errors;
        (errors > 0).then(|| format!("{errors} errors"))
    } else {
        Some(said(&ended))
    };
    Ok(Opened { asked: connections, seen, peak_bytes, complaint, command: invocation.to_string() })
}

fn said(ended: &Ended) -> String {
    let words: Vec<&str> = ended.stderr.split_whitespace().collect();
    format!("{}, «{}»", ended.status, words.join(" "))
}

fn flat(loadline: &dyn Contestant, place: &Place, effort: Effort) -> Result<Flat> {
    eprintln!("memory: over time");
    let time = if effort.quick { Duration::from_secs(4) } else { Duration::from_secs(20) };
    let job = Job { load: Load::Uniform(20_000), connections: 64, time };
    let invocation = loadline.invocation(&job, place.folder())?.context("loadline knows a uniform rate")?;
    let process = Running::start(&invocation, place.generator_cpu, place.folder())?;
    let started = Instant::now();
    let (mut settled, mut last) = (None, None);
    while !process.ends_within(INTERVAL)? && started.elapsed() < job.time + GRACE {
        place.go_on()?;
        let Some(resident) = process.memory("VmRSS") else { continue };
        // What it takes to print its result at the end is no part of the load.
        if started.elapsed() < job.time {
            last = Some((resident, started.elapsed()));
        }
        if started.elapsed() >= SETTLED {
            settled.get_or_insert(resident);
        }
    }
    let ended = process.finish(Duration::from_secs(1))?;
    ensure!(loadline.succeeded(&ended), "`{invocation}` ended with {}", said(&ended));
    let ((last_bytes, time), settled_bytes) =
        last.zip(settled).context("loadline ended before its memory was seen")?;
    Ok(Flat { settled_bytes, last_bytes, time, command: invocation.to_string() })
}
