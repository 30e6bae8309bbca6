//! The layers that the kernel's functions belong to, by a table of names: `layers/table.tsv`.
//!
//! A row is a function (or, ending in `*`, all that begin so), its layer, and the kernel's file or the main one of those that it
//! comes from. The longest row that fits holds. Rows of the layer `helper` are functions that many layers call, such as locks and
//! the slab allocator: their time is their caller's.

use std::{collections::HashMap, fmt, sync::LazyLock};

use serde::{Deserialize, Serialize};

const TABLE: &str = include_str!("layers/table.tsv");

/// The layer of the functions whose time is their caller's.
const HELPER: &str = "helper";

/// A part of the kernel on the way of a request. The order is roughly that of the way from a program to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Into the kernel and out again.
    SyscallEntry,
    /// Sockets of any kind, epoll and poll.
    Socket,
    /// File descriptors, pipes, file systems and their devices.
    Files,
    /// TCP.
    Tcp,
    /// TLS in the kernel.
    Tls,
    /// UDP.
    Udp,
    /// IP, routes and ICMP.
    Ip,
    /// Calling the hooks of netfilter, whatever hangs there.
    Netfilter,
    /// Netfilter connection tracking.
    Conntrack,
    /// Address translation, IPVS too.
    Nat,
    /// Rules of nftables, and of iptables where it writes nftables rules.
    NfTables,
    /// Rules of legacy iptables, their matches, IP sets.
    Iptables,
    /// Bridges.
    Bridge,
    /// Bridged packets through the IP rules.
    BrNetfilter,
    /// Pairs of virtual links.
    Veth,
    /// VXLAN.
    Vxlan,
    /// Other tunnels: IPIP, GRE, Geneve, WireGuard with its cryptography, IPsec, TUN.
    Tunnel,
    /// macvlan links.
    Macvlan,
    /// ipvlan links.
    Ipvlan,
    /// netkit pairs.
    Netkit,
    /// The loopback link.
    Loopback,
    /// VLAN tags.
    Vlan,
    /// From IP to a link: neighbours, queueing disciplines, segmentation.
    DeviceOutput,
    /// From a link to IP: demultiplexing, merging of segments (GRO).
    DeviceInput,
    /// Drivers of real and paravirtual network cards.
    DeviceDriver,
    /// Making, copying and freeing packet buffers.
    SkbMemory,
    /// BPF programs, their maps and helpers.
    Bpf,
    /// Classifiers of traffic control, and the way to BPF programs there.
    TrafficControl,
    /// What control groups cost: CPU time, quota, memory, pressure.
    CgroupAccounting,
    /// Waking a task, on this CPU or another.
    SchedulerWakeUp,
    /// Switching tasks, balancing, and waiting for locks.
    Scheduler,
    /// Raising and running soft interrupts, and polling links in them.
    SoftirqDispatch,
    /// Timers and the tick.
    Timers,
    /// Hardware and inter-processor interrupts, apart from what they run.
    Interrupt,
    /// Read-copy-update: grace periods and callbacks.
    Rcu,
    /// Copying bytes, mostly between programs and packets.
    Copy,
    /// Page faults, memory maps, allocation of pages.
    PageHandling,
    /// The idle loop.
    Idle,
    /// Security modules, capabilities, seccomp.
    Security,
    /// Processes and signals.
    Process,
    /// The profiling itself.
    Profiler,
}

impl Layer {
    /// All layers.
    pub const ALL: [Layer; 41] = [
        Layer::SyscallEntry,
        Layer::Socket,
        Layer::Files,
        Layer::Tcp,
        Layer::Tls,
        Layer::Udp,
        Layer::Ip,
        Layer::Netfilter,
        Layer::Conntrack,
        Layer::Nat,
        Layer::NfTables,
        Layer::Iptables,
        Layer::Bridge,
        Layer::BrNetfilter,
        Layer::Veth,
        Layer::Vxlan,
        Layer::Tunnel,
        Layer::Macvlan,
        Layer::Ipvlan,
        Layer::Netkit,
        Layer::Loopback,
        Layer::Vlan,
        Layer::DeviceOutput,
        Layer::DeviceInput,
        Layer::DeviceDriver,
        Layer::SkbMemory,
        Layer::Bpf,
        Layer::TrafficControl,
        Layer::CgroupAccounting,
        Layer::SchedulerWakeUp,
        Layer::Scheduler,
        Layer::SoftirqDispatch,
        Layer::Timers,
        Layer::Interrupt,
        Layer::Rcu,
        Layer::Copy,
        Layer::PageHandling,
        Layer::Idle,
        Layer::Security,
        Layer::Process,
        Layer::Profiler,
    ];

