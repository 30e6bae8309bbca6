//! `/proc/PID/net/snmp`: TCP retransmissions in the network namespace that a process is in.
//! A lost packet costs a request 200 ms or more, so even a few of them explain a tail (RFC 6298, TCP_RTO_MIN).

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};

use crate::probe::{Probe, Target};

const RETRANSMITS: &str = "tcp.retransmits";

/// Reads TCP's counters in the network namespace of a service.
pub(crate) struct TcpProbe;

impl Probe for TcpProbe {
    /// Segments sent again since the namespace was made (`RetransSegs`, RFC 1213 tcpRetransSegs).
    type Reading = u64;

    fn name(&self) -> &'static str {
        "tcp"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let retransmits = MetricDeclaration::counter(RETRANSMITS, Unit::Count);
        vec![retransmits.shown_as("TCP retransmits", HigherIs::More)]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<u64> {
        let pid = target.subject().roots().next().or_else(|| target.processes().first().copied())?;
        parse(&target.proc_file(&format!("{pid}/net/snmp"))?)
    }

    fn between(&self, before: &u64, after: &u64, seen: &mut Observations) {
        seen.set(RETRANSMITS, after.checked_sub(*before));
    }
}

/// The file has two lines for each protocol: names, then values.
fn parse(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    pairs.find(|(name, _)| *name == "RetransSegs")?.1.parse().ok()
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

    #[test]
    fn a_recorded_file_is_read_by_name() {
        assert_eq!(parse(SAMPLE), Some(17));
    }

    #[test]
    fn a_file_without_values_is_none() {
        assert_eq!(parse("Tcp: RetransSegs\n"), None);
        assert_eq!(parse("Tcp: InSegs\nTcp: 1\n"), None);
        assert_eq!(parse(""), None);
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
            let _ = parse(&text);
            let _ = parse(&format!("Tcp: RetransSegs\nTcp: {text}"));
        }
    }
}
