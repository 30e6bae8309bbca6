//! Ring buffers that the kernel writes samples into, one for each CPU, and the thread that empties them.
//! The thread avoids the sampled CPUs where there are others; otherwise it wakes only when a buffer is nearly full.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    io,
    os::fd::{BorrowedFd, OwnedFd},
    thread::JoinHandle,
    time::Duration,
};

use perf_event::{
    Builder, Counter, ReadFormat, Sampler,
    data::{Record, Sample},
};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    thread::{CpuSet, sched_setaffinity},
};

use crate::{ProfileError, sys};

/// The smallest buffer that is tried. Without CAP_IPC_LOCK a user has `kernel.perf_event_mlock_kb` a CPU, 516 KiB by default.
const MIN_BUFFER_BYTES: usize = 1 << 17;

/// How full a buffer is when the thread is woken: three quarters, which leaves it a second at 10 kHz to get a CPU.
const WAKE_AT: (usize, usize) = (3, 4);

/// An event to sample.
pub(crate) struct Event<'a> {
    pub(crate) name: &'static str,
    pub(crate) builder: Builder<'a>,
    /// Room for its records on each CPU; less where the user may not lock as much memory.
    pub(crate) buffer_bytes: usize,
}

/// Events of one CPU that start and stop together.
pub(crate) struct Group {
    /// The first event's.
    name: &'static str,
    leader: Sampler,
    samplers: Vec<Sampler>,
}

impl Group {
    /// Opens the event that the others follow.
    pub(crate) fn new(event: &mut Event, cpu: u32) -> Result<Group, ProfileError> {
        event.builder.enabled(false);
        Ok(Group { name: event.name, leader: open(event, cpu, None)?, samplers: Vec::new() })
    }

    /// Samples another event while the first is enabled.
    pub(crate) fn sample(&mut self, event: &mut Event, cpu: u32) -> Result<(), ProfileError> {
        event.builder.enabled(true);
        let sampler = open(event, cpu, Some(&mut self.leader))?;
        self.samplers.push(sampler);
        Ok(())
    }
}

/// The content of the buffers: equal samples are counted together.
#[derive(Debug)]
pub(crate) struct Collected<K> {
    pub(crate) counts: HashMap<K, u64>,
    /// Samples for which there was no room.
    pub(crate) lost: u64,
    /// How often the kernel stopped a group because one of its events came too often, by name of the group's first event.
    pub(crate) throttled: BTreeMap<&'static str, u64>,
    /// How long the events were enabled.
    pub(crate) enabled: Duration,
}

/// Events being sampled. Dropping it stops them.
pub(crate) struct RingBuffers<K> {
    stop: OwnedFd,
    thread: Option<JoinHandle<Result<Collected<K>, ProfileError>>>,
}

impl<K: Eq + Hash + Send + 'static> RingBuffers<K> {
    /// Samples groups of events on each CPU from now on, on each a `stagger` later than on the one before; `key` says what is kept
    /// of a sample.
    pub(crate) fn start(
        cpus: &[u32],
        stagger: Duration,
        mut open: impl FnMut(u32) -> Result<Vec<Group>, ProfileError>,
        key: impl Fn(&Sample) -> Option<K> + Send + 'static,
    ) -> Result<RingBuffers<K>, ProfileError> {
        if cpus.is_empty() {
            return Err(ProfileError::NoCpus);
        }
        let mut groups = cpus.iter().map(|&cpu| open(cpu)).collect::<Result<Vec<_>, _>>()?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(thread)?;
        let stopped = stop.try_clone().map_err(thread)?;
        for of_cpu in &mut groups {
            for group in of_cpu {
                group.leader.enable().map_err(thread)?;
            }
            std::thread::sleep(stagger);
        }
        let groups = groups.into_iter().flatten().collect();
        let watched = cpus.to_vec();
        let thread = std::thread::Builder::new()
            .name("profile".into())
            .spawn(move || {
                avoid_cpus(&watched);
                collect(groups, &stopped, &key)
            })
            .map_err(thread)?;
        Ok(RingBuffers { stop, thread: Some(thread) })
    }

    /// Ends the sampling and gives what was sampled.
    pub(crate) fn stop(mut self) -> Result<Collected<K>, ProfileError> {
        self.end().unwrap_or_else(|| Err(ProfileError::Thread("it was stopped twice".into())))
    }
}

impl<K> RingBuffers<K> {
    fn end(&mut self) -> Option<Result<Collected<K>, ProfileError>> {
        let thread = self.thread.take()?;
        // An eventfd takes a first write at once (eventfd(2)).
        if let Err(e) = rustix::io::write(&self.stop, &1u64.to_ne_bytes()) {
            return Some(Err(ProfileError::Thread(e.to_string())));
        }
        Some(thread.join().unwrap_or_else(|_| Err(ProfileError::Thread("it panicked".into()))))
    }
}

impl<K> Drop for RingBuffers<K> {
    fn drop(&mut self) {
        // If it was not stopped, its samples are not needed.
        drop(self.end());
    }
}

fn thread(e: impl std::fmt::Display) -> ProfileError {
    ProfileError::Thread(e.to_string())
}

