//! What the machine and a service did during a slice. A figure that could not be seen is `None`, never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MachineCpu;

/// What the machine and one service did during a slice. `None` is what could not be seen, as for an external service.
///
/// The service's processes are those in its cgroup, or without one the tree below its first process. Where figures
/// come from processes or threads, one that began during the slice counts from zero and one that ended is lost. (One
/// that was moved into the cgroup during the slice brings its past along.)
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observations {
    /// The length of the slice as the snapshots saw it (`CLOCK_MONOTONIC`).
    pub wall_ns: Option<u64>,
    /// CPU time of the service. From its cgroup: `cpuacct.usage` (v1) or `usage_usec` in `cpu.stat` (v2). Without one: the
    /// sum of its processes' CPU clocks (clock_getcpuclockid(3)).
    pub service_cpu_ns: Option<u64>,
    /// The part of `service_cpu_ns` in user mode, in the proportion of `cpuacct.usage_user` to `usage_sys` (v1), `user_usec`
    /// to `system_usec` (v2), or `utime` to `stime` in `/proc/PID/stat`. These are sampled at ticks, so the proportion is
    /// rougher than the sum; `None` if no tick fell into the slice.
    pub service_user_ns: Option<u64>,
    /// The rest of `service_cpu_ns`: in the kernel.
    pub service_system_ns: Option<u64>,
    /// CPU time of the whole machine by mode (`/proc/stat`).
    pub machine: Option<MachineCpu>,
    /// CPUs online on that machine, which need not be that of the load; not known of older runs.
    pub cpus: Option<u32>,
    /// The part of `machine` in which CPUs worked ([`MachineCpu::busy_ns`]); less the service's and the load's, it is what
    /// other programs used.
    pub machine_busy_ns: Option<u64>,
    /// CPU time of the process that took the snapshots, which may be that of the load as well.
    pub observer_cpu_ns: Option<u64>,
    /// Periods in which the service had something to run: `nr_periods` in the cgroup's `cpu.stat`. Zero without a quota.
    pub periods: Option<u64>,
    /// Periods in which it used up its quota: `nr_throttled` in `cpu.stat`.
    pub throttled_periods: Option<u64>,
    /// Time that it was held back, summed over CPUs: `throttled_time` (v1) or `throttled_usec` (v2) in `cpu.stat`.
    pub throttled_ns: Option<u64>,
    /// How often its threads waited for something: `voluntary_ctxt_switches` in `/proc/PID/task/TID/status`.
    pub voluntary_switches: Option<u64>,
    /// How often its threads had to make way: `nonvoluntary_ctxt_switches` in `/proc/PID/task/TID/status`.
    pub involuntary_switches: Option<u64>,
    /// How long its threads were ready to run and did not: the second figure of `/proc/PID/task/TID/schedstat`.
    pub run_queue_wait_ns: Option<u64>,
    /// Receive soft interrupts of the whole machine: `NET_RX` in `/proc/softirqs`.
    pub net_rx_softirqs: Option<u64>,
    /// Transmit soft interrupts of the whole machine: `NET_TX` in `/proc/softirqs`.
    pub net_tx_softirqs: Option<u64>,
    /// Resident memory of its processes after the slice: the sum of `VmRSS` in `/proc/PID/status`. Memory that they share
    /// is counted for each.
    pub memory_bytes: Option<u64>,
    /// The most that its processes ever had resident: the sum of `VmHWM` in `/proc/PID/status`, since each began.
    pub memory_peak_bytes: Option<u64>,
    /// Memory charged to its cgroup after the slice, with page cache: `memory.usage_in_bytes` (v1) or `memory.current` (v2).
    /// Not comparable with platforms that have no cgroup.
    pub cgroup_memory_bytes: Option<u64>,
    /// The most ever charged to its cgroup: `memory.max_usage_in_bytes` (v1) or `memory.peak` (v2).
    pub cgroup_memory_peak_bytes: Option<u64>,
    /// TCP segments sent again in the service's network namespace: `RetransSegs` in `/proc/PID/net/snmp`.
    pub tcp_retransmits: Option<u64>,
}

impl Observations {
    /// Forgets what the whole machine did, where it can't be told which of several cells it did it for.
    pub fn forget_machine(&mut self) {
        self.machine = None;
        self.machine_busy_ns = None;
        self.net_rx_softirqs = None;
        self.net_tx_softirqs = None;
    }
}