    /// The name in tables, as it is serialised.
    pub fn name(self) -> &'static str {
        match self {
            Layer::SyscallEntry => "syscall-entry",
            Layer::Socket => "socket",
            Layer::Files => "files",
            Layer::Tcp => "tcp",
            Layer::Tls => "tls",
            Layer::Udp => "udp",
            Layer::Ip => "ip",
            Layer::Netfilter => "netfilter",
            Layer::Conntrack => "conntrack",
            Layer::Nat => "nat",
            Layer::NfTables => "nf-tables",
            Layer::Iptables => "iptables",
            Layer::Bridge => "bridge",
            Layer::BrNetfilter => "br-netfilter",
            Layer::Veth => "veth",
            Layer::Vxlan => "vxlan",
            Layer::Tunnel => "tunnel",
            Layer::Macvlan => "macvlan",
            Layer::Ipvlan => "ipvlan",
            Layer::Netkit => "netkit",
            Layer::Loopback => "loopback",
            Layer::Vlan => "vlan",
            Layer::DeviceOutput => "device-output",
            Layer::DeviceInput => "device-input",
            Layer::DeviceDriver => "device-driver",
            Layer::SkbMemory => "skb-memory",
            Layer::Bpf => "bpf",
            Layer::TrafficControl => "traffic-control",
            Layer::CgroupAccounting => "cgroup-accounting",
            Layer::SchedulerWakeUp => "scheduler-wake-up",
            Layer::Scheduler => "scheduler",
            Layer::SoftirqDispatch => "softirq-dispatch",
            Layer::Timers => "timers",
            Layer::Interrupt => "interrupt",
            Layer::Rcu => "rcu",
            Layer::Copy => "copy",
            Layer::PageHandling => "page-handling",
            Layer::Idle => "idle",
            Layer::Security => "security",
            Layer::Process => "process",
            Layer::Profiler => "profiler",
        }
    }

    /// Layers that surround all else: a sample is theirs only if no function of its stack further in is unlisted. Otherwise any
    /// function of any system call would count as recognised.
    fn surrounds(self) -> bool {
        matches!(self, Layer::SyscallEntry | Layer::Interrupt | Layer::SoftirqDispatch)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// A function's name, or what such names begin with and a `*`.
    pub name: &'static str,
    /// Its layer; `None` for a helper, whose time is its caller's.
    pub layer: Option<Layer>,
    /// The file it comes from, below the root of Linux's source.
    pub file: &'static str,
}

/// The table: every function that is recognised.
pub fn functions() -> impl Iterator<Item = Function> {
    TABLE.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (name, layer, file) = (fields.next()?, fields.next()?, fields.next()?);
        let layer = match layer {
            HELPER => None,
            name => Some(*Layer::ALL.iter().find(|layer| layer.name() == name)?),
        };
        Some(Function { name, layer, file })
    })
}

struct Index {
    exact: HashMap<&'static str, Option<Layer>>,
    prefixes: HashMap<&'static str, Option<Layer>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { exact: HashMap::new(), prefixes: HashMap::new() };
    for row in functions() {
        match row.name.strip_suffix('*') {
            Some(prefix) => index.prefixes.insert(prefix, row.layer),
            None => index.exact.insert(row.name, row.layer),
        };
    }
    index
});

