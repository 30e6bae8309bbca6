//! `/proc/PID/net/snmp` and `netstat`: what TCP lost in the network namespace that a process is in.
//! A lost packet costs a request 200 ms or more, so even a few of them explain a tail (RFC 6298, TCP_RTO_MIN), and a connection that is lost
//! because the service does not accept in time costs a second or more (TCP_TIMEOUT_INIT).

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};
use crate::procfs::Proc;

const RETRANSMITS: &str = "tcp.retransmits";
const LISTEN_OVERFLOWS: &str = "tcp.listen_overflows";

/// Reads TCP's counters in the network namespace of a service.
pub(crate) struct TcpProbe;

/// Since the namespace was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// Segments sent again (`RetransSegs`, RFC 1213 tcpRetransSegs).
    retransmits: Option<u64>,
    /// How often a connection found the queue of its listener full (`ListenOverflows`).
    listen_overflows: Option<u64>,
}

impl Probe for TcpProbe {
    type Reading = Lost;

    fn name(&self) -> &'static str {
        "tcp"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let count =
            |name, label| MetricDeclaration::counter(name, Unit::Count).shown_as(label, HigherIs::More);
        vec![count(RETRANSMITS, "TCP retransmits"), count(LISTEN_OVERFLOWS, "connections lost before accept")]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Lost> {
        let pid = target.service().first()?;
        let number = |file: &str, protocol, name| {
            parse(&target.proc_file(&format!("{pid}/net/{file}"))?, protocol, name)
        };
        let lost = Lost {
            retransmits: number("snmp", "Tcp:", "RetransSegs"),
            listen_overflows: number("netstat", "TcpExt:", "ListenOverflows"),
        };
        (lost.retransmits.is_some() || lost.listen_overflows.is_some()).then_some(lost)
    }

    fn between(&self, before: &Lost, after: &Lost, seen: &mut Observations) {
        let more = |after: Option<u64>, before: Option<u64>| after?.checked_sub(before?);
        seen.set(RETRANSMITS, more(after.retransmits, before.retransmits));
        seen.set(LISTEN_OVERFLOWS, more(after.listen_overflows, before.listen_overflows));
    }
}

/// The connections in the network namespace of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// How many were accepted since the namespace was made (`PassiveOpens`).
    pub(crate) accepted: u64,
    /// How many are open (`CurrEstab`).
    pub(crate) open: u64,
}

/// `None` where the process is gone.
pub(crate) fn connections(proc: &Proc, pid: Pid) -> Option<Connections> {
    let snmp = proc.read(&format!("{pid}/net/snmp"))?;
    let number = |name| parse(&snmp, "Tcp:", name);
    Some(Connections { accepted: number("PassiveOpens")?, open: number("CurrEstab")? })
}

/// A process in the network namespace of a service, if nothing else is in it: no proxy before the service, and not loadline.
pub(crate) fn lone_namespace(target: &Target<'_>) -> Option<Pid> {
    let pid = *target.service().first()?;
    let of = |process: &str| target.proc().link(&format!("{process}/ns/net"));
    let own = of(&pid.to_string()).is_some_and(|namespace| of("thread-self") != Some(namespace));
    (own && target.subject().root_pids.len() <= 1).then_some(pid)
}

/// The file has two lines for each protocol: names, then values.
fn parse(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    pairs.find(|(known, _)| *known == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: &str = "\
Ip: Forwarding DefaultTTL InReceives
Ip: 1 64 8906
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs \
RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 81 2 0 59 4 8834 5755 17 0 65 0
Udp: InDatagrams NoPorts
Udp: 12 0
";

    fn retransmits(text: &str) -> Option<u64> {
        parse(text, "Tcp:", "RetransSegs")
    }

    #[test]
    fn a_recorded_file_is_read_by_name() {
        assert_eq!(retransmits(SAMPLE), Some(17));
        let netstat = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 12 13\nIpExt: InNoRoutes\nIpExt: 0\n";
        assert_eq!(parse(netstat, "TcpExt:", "ListenOverflows"), Some(12));
    }

    #[test]
    fn connections_are_read_and_are_none_of_a_process_that_is_gone() -> std::io::Result<()> {
        let root = tempfile::tempdir()?;
        std::fs::create_dir_all(root.path().join("7/net"))?;
        std::fs::write(root.path().join("7/net/snmp"), SAMPLE)?;
        let (proc, pid) = (Proc::at(root.path()), |pid| Pid::from_raw(pid).expect("a number"));
        assert_eq!(connections(&proc, pid(7)), Some(Connections { accepted: 2, open: 4 }));
        assert_eq!(connections(&proc, pid(8)), None);
        Ok(())
    }

    #[test]
    fn loadline_itself_is_in_no_namespace_of_its_own() {
        let subject = crate::Subject { root_pids: vec![std::process::id()], cgroup: None };
        assert_eq!(lone_namespace(&Target::new(&subject, &Proc::default())), None);
    }

    #[test]
    fn a_file_without_values_is_none() {
        assert_eq!(retransmits("Tcp: RetransSegs\n"), None);
        assert_eq!(retransmits("Tcp: InSegs\nTcp: 1\n"), None);
        assert_eq!(retransmits(""), None);
    }

    #[test]
    fn this_process_is_in_a_namespace_that_counts() {
        let subject = crate::Subject { root_pids: vec![std::process::id()], cgroup: None };
        let proc = crate::procfs::Proc::default();
        assert!(Probe::read(&mut TcpProbe, &Target::new(&subject, &proc)).is_some());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = retransmits(&text);
            let _ = retransmits(&format!("Tcp: RetransSegs\nTcp: {text}"));
        }
    }
}
