//! What was found out about a machine: what was seen, what to do about it, and why.

use loadline_model::result::doctor::{Change, Finding, LeftOut, Program, Why};

use super::Words;
use crate::figures::{cpu_list, time, unsigned_percent};

impl Words for Finding {
    fn words(&self) -> String {
        match self {
            Finding::SingleCpu => "service and load share the only CPU".to_owned(),
            Finding::SharedCore { load_cpu, service_cpu } => {
                format!("load (CPU {load_cpu}) and service (CPU {service_cpu}) share a core")
            }
            Finding::StolenTime { share } => {
                format!("the hypervisor took {} of the CPUs' time", unsigned_percent(*share))
            }
            Finding::OtherPrograms { share, top } => {
                let named: Vec<String> = top.iter().map(program).collect();
                let named = if named.is_empty() { String::new() } else { format!(", {}", named.join(", ")) };
                format!("other programs used {} of the CPUs{named}", unsigned_percent(*share))
            }
            Finding::BusySibling { cpu, sibling, share } => format!(
                "CPU {sibling} was {} busy; it shares a core with CPU {cpu}, which is measured on",
                unsigned_percent(*share)
            ),
            Finding::Pauses { cpu, per_minute, lost_share, longest_ns, to_programs } => {
                let whom = match to_programs {
                    Some(true) => ", most of it to other programs",
                    Some(false) => ", most of it to interrupts or the hypervisor",
                    None => "",
                };
                format!(
                    "CPU {cpu} paused for 1 ms and more {per_minute:.0} times a minute, {} at the longest, and lost {} of its time{whom}",
                    time(*longest_ns as f64),
                    unsigned_percent(*lost_share)
                )
            }
            Finding::Governor { governor, cpus, driver } => {
                let driver = driver.as_ref().map(|driver| format!(" ({driver})")).unwrap_or_default();
                format!("frequency governor {governor}{driver} on {}", named_cpus(cpus))
            }
            Finding::IdleStates { deepest, exit_latency_ns, .. } => {
                format!("idle CPUs may sleep in {deepest}, {} to leave", time(*exit_latency_ns as f64))
            }
            Finding::WakeUps { p50_ns } => {
                format!("waking a thread on another CPU takes {}", time(*p50_ns as f64))
            }
            Finding::Clock { source, read_ns, .. } => {
                format!("the clock source {source} takes {} to read", time(*read_ns))
            }
            Finding::Turbo => "turbo frequencies are on".to_owned(),
        }
    }
}

impl Words for Change {
    fn words(&self) -> String {
        match &self.0 {
            Finding::SingleCpu => "give the machine a second CPU".to_owned(),
            Finding::SharedCore { .. } => {
                "name CPUs of different cores (--service-cpus, --load-cpus), or switch SMT off: \
                echo off > /sys/devices/system/cpu/smt/control"
                    .to_owned()
            }
            Finding::StolenTime { .. } => {
                "measure on another host or at another hour, or on dedicated CPUs".to_owned()
            }
            Finding::OtherPrograms { .. } => {
                "stop them, or keep them off the CPUs that are measured on (systemctl set-property --runtime SLICE AllowedCPUs=…)".to_owned()
            }
            Finding::BusySibling { sibling, .. } => {
                format!("keep CPU {sibling} idle: echo 0 > /sys/devices/system/cpu/cpu{sibling}/online")
            }
            Finding::Pauses { to_programs: Some(true), .. } => {
                "stop them, or keep them off this CPU; look for programs with a real-time priority (ps -eo cls,rtprio,comm)".to_owned()
            }
            Finding::Pauses { .. } => {
                "measure on a quieter or dedicated host; on bare metal, move interrupts to other CPUs (/proc/irq/*/smp_affinity)".to_owned()
            }
            Finding::Governor { .. } => "cpupower frequency-set --governor performance".to_owned(),
            Finding::IdleStates { most_ns, .. } => {
                format!("switch off what takes longer than {}: cpupower idle-set --disable-by-latency {}", time(*most_ns as f64), most_ns / 1000)
            }
            Finding::WakeUps { .. } => {
                "have the guest poll before it sleeps (cpuidle.governor=haltpoll), or ask for CPUs that are not shared".to_owned()
            }
            Finding::Clock { tsc_available: true, .. } => {
                "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource".to_owned()
            }
            Finding::Clock { .. } => {
                "find out from the kernel's log why it does not use tsc (dmesg | grep -i -e tsc -e clocksource), or choose another kind of machine"
                    .to_owned()
            }
            Finding::Turbo => {
                "switch them off to compare runs of different hours: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, \
                or echo 0 > /sys/devices/system/cpu/cpufreq/boost"
                    .to_owned()
            }
        }
    }
}

impl Words for Why {
    fn words(&self) -> String {
        let why = match &self.0 {
            Finding::SingleCpu => "each request waits for the other side to leave the CPU",
            Finding::SharedCore { .. } => "each slows the other down as it works",
            Finding::StolenTime { .. } => "what it takes is added to some slices and not to others",
            Finding::OtherPrograms { .. } => "requests wait for them, and find the caches cold",
            Finding::BusySibling { .. } => "it takes execution units and cache from what is measured",
            Finding::Pauses { .. } => {
                "every request that is due meanwhile is late, which p99 and beyond show first"
            }
            Finding::Governor { .. } => {
                "the frequency follows the load, so that the same work takes longer at low rates than at high ones"
            }
            Finding::IdleStates { .. } => "a request that finds its CPU asleep waits for it to wake up",
            Finding::WakeUps { .. } => {
                "every request waits for it at least once, and for how long is up to the hypervisor"
            }
            Finding::Clock { .. } => "the load engine reads it several times for each request",
            Finding::Turbo => "the frequency depends on heat and on what other cores do",
        };
        why.to_owned()
    }
}

impl Words for LeftOut {
    fn words(&self) -> String {
        let place = |virtual_machine: &bool| {
            if *virtual_machine { "in this virtual machine" } else { "on this machine" }
        };
        match self {
            LeftOut::Frequency { virtual_machine } => {
                format!("the CPUs' frequency is not visible {}", place(virtual_machine))
            }
            LeftOut::IdleStates { virtual_machine } => {
                format!("idle states are not visible {}", place(virtual_machine))
            }
            LeftOut::Noise { why } => format!("no service could be compared with itself: {why}"),
            LeftOut::FewDeployments { deployments } => {
                let seen = match deployments {
                    0 => "the service was not measured in any deployment".to_owned(),
                    1 => "the service was measured in a single deployment".to_owned(),
                    several => format!("the service was measured in {several} deployments"),
                };
                format!("{seen}, and an estimate needs two: give it more time (--seconds)")
            }
            LeftOut::Wire { why } => {
                format!(
                    "service and load talk over the loopback interface, as there is no wire: {why}; as root there is one"
                )
            }
        }
    }
}

/// `java 2.1 % (3 processes, in a container)`
pub(crate) fn program(program: &Program) -> String {
    let many = (program.processes > 1).then(|| format!("{} processes", program.processes));
    let container = program.in_container.then(|| "in a container".to_owned());
    let about: Vec<String> = many.into_iter().chain(container).collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
    format!("{} {}{about}", program.name, unsigned_percent(program.share))
}

/// `CPU 3`, `CPUs 0-2,5`
pub(crate) fn named_cpus(cpus: &[usize]) -> String {
    match cpus {
        [cpu] => format!("CPU {cpu}"),
        cpus => format!("CPUs {}", cpu_list(cpus)),
    }
}
