//! Round after round of deployments on nodes of their own, in a process that nothing else opens files in.

mod common;

use std::fs;

use common::{Node, caller_seen, wait_until, who_called};
use loadline_platform::{
    Deployment, Ground,
    Layer::{Bridge, Cgroup, Conntrack, OtherNode, Veth},
    Local, Overlay, Platform,
};

fn deploy(ground: &Ground) -> Box<dyn Deployment> {
    let layers = vec![Cgroup, Veth, Bridge, Conntrack, OtherNode(Overlay::Vxlan)];
    Local { layers, own_node: true }.deploy(ground, &who_called(), &mut |_| {}).unwrap()
}

#[test]
fn descriptors_links_and_numbers_are_given_back_round_after_round() {
    let node = Node::enter_new();
    let ground = node.ground();
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let links =
        || ground.client().run(|| Ok(fs::read_to_string("/proc/thread-self/net/dev").unwrap())).unwrap();
    let names = || -> Vec<String> {
        links().lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
    };
    // What is opened once and kept is open after the first round.
    deploy(&ground).stop().unwrap();
    let before = (descriptors(), names());
    for _ in 0..12 {
        let two = [deploy(&ground), deploy(&ground)];
        assert_ne!(two[0].address(), two[1].address());
        for deployment in two {
            caller_seen(&ground, deployment.address());
            deployment.stop().unwrap();
        }
    }
    // The thread that reads a service's output closes its pipe a moment after the service has ended.
    wait_until("all descriptors are closed", || descriptors() <= before.0);
    assert_eq!(names(), before.1);
}
