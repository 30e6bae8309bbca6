//! Observations as they are stored and published: the metrics that loadline had before probes declared them keep the keys that they had,
//! `null` where nothing was seen; every other metric stands under its name.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Observations;
use crate::MachineCpu;
use crate::metrics::{
    CGROUP_MEMORY, MACHINE_CPU, MACHINE_CPUS, OBSERVER_CPU, RESIDENT_MEMORY, RUN_QUEUE_WAIT, SERVICE_CPU,
    WALL,
};

/// A metric whose key is not its name. There will be no more of them.
struct Key {
    key: &'static str,
    metric: &'static str,
    about: &'static str,
}

/// Key of the machine's CPU time by mode, an object; it comes before [`CPUS`].
const MACHINE: &str = "machine";
/// Key that is left out, as runs from before it have none, rather than `null`.
const CPUS: &str = "cpus";

/// In the order in which they are written.
const KEYS: [Key; 20] = [
    key("wall_ns", WALL, "The length of the slice as the snapshots saw it (`CLOCK_MONOTONIC`)."),
    key(
        "service_cpu_ns",
        SERVICE_CPU,
        "CPU time of the service. From its cgroup: `cpuacct.usage` (v1) or `usage_usec` in `cpu.stat` (v2). Without one: the sum of its \
         processes' CPU clocks (clock_getcpuclockid(3)).",
    ),
    key(
        "service_user_ns",
        "cpu.service.user",
        "The part of `service_cpu_ns` in user mode, in the proportion of `cpuacct.usage_user` to `usage_sys` (v1), `user_usec` to \
         `system_usec` (v2), or `utime` to `stime` in `/proc/PID/stat`. These are sampled at ticks, so the proportion is rougher than \
         the sum; `null` if no tick fell into the slice.",
    ),
    key("service_system_ns", "cpu.service.system", "The rest of `service_cpu_ns`: in the kernel."),
    key(
        CPUS,
        MACHINE_CPUS,
        "CPUs online on that machine, which need not be that of the load; not known of older runs.",
    ),
    key(
        "machine_busy_ns",
        MACHINE_CPU,
        "The part of `machine` in which CPUs worked: all but idle, iowait and steal. Less the service's and the load's, it is what other \
         programs used.",
    ),
    key(
        "observer_cpu_ns",
        OBSERVER_CPU,
        "CPU time of the process that took the snapshots, which may be that of the load as well.",
    ),
    key(
        "periods",
        "throttling.periods",
        "Periods in which the service had something to run: `nr_periods` in the cgroup's `cpu.stat`. Zero without a quota.",
    ),
    key(
        "throttled_periods",
        "throttling.throttled_periods",
        "Periods in which it used up its quota: `nr_throttled` in `cpu.stat`.",
    ),
    key(
        "throttled_ns",
        "cpu.throttled",
        "Time that it was held back, summed over CPUs: `throttled_time` (v1) or `throttled_usec` (v2) in `cpu.stat`.",
    ),
    key(
        "voluntary_switches",
        "switches.voluntary",
        "How often its threads waited for something: `voluntary_ctxt_switches` in `/proc/PID/task/TID/status`.",
    ),
    key(
        "involuntary_switches",
        "switches.involuntary",
        "How often its threads had to make way: `nonvoluntary_ctxt_switches` in `/proc/PID/task/TID/status`.",
    ),
    key(
        "run_queue_wait_ns",
        RUN_QUEUE_WAIT,
        "How long its threads were ready to run and did not: the second figure of `/proc/PID/task/TID/schedstat`.",
    ),
    key(
        "net_rx_softirqs",
        "softirqs.net_rx",
        "Receive soft interrupts of the whole machine: `NET_RX` in `/proc/softirqs`.",
    ),
    key(
        "net_tx_softirqs",
        "softirqs.net_tx",
        "Transmit soft interrupts of the whole machine: `NET_TX` in `/proc/softirqs`.",
    ),
    key(
        "memory_bytes",
        RESIDENT_MEMORY,
        "Resident memory of its processes after the slice: the sum of `VmRSS` in `/proc/PID/status`. Memory that they share is counted \
         for each.",
    ),
    key(
        "memory_peak_bytes",
        "memory.peak",
        "The most that its processes ever had resident: the sum of `VmHWM` in `/proc/PID/status`, since each began.",
    ),
    key(
        "cgroup_memory_bytes",
        CGROUP_MEMORY,
        "Memory charged to its cgroup after the slice, with page cache: `memory.usage_in_bytes` (v1) or `memory.current` (v2). Not \
         comparable with platforms that have no cgroup.",
    ),
    key(
        "cgroup_memory_peak_bytes",
        "memory.cgroup_peak",
        "The most ever charged to its cgroup: `memory.max_usage_in_bytes` (v1) or `memory.peak` (v2).",
    ),
    key(
        "tcp_retransmits",
        "tcp.retransmits",
        "TCP segments sent again in the service's network namespace: `RetransSegs` in `/proc/PID/net/snmp`.",
    ),
];

