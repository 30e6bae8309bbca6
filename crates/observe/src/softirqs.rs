//! `/proc/softirqs`: how often the kernel ran its network soft interrupts, on the whole machine.
//! Each hop that a platform adds, a veth pair first of all, hands packets over through one (net/core/dev.c).

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};

/// Reads the network soft interrupts.
pub(crate) struct SoftirqProbe;

impl Probe for SoftirqProbe {
    type Reading = Softirqs;

    fn name(&self) -> &'static str {
        "softirqs"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let count = |name, label| {
            MetricDeclaration::counter(name, Unit::Count).of_the_machine().shown_as(label, HigherIs::More)
        };
        vec![count("softirqs.net_rx", "  NET_RX"), count("softirqs.net_tx", "  NET_TX")]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Softirqs> {
        parse(&target.proc_file("softirqs")?)
    }

    fn between(&self, before: &Softirqs, after: &Softirqs, seen: &mut Observations) {
        seen.set("softirqs.net_rx", after.net_rx.checked_sub(before.net_rx));
        seen.set("softirqs.net_tx", after.net_tx.checked_sub(before.net_tx));
    }
}

/// Counts since boot, summed over all CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Softirqs {
    pub(crate) net_rx: u64,
    pub(crate) net_tx: u64,
}

fn parse(text: &str) -> Option<Softirqs> {
    Some(Softirqs { net_rx: sum_of(text, "NET_RX:")?, net_tx: sum_of(text, "NET_TX:")? })
}

fn sum_of(text: &str, name: &str) -> Option<u64> {
    let counts = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
    counts.split_ascii_whitespace().try_fold(0u64, |sum, count| sum.checked_add(count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: &str = "                    CPU0       CPU1
          HI:          0          0
       TIMER:      18970      12938
      NET_TX:          4          1
      NET_RX:       4054       4914
       BLOCK:          0      64298
";

    #[test]
    fn a_recorded_file_is_summed_over_its_cpus() {
        assert_eq!(parse(SAMPLE), Some(Softirqs { net_rx: 8_968, net_tx: 5 }));
    }

    #[test]
    fn a_file_without_the_lines_is_none() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("NET_RX: 1 x\nNET_TX: 1 2\n"), None);
    }

    #[test]
    fn this_machine_has_the_file() {
        assert!(crate::procfs::Proc::default().read("softirqs").is_some_and(|text| parse(&text).is_some()));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = parse(&text);
            let _ = parse(&format!("NET_RX: {text}\nNET_TX: {} {}", u64::MAX, u64::MAX));
        }
    }
}
