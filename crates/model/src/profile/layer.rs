//! The parts of the kernel that CPU time is given to.

use std::fmt;

use serde::{Deserialize, Serialize};

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
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
