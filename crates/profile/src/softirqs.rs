//! Why soft interrupts are raised, by the kernel's own tracepoints with the stack of every raise.
//!
//! What is counted, and where (files of Linux):
//! - A *raise* sets a vector's bit on the CPU (`__raise_softirq_irqoff`, kernel/softirq.c: tracepoint `irq:softirq_raise`), also when
//!   it is set already.
//! - A *run* is one call of a vector's action (`handle_softirqs`, kernel/softirq.c: `irq:softirq_entry`); `/proc/softirqs` counts the
//!   same. One run serves all raises since the last, so there are at most as many runs as raises. For received packets both are far
//!   fewer than packets: a queue that is being polled raises nothing for what is added to it (`enqueue_to_backlog` and
//!   `____napi_schedule`, net/core/dev.c).
//! - A *queued* packet is one that a virtual link or a tunnel hands to a CPU's backlog (`netif_rx_internal`, net/core/dev.c:
//!   `net:netif_rx`): what a layer queues while NET_RX runs is done by the same run, and costs a poll instead of a raise. Hardware
//!   and links with GRO have queues of their own, whose packets are not counted.
//! - A *poll* is one visit of a run of NET_RX to one queue (`__napi_poll`, net/core/dev.c: `napi:napi_poll`).
//!
//! All events of a CPU start and stop together.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use loadline_model::profile::{Reason, SoftirqReasons};
use perf_event::{Builder, SampleFlag, data::Sample, events::Tracepoint};

use crate::{
    Layer, ProfileError,
    layers::{self, Found},
    ring::{Collected, Event, Group, RingBuffers},
    symbols::{self, Chain, Names, Symbols},
    tracefs::TraceFs,
};

const RAISE: &str = "irq/softirq_raise";
const ENTRY: &str = "irq/softirq_entry";
const NETIF_RX: &str = "net/netif_rx";
const NAPI_POLL: &str = "napi/napi_poll";

/// Vectors by number (include/linux/interrupt.h).
const VECTORS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// Functions that run soft interrupts. What they raise again, they raise for work they left undone: they are the reason, not the task that
/// they interrupt.
const RUNNERS: [&str; 4] = ["net_rx_action", "net_tx_action", "handle_softirqs", "__do_softirq"];

/// Room for records with stacks, in bytes on each CPU, and for those without.
const STACKS_BYTES: usize = 1 << 24;
const NUMBERS_BYTES: usize = 1 << 21;

/// What is kept of a record.
#[derive(Debug, PartialEq, Eq, Hash)]
enum SoftirqRecord {
    Raise { vector: u32, chain: Box<[u64]> },
    Run { vector: u32 },
    Queued { chain: Box<[u64]> },
    Poll { link: String },
}

/// The tracepoints, and where the fields of interest are in their records.
struct Fields {
    raise: (u64, usize),
    run: (u64, usize),
    queued: u64,
    poll: (u64, usize),
}

impl Fields {
    /// Reads a record. Its first two bytes are its tracepoint's id (`common_type`, kernel/trace/trace.h).
    fn read(&self, sample: &Sample) -> Option<SoftirqRecord> {
        let raw = sample.raw()?;
        let id = u64::from(u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?));
        let chain = || Some(sample.callchain()?.into());
        match id {
            _ if id == self.raise.0 => {
                Some(SoftirqRecord::Raise { vector: number(raw, self.raise.1)?, chain: chain()? })
            }
            _ if id == self.run.0 => Some(SoftirqRecord::Run { vector: number(raw, self.run.1)? }),
            _ if id == self.queued => Some(SoftirqRecord::Queued { chain: chain()? }),
            _ if id == self.poll.0 => Some(SoftirqRecord::Poll { link: text(raw, self.poll.1)? }),
            _ => None,
        }
    }
}

/// Traces the soft interrupts of some CPUs. Dropping it stops the tracing.
pub struct SoftirqWatch(RingBuffers<SoftirqRecord>);

/// The traced events, as addresses.
#[derive(Debug)]
pub struct WatchedSoftirqs(Collected<SoftirqRecord>);

impl SoftirqWatch {
    /// Starts tracing these CPUs. Every raise costs the kernel a stack trace, so do not use it while measuring.
    ///
    /// # Errors
    /// If this user may not use tracepoints, the kernel has none, or hides its symbols.
    pub fn start(cpus: &[u32]) -> Result<SoftirqWatch, ProfileError> {
        let tracing = TraceFs::open().map_err(|source| ProfileError::Tracepoint { name: RAISE, source })?;
        let fields = Fields {
            raise: tracing.tracepoint(RAISE)?.field("vec")?,
            run: tracing.tracepoint(ENTRY)?.field("vec")?,
            queued: tracing.tracepoint(NETIF_RX)?.id,
            poll: tracing.tracepoint(NAPI_POLL)?.field("dev_name")?,
        };
        let stack = SampleFlag::RAW | SampleFlag::CALLCHAIN;
        let mut raises = sampled(RAISE, fields.raise.0, stack, STACKS_BYTES);
        let mut runs = sampled(ENTRY, fields.run.0, SampleFlag::RAW, NUMBERS_BYTES);
        let mut queued = sampled(NETIF_RX, fields.queued, stack, STACKS_BYTES);
        let mut polls = sampled(NAPI_POLL, fields.poll.0, SampleFlag::RAW, NUMBERS_BYTES);
        let open = |cpu| {
            let mut group = Group::new(&mut raises, cpu)?;
            for event in [&mut runs, &mut queued, &mut polls] {
                group.sample(event, cpu)?;
            }
            Ok(vec![group])
        };
        let key = move |sample: &Sample| fields.read(sample);
        let rings = RingBuffers::start(cpus, Duration::ZERO, open, key)?;
        symbols::check_kernel()?;
        Ok(SoftirqWatch(rings))
    }

