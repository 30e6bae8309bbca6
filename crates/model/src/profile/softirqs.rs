//! Why soft interrupts were raised.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Layer;

/// Why soft interrupts were raised, and how much work they were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SoftirqReasons {
    /// Why each vector (`NET_RX`, `NET_TX`, `TIMER`, …) was raised, most frequent first.
    pub raises: BTreeMap<String, Vec<Reason>>,
    /// Runs by vector.
    pub runs: BTreeMap<String, u64>,
    /// Who queued packets, most frequent first.
    pub queued_packets: Vec<Reason>,
    /// Polls by link; those of a CPU's backlog are `(no_device)`'s.
    pub polls: BTreeMap<String, u64>,
    /// Records for which the buffer had no room.
    pub lost: u64,
}

/// A reason and how often it was one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The innermost recognised function outside the machinery of raising, such as `veth_xmit`; of a stack in which nothing is
    /// recognised the innermost function.
    pub function: String,
    /// Its layer; `None` if nothing was recognised.
    pub layer: Option<Layer>,
    /// How often.
    pub count: u64,
}

impl SoftirqReasons {
    /// Adds what another slice saw.
    pub fn merge(&mut self, other: &SoftirqReasons) {
        for (vector, theirs) in &other.raises {
            let ours = self.raises.entry(vector.clone()).or_default();
            theirs.iter().for_each(|reason| reason.clone().add_to(ours));
        }
        other.queued_packets.iter().for_each(|reason| reason.clone().add_to(&mut self.queued_packets));
        for (vector, count) in &other.runs {
            *self.runs.entry(vector.clone()).or_default() += count;
        }
        for (link, count) in &other.polls {
            *self.polls.entry(link.clone()).or_default() += count;
        }
        self.lost += other.lost;
        self.sort();
    }

    /// Puts the most frequent first.
    pub fn sort(&mut self) {
        for reasons in self.raises.values_mut().chain([&mut self.queued_packets]) {
            reasons.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.function.cmp(&b.function)));
        }
    }
}

impl Reason {
    /// Adds it to a list, in which the same reason stands once.
    pub fn add_to(self, reasons: &mut Vec<Reason>) {
        match reasons.iter_mut().find(|r| r.function == self.function && r.layer == self.layer) {
            Some(ours) => ours.count += self.count,
            None => reasons.push(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_two_slices_add_up() {
        let reason =
            |function: &str, count| Reason { function: function.into(), layer: Some(Layer::Veth), count };
        let mut sum = SoftirqReasons {
            raises: [("NET_RX".into(), vec![reason("veth_xmit", 2)])].into(),
            polls: [("vx0".into(), 3)].into(),
            ..Default::default()
        };
        let other = SoftirqReasons {
            raises: [("NET_RX".into(), vec![reason("veth_poll", 9), reason("veth_xmit", 5)])].into(),
            runs: [("NET_RX".into(), 4)].into(),
            polls: [("vx0".into(), 1)].into(),
            ..Default::default()
        };
        sum.merge(&other);
        assert_eq!(sum.raises["NET_RX"], [reason("veth_poll", 9), reason("veth_xmit", 7)]);
        assert_eq!((sum.polls["vx0"], sum.runs["NET_RX"]), (4, 4));
    }
}
