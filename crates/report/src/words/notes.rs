//! What a reader of the figures must know.

use loadline_model::notes::{Change, Circumstance, Note, Resources};
use loadline_model::platform::Limits;

use super::{Words, remedy};
use crate::figures;

impl Words for Note {
    fn words(&self) -> String {
        match self {
            Note::NoWire => {
                "this user may lay no wire, so the client is on the node itself: `host` is called over loopback, and no path is as \
                 long as from another machine. Run as root for the wire"
                    .to_owned()
            }
            Note::TimeOver { deployments, within } => format!(
                "the time for measuring was over after {deployments} deployments (--within {}s)",
                within.as_secs_f64()
            ),
            Note::SharedCpu => {
                "load and service share a CPU, because there is no other: response times hold the generator's own work".to_owned()
            }
            Note::ServiceSeesAll { load_runs_first: true } => {
                "services see all CPUs and are held to their limits alone; the load shares its CPUs with them and runs before them \
                 (real-time priority)"
                    .to_owned()
            }
            Note::ServiceSeesAll { load_runs_first: false } => {
                "services see all CPUs and are held to their limits alone; the load shares its CPUs with them and waits for them: response \
                 times include that wait. Run as root, or with CAP_SYS_NICE, to give the load real-time priority"
                    .to_owned()
            }
            Note::InterruptTimeApart => {
                "this kernel charges the time of interrupts to no process (CONFIG_IRQ_TIME_ACCOUNTING): CPU per request leaves out what \
                 packets cost in soft interrupts; --profile sees it"
                    .to_owned()
            }
            Note::WireguardThreads => {
                "WireGuard encrypts in threads of the kernel, which belong to no process: CPU per request leaves that out; --profile sees \
                 it on the CPUs of service and load"
                    .to_owned()
            }
            Note::ConnectionsTracked => {
                "a node port or published port makes the node track connections, those of its plain processes too: host pays for \
                 that here as it does on a node of a cluster"
                    .to_owned()
            }
            Note::ExternalService => {
                "an external service is not started anew: its deployments are rounds of measuring, its twin is itself once more, \
                 and its client is this machine, not one behind a wire"
                    .to_owned()
            }
            Note::SideBySide { cells, fewer_than, busy_share } => {
                let reason = match fewer_than {
                    Some(few) => format!(
                        "a slice would gather fewer than {few} requests, and those of one load together keep"
                    ),
                    None => "as asked for; those of one load together keep".to_owned(),
                };
                let busy = busy_share * 100.0;
                format!("{cells} cells run side by side, request by request: {reason} one CPU at most {busy:.1} % busy")
            }
            Note::ServiceNotHere => {
                "a service that isn't a process of this machine can't be profiled from here".to_owned()
            }
            Note::NotProfiled { reason } => format!("nothing was profiled: {reason}"),
            Note::SoftirqsNotSeen { reason } => format!("why soft interrupts are raised was not seen: {reason}"),
            Note::ProfileDisturbed { gate } => format!("the profiler saw disturbed times, too ({})", remedy(*gate)),
            Note::OneDeployment => {
                "one deployment: the intervals do not cover how one start of a service differs from the next (--deployments)".to_owned()
            }
            Note::UnequalResources { candidate, candidate_has, baseline, baseline_has } => format!(
                "{candidate} and {baseline} have different limits or CPUs: {candidate} {}; {baseline} {}. Their difference includes the \
                 effect of that",
                resources(candidate_has),
                resources(baseline_has)
            ),
            Note::TailsNotSeen => "when a service was held up is seen of services on this machine alone, which have its load beside them; the \
                tails of the others are not explained"
                .to_owned(),
            Note::Cold => {
                "measured without a warm-up: each slice is the first load that its service got after its start".to_owned()
            }
            Note::StillCompiling { sites } => {
                let shares = sites.iter().map(|(site, share)| format!("{site} {:.0} %", share * 100.0));
                format!(
                    "services still compiled while they were measured, and were not yet as fast as they get; the JIT's share of the CPU time: \
                     {}. Longer or busier warm-ups leave less of it (--warmup is the longest that they may take)",
                    shares.collect::<Vec<_>>().join(", ")
                )
            }
            Note::WithoutLimits { platforms } => format!(
                "measured without limits on {}: this user cannot write to cgroups",
                platforms.join(", ")
            ),
            Note::NotInterleaved { before, after, changes } => {
                let changes = match changes.is_empty() {
                    true => String::new(),
                    false => format!(
                        "; {} not the same",
                        listed(changes.iter().map(Words::words).collect())
                    ),
                };
                format!(
                    "{before} and {after} were measured one after the other, not in turns: what changed on the machine between them is in \
                     the differences, and not in the intervals{changes}"
                )
            }
            Note::LeftOut { text } | Note::Text { text } => text.clone(),
        }
    }
}

/// `has at most 0.5 CPUs and 512 MiB, and is pinned to CPUs 0-1`
fn resources(of: &Resources) -> String {
    let limits = match figures::limits(of.limits) {
        None => "has no limits".to_owned(),
        Some(limits) => format!("has at most {limits}"),
    };
    match of.cpus.as_deref() {
        None => format!("{limits} and sees all CPUs"),
        Some([cpu]) => format!("{limits} and is pinned to CPU {cpu}"),
        Some(cpus) => format!("{limits} and is pinned to CPUs {}", figures::cpu_list(cpus)),
    }
}

/// `0.3 CPUs and 512 MiB`
impl Words for Limits {
    fn words(&self) -> String {
        figures::limits(*self).unwrap_or_else(|| "none".to_owned())
    }
}

/// `its kernel (6.1, then 6.18)`
impl Words for Change {
    fn words(&self) -> String {
        let what = match self.what {
            Circumstance::Machine => "the machine",
            Circumstance::CpuModel => "its model of CPU",
            Circumstance::Cpus => "its CPUs",
            Circumstance::Kernel => "its kernel",
            Circumstance::Governor => "its frequency governor",
            Circumstance::LoadCpus => "the CPUs of the load",
            Circumstance::WarmUp => "the warm-up",
            Circumstance::Limits => "the limits of the service",
            Circumstance::Version => "the version of loadline",
            Circumstance::Daemon => "the daemon or cluster",
            Circumstance::Runtime => "the language runtime",
        };
        let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
        format!("{what} ({}, then {})", known(&self.before), known(&self.after))
    }
}

/// `a is`, `a and b are`, `a, b and c are`
fn listed(items: Vec<String>) -> String {
    match items.as_slice() {
        [] => String::new(),
        [one] => format!("{one} is"),
        [first @ .., last] => format!("{} and {last} are", first.join(", ")),
    }
}