const fn key(key: &'static str, metric: &'static str, about: &'static str) -> Key {
    Key { key, metric, about }
}

/// Whether a metric is written under a key of its own instead of its name.
pub fn has_own_key(metric: &str) -> bool {
    KEYS.iter().any(|key| key.metric == metric) || MachineCpu::is_mode(metric)
}

/// Whole numbers are written as such.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = self.0 as u64;
        if whole as f64 == self.0 {
            serializer.serialize_u64(whole)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl Serialize for Observations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for Key { key, metric, .. } in KEYS {
            let value = self.get(metric).map(Number);
            if key == CPUS {
                map.serialize_entry(MACHINE, &self.machine_cpu())?;
                if value.is_none() {
                    continue;
                }
            }
            map.serialize_entry(key, &value)?;
        }
        for (name, value) in self.iter().filter(|(name, _)| !has_own_key(name)) {
            map.serialize_entry(name, &Number(value))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Observations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Observations, D::Error> {
        struct Document;

        impl<'de> Visitor<'de> for Document {
            type Value = Observations;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("observations by their keys")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Observations, M::Error> {
                let mut seen = Observations::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == MACHINE {
                        if let Some(cpu) = map.next_value::<Option<MachineCpu>>()? {
                            seen.set_machine_cpu(&cpu);
                        }
                    } else if let Some(value) = map.next_value::<Option<f64>>()? {
                        match KEYS.iter().find(|own| own.key == key) {
                            Some(own) => seen.insert(own.metric, value),
                            None => seen.insert(key, value),
                        }
                    }
                }
                Ok(seen)
            }
        }

        deserializer.deserialize_map(Document)
    }
}

impl JsonSchema for Observations {
    fn schema_name() -> Cow<'static, str> {
        "Observations".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        for Key { key, about, .. } in KEYS {
            let mut schema = generator.subschema_for::<Option<u64>>();
            schema.insert("description".to_owned(), about.into());
            properties.insert(key.to_owned(), schema.into());
        }
        let mut machine = generator.subschema_for::<Option<MachineCpu>>();
        machine
            .insert("description".to_owned(), "CPU time of the whole machine by mode (`/proc/stat`).".into());
        properties.insert(MACHINE.to_owned(), machine.into());
        json_schema!({
            "type": "object",
            "description": "What the machine and one service did during a slice; `null` or absent is what could not be seen, as for an \
                external service. A metric that has no key here stands under its name, in the unit that the result's `metrics` say.\n\n\
                The service's processes are those in its cgroup, or without one the tree below its first process. Where figures come from \
                processes or threads, one that began during the slice counts from zero and one that ended is lost. (One that was moved into \
                the cgroup during the slice brings its past along.)",
            "properties": Value::Object(properties),
            "additionalProperties": { "type": "number" },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a run of before probes stored it.
    const BEFORE: &str = r#"{"wall_ns":100,"service_cpu_ns":7,"service_user_ns":null,"service_system_ns":null,"machine":{"user_ns":1,
        "nice_ns":2,"system_ns":3,"idle_ns":4,"iowait_ns":5,"irq_ns":6,"softirq_ns":7,"steal_ns":8},"cpus":2,"machine_busy_ns":19,
        "observer_cpu_ns":3,"periods":null,"throttled_periods":null,"throttled_ns":null,"voluntary_switches":1,"involuntary_switches":2,
        "run_queue_wait_ns":3,"net_rx_softirqs":4,"net_tx_softirqs":5,"memory_bytes":6,"memory_peak_bytes":7,"cgroup_memory_bytes":8,
        "cgroup_memory_peak_bytes":9,"tcp_retransmits":0}"#;

    #[test]
    fn what_was_stored_before_is_read_and_written_again_as_it_was() {
        let seen: Observations = serde_json::from_str(BEFORE).unwrap();
        assert_eq!(seen.service_cpu_ns(), Some(7));
        assert_eq!((seen.get("softirqs.net_tx"), seen.get("cpu.service.user")), (Some(5.0), None));
        assert_eq!(seen.machine_cpu().map(|cpu| cpu.steal_ns), Some(8));
        let compact: String = BEFORE.split_whitespace().collect();
        assert_eq!(serde_json::to_string(&seen).unwrap(), compact);
    }

    #[test]
    fn any_other_metric_stands_under_its_name() {
        let mut seen = Observations::default().with("jvm.gc.pause", 12);
        seen.insert("jvm.heap.used_share", 0.25);
        let written = serde_json::to_value(&seen).unwrap();
        assert_eq!((&written["jvm.gc.pause"], &written["jvm.heap.used_share"]), (&12.into(), &0.25.into()));
        assert!(written["service_cpu_ns"].is_null() && written.get("cpus").is_none());
        assert_eq!(serde_json::from_value::<Observations>(written).unwrap(), seen);
    }
}
