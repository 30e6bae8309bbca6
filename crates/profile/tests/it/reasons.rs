//! What raises soft interrupts on real paths.

use std::{thread, time::Duration};

use loadline_profile::{Layer, Reason, SoftirqReasons, SoftirqWatch, Symbols};

use crate::rig::{Path, Rig};

fn reasons(path: Path) -> SoftirqReasons {
    let rig = Rig::new(path);
    let _load = rig.load(true);
    let watch = SoftirqWatch::start(&[0, 1]).unwrap();
    thread::sleep(Duration::from_secs(1));
    let reasons = watch.stop().unwrap().resolve(&Symbols::new()).unwrap();
    println!("{path:?}: {reasons:#?}");
    reasons
}

fn total(reasons: &[Reason], of: Option<Layer>) -> u64 {
    reasons.iter().filter(|r| of.is_none() || r.layer == of).map(|r| r.count).sum()
}

#[test]
fn a_wire_raises_received_packets_by_its_link_and_every_run_has_a_raise() {
    let reasons = reasons(Path::Host);
    assert_eq!(reasons.lost, 0);
    let raises = &reasons.raises["NET_RX"];
    let (all, wire) = (total(raises, None), total(raises, Some(Layer::Veth)));
    let runs = reasons.runs["NET_RX"];
    assert!(wire * 10 > all * 8, "{reasons:#?}");
    // What was raised when the watch began on a CPU runs in it, and what runs a second time for its budget is raised again.
    assert!(runs <= all + 2, "{runs} runs, {all} raises: {reasons:#?}");
    let polls: u64 = reasons.polls.values().sum();
    assert!(polls + 2 >= runs, "{reasons:#?}");
}

#[test]
fn an_overlay_is_polled_in_runs_that_its_wire_raised() {
    let reasons = reasons(Path::Vxlan);
    let polls = reasons.polls.get("vx0").copied().unwrap_or(0);
    let all: u64 = reasons.polls.values().sum();
    let raises = &reasons.raises["NET_RX"];
    assert!(polls > 0 && all > reasons.runs["NET_RX"], "{reasons:#?}");
    assert!(total(raises, Some(Layer::Veth)) * 10 > total(raises, None) * 8, "{reasons:#?}");
}