/// The row for a function: `None` if it is not listed, `Some(None)` for a helper.
fn listed(name: &str) -> Option<Option<Layer>> {
    if let Some(&layer) = INDEX.exact.get(name) {
        return Some(layer);
    }
    (1..=name.len())
        .rev()
        .filter_map(|length| name.get(..length))
        .find_map(|prefix| INDEX.prefixes.get(prefix).copied())
}

/// What a stack was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// The layer of its innermost recognised function.
    Layer(Layer),
    /// Nothing; with the innermost function that is not listed, if there is any.
    Nothing(Option<&'a str>),
}

/// Finds the innermost recognised function of a kernel stack, which is given innermost first.
pub(crate) fn innermost<'a>(stack: &[&'a str]) -> Found<'a> {
    let mut unlisted = None;
    for &name in stack {
        match listed(name) {
            Some(Some(layer)) if layer.surrounds() && unlisted.is_some() => break,
            Some(Some(layer)) => return Found::Layer(layer),
            Some(None) => {}
            None => unlisted = unlisted.or(Some(name)),
        }
    }
    Found::Nothing(unlisted)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_row_and_no_function_is_listed_twice() {
        let mut seen = HashSet::new();
        for row in functions() {
            assert!(seen.insert(row.name), "{} is listed twice", row.name);
        }
        assert_eq!(seen.len(), TABLE.lines().count(), "a line is no row");
    }

    #[test]
    fn every_row_names_a_file_of_the_kernel() {
        let roots =
            ["arch", "block", "drivers", "fs", "io_uring", "kernel", "lib", "mm", "net", "security", "virt"];
        for row in functions() {
            let root = row.file.split('/').next();
            assert!(root.is_some_and(|root| roots.contains(&root)), "{row:?}");
            assert!([".c", ".h", ".S"].iter().any(|end| row.file.ends_with(end)), "{row:?}");
        }
    }

    #[test]
    fn names_are_functions_or_beginnings_long_enough_to_mean_something() {
        for row in functions() {
            let name = row.name.strip_suffix('*').unwrap_or(row.name);
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{row:?}");
            assert!(name.len() > 1, "{row:?}");
        }
    }

    #[test]
    fn every_layer_has_a_function_and_is_serialised_by_its_name() {
        for layer in Layer::ALL {
            assert!(functions().any(|row| row.layer == Some(layer)), "{layer}");
            assert_eq!(serde_json::to_value(layer).unwrap(), layer.name());
        }
    }

    #[test]
    fn the_whole_name_holds_before_its_beginning_and_the_longer_beginning_before_the_shorter() {
        assert_eq!(listed("ip_rcv"), Some(Some(Layer::Ip)));
        assert_eq!(listed("ip_tunnel_xmit"), Some(Some(Layer::Tunnel)));
        assert_eq!(listed("br_nf_pre_routing"), Some(Some(Layer::BrNetfilter)));
        assert_eq!(listed("br_forward"), Some(Some(Layer::Bridge)));
        assert_eq!(listed("bpf_prog_0123456789abcdef_spin"), Some(Some(Layer::Bpf)));
        assert_eq!(listed("_raw_spin_lock"), Some(None));
        assert_eq!(listed("frobnicate"), None);
    }

    #[test]
    fn the_time_of_a_helper_is_its_caller_s() {
        assert_eq!(
            innermost(&["_raw_spin_lock", "nf_conntrack_in", "ip_rcv"]),
            Found::Layer(Layer::Conntrack)
        );
        assert_eq!(innermost(&["__memcpy", "tcp_sendmsg"]), Found::Layer(Layer::Copy));
    }

    #[test]
    fn a_function_that_is_not_listed_counts_for_its_caller_but_not_for_what_surrounds_everything() {
        assert_eq!(innermost(&["frobnicate", "tcp_sendmsg", "do_syscall_64"]), Found::Layer(Layer::Tcp));
        assert_eq!(innermost(&["frobnicate", "do_syscall_64"]), Found::Nothing(Some("frobnicate")));
        assert_eq!(innermost(&["_raw_spin_lock", "do_syscall_64"]), Found::Layer(Layer::SyscallEntry));
        assert_eq!(innermost(&["_raw_spin_lock"]), Found::Nothing(None));
    }
}