    /// Stops the tracing.
    ///
    /// # Errors
    /// If the events could not be read.
    pub fn stop(self) -> Result<WatchedSoftirqs, ProfileError> {
        Ok(WatchedSoftirqs(self.0.stop()?))
    }
}

impl WatchedSoftirqs {
    /// Resolves the addresses and finds the reasons.
    ///
    /// # Errors
    /// If the kernel's symbols cannot be read.
    pub fn resolve(&self, symbols: &Symbols) -> Result<SoftirqReasons, ProfileError> {
        let chain = |seen: &SoftirqRecord| match seen {
            SoftirqRecord::Raise { chain, .. } | SoftirqRecord::Queued { chain } => {
                Chain::parse(chain).kernel
            }
            SoftirqRecord::Run { .. } | SoftirqRecord::Poll { .. } => Vec::new(),
        };
        let addresses: BTreeSet<u64> = self.0.counts.keys().flat_map(chain).collect();
        let names = Names::look_up(symbols, &addresses, &HashMap::new())?;
        let mut reasons = SoftirqReasons { lost: self.0.lost, ..SoftirqReasons::default() };
        for (seen, &count) in &self.0.counts {
            let addresses = chain(seen);
            let stack: Vec<&str> = addresses.iter().map(|&address| names.kernel(address)).collect();
            let (function, layer) = reason(&stack);
            let reason = Reason { function: function.to_owned(), layer, count };
            match seen {
                SoftirqRecord::Raise { vector, .. } => {
                    reason.add_to(reasons.raises.entry(vector_name(*vector)).or_default());
                }
                SoftirqRecord::Queued { .. } => reason.add_to(&mut reasons.queued_packets),
                SoftirqRecord::Poll { link } => *reasons.polls.entry(link.clone()).or_default() += count,
                SoftirqRecord::Run { vector } => {
                    *reasons.runs.entry(vector_name(*vector)).or_default() += count
                }
            }
        }
        reasons.sort();
        Ok(reasons)
    }
}

fn sampled(name: &'static str, id: u64, fields: SampleFlag, buffer_bytes: usize) -> Event<'static> {
    let mut builder = Builder::new(Tracepoint::with_id(id));
    builder.sample(fields).sample_period(1).exclude_callchain_user(true);
    Event { name, builder, buffer_bytes }
}

/// The reason for a raise by its stack, innermost first: its function and layer.
fn reason<'a>(stack: &[&'a str]) -> (&'a str, Option<Layer>) {
    for (depth, &name) in stack.iter().enumerate() {
        match layers::innermost(&stack[depth..=depth]) {
            Found::Layer(Layer::SoftirqDispatch) if !RUNNERS.contains(&name) => {}
            // The tracepoint itself.
            Found::Layer(Layer::Profiler) => {}
            Found::Layer(layer) => return (name, Some(layer)),
            Found::Nothing(_) => {}
        }
    }
    (stack.first().copied().unwrap_or(symbols::UNKNOWN), None)
}

fn number(raw: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(raw.get(offset..offset + 4)?.try_into().ok()?))
}

/// A string of a record: its field has the offset, and in the upper half the length (`__data_loc`,
/// Documentation/trace/events.rst).
fn text(raw: &[u8], offset: usize) -> Option<String> {
    let place = number(raw, offset)? as usize;
    let bytes = raw.get(place & 0xffff..)?.get(..place >> 16)?;
    Some(String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned())
}

fn vector_name(vector: u32) -> String {
    VECTORS.get(vector as usize).map_or_else(|| vector.to_string(), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_innermost_function_outside_the_machinery_of_raising() {
        let stack = [
            "__raise_softirq_irqoff",
            "enqueue_to_backlog",
            "netif_rx_internal",
            "__netif_rx",
            "veth_xmit",
            "dev_hard_start_xmit",
            "tcp_sendmsg",
        ];
        assert_eq!(reason(&stack), ("veth_xmit", Some(Layer::Veth)));
        let overlay = ["__raise_softirq_irqoff", "__napi_schedule", "gro_cells_receive", "vxlan_rcv"];
        assert_eq!(reason(&overlay), ("vxlan_rcv", Some(Layer::Vxlan)));
    }

    #[test]
    fn work_left_undone_is_raised_again_by_whom_left_it() {
        let stack =
            ["__raise_softirq_irqoff", "net_rx_action", "handle_softirqs", "do_softirq", "tcp_sendmsg"];
        assert_eq!(reason(&stack), ("net_rx_action", Some(Layer::SoftirqDispatch)));
    }

    #[test]
    fn a_raise_without_a_known_reason_is_named_by_its_innermost_function() {
        assert_eq!(reason(&["frobnicate", "twiddle"]), ("frobnicate", None));
        assert_eq!(reason(&[]), (symbols::UNKNOWN, None));
    }

    #[test]
    fn a_string_of_a_record_is_where_its_field_points() {
        let place = (4u32 << 16 | 6).to_ne_bytes();
        let raw = [&[9, 9], place.as_slice(), b"vx0\0"].concat();
        assert_eq!(text(&raw, 2).as_deref(), Some("vx0"));
        assert_eq!(text(&raw[..8], 2), None);
    }
}