fn open(event: &mut Event, cpu: u32, mut leader: Option<&mut Sampler>) -> Result<Sampler, ProfileError> {
    let mut bytes = event.buffer_bytes;
    loop {
        event.builder.wakeup_watermark(bytes / WAKE_AT.1 * WAKE_AT.0);
        match counter(event.name, &mut event.builder, cpu, leader.as_deref_mut())?.sampled(bytes) {
            Ok(sampler) => return Ok(sampler),
            Err(e) if bytes > MIN_BUFFER_BYTES && too_much_memory(&e) => bytes /= 2,
            Err(source) => return Err(ProfileError::Event { event: event.name.to_owned(), cpu, source }),
        }
    }
}

/// Opens an event on a CPU for all processes, kernel and user mode.
fn counter(
    name: &str,
    builder: &mut Builder,
    cpu: u32,
    mut leader: Option<&mut Sampler>,
) -> Result<Counter, ProfileError> {
    builder.any_pid().one_cpu(cpu as usize).exclude_kernel(false).exclude_hv(false);
    let mut build = |builder: &Builder| match &mut leader {
        Some(leader) => builder.build_with_group(leader),
        None => builder.build(),
    };
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    // Linux counts an event's lost samples since 6.0 (perf_event_open(2), PERF_FORMAT_LOST).
    let opened = match build(builder.read_format(times | ReadFormat::LOST)) {
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => build(builder.read_format(times)),
        opened => opened,
    };
    opened.map_err(|source| match source.kind() {
        io::ErrorKind::PermissionDenied => ProfileError::NotPermitted { cpu, paranoid: paranoid() },
        _ => ProfileError::Event { event: name.to_owned(), cpu, source },
    })
}

/// `perf_mmap` (kernel/events/core.c) says EPERM above the user's share of locked memory.
fn too_much_memory(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory)
}

fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// Moves this thread to the CPUs that are not sampled; if there are none it may run anywhere.
fn avoid_cpus(watched: &[u32]) {
    let mut others = CpuSet::new();
    let mut all = CpuSet::new();
    for cpu in 0..CpuSet::MAX_CPU {
        all.set(cpu);
        if !watched.iter().any(|&w| w as usize == cpu) {
            others.set(cpu);
        }
    }
    // The kernel takes what the cpuset allows of the mask, and refuses it if nothing is left (sched_setaffinity(2)). If both are rejected the thread stays where its parent was: the samples are the same, a little later.
    if sched_setaffinity(None, &others).is_err() {
        let _ = sched_setaffinity(None, &all);
    }
}

fn collect<K: Eq + Hash>(
    mut groups: Vec<Group>,
    stopped: &OwnedFd,
    key: &impl Fn(&Sample) -> Option<K>,
) -> Result<Collected<K>, ProfileError> {
    let mut collected =
        Collected { counts: HashMap::new(), lost: 0, throttled: BTreeMap::new(), enabled: Duration::ZERO };
    let mut records_lost = 0;
    while !wait(&groups, stopped)? {
        for group in &mut groups {
            drain(group, &mut collected, &mut records_lost, key)?;
        }
    }
    for group in &mut groups {
        group.leader.disable().map_err(thread)?;
    }
    let mut counted_lost = 0;
    for group in &mut groups {
        drain(group, &mut collected, &mut records_lost, key)?;
        for sampler in group.all() {
            counted_lost += sampler.read_full().map_err(thread)?.lost().unwrap_or(0);
        }
        let enabled = group.leader.read_full().map_err(thread)?.time_enabled();
        collected.enabled = collected.enabled.max(enabled.unwrap_or_default());
    }
    collected.lost = counted_lost.max(records_lost);
    Ok(collected)
}

impl Group {
    fn all(&mut self) -> impl Iterator<Item = &mut Sampler> {
        std::iter::once(&mut self.leader).chain(&mut self.samplers)
    }
}

/// Waits until a buffer is nearly full or a stop is requested, and returns which.
fn wait(groups: &[Group], stopped: &OwnedFd) -> Result<bool, ProfileError> {
    let samplers = groups.iter().flat_map(|group| std::iter::once(&group.leader).chain(&group.samplers));
    let borrowed: Vec<BorrowedFd> = samplers.map(sys::fd_of).collect();
    let mut fds = vec![PollFd::new(stopped, PollFlags::IN)];
    fds.extend(borrowed.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
    match poll(&mut fds, None) {
        Ok(_) => Ok(fds[0].revents().contains(PollFlags::IN)),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(e) => Err(thread(e)),
    }
}

fn drain<K: Eq + Hash>(
    group: &mut Group,
    collected: &mut Collected<K>,
    records_lost: &mut u64,
    key: &impl Fn(&Sample) -> Option<K>,
) -> Result<(), ProfileError> {
    let name = group.name;
    for sampler in group.all() {
        while let Some(record) = sampler.next_record() {
            match record.parse_record().map_err(|e| ProfileError::Record(e.to_string()))? {
                Record::Sample(sample) => {
                    let missing = || ProfileError::Record(format!("{name}: a field is missing"));
                    *collected.counts.entry(key(&sample).ok_or_else(missing)?).or_default() += 1;
                }
                Record::Lost(lost) => *records_lost += lost.lost,
                Record::Throttle(_) => *collected.throttled.entry(name).or_default() += 1,
                _ => {}
            }
        }
    }
    Ok(())
}
