//! Round after round of deployments on nodes of their own, in a process that nothing else opens files in.

use std::fs;

use loadline_local::Local;
use loadline_machine::Environment;
use loadline_model::platform::{
    Layer::{Bridge, Cgroup, Conntrack, OtherNode, Veth},
    Overlay,
};
use loadline_platform::{Deployment, Platform};
use loadline_test_support::{Node, caller_seen, wait_until, who_called};

fn deploy(environment: &Environment) -> Box<dyn Deployment> {
    let layers = vec![Cgroup, Veth, Bridge, Conntrack, OtherNode(Overlay::Vxlan)];
    Local { layers, own_node: true }.deploy(environment, &who_called(), &mut |_| {}).unwrap()
}

#[test]
fn descriptors_links_and_numbers_are_released_round_after_round() {
    let node = Node::enter_new();
    let environment = node.environment();
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let links =
        || environment.client().run(|| Ok(fs::read_to_string("/proc/thread-self/net/dev").unwrap())).unwrap();
    let names = || -> Vec<String> {
        links().lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
    };
    // What is opened once and kept is open after the first round.
    deploy(&environment).stop().unwrap();
    let before = (descriptors(), names());
    for _ in 0..12 {
        let two = [deploy(&environment), deploy(&environment)];
        assert_ne!(two[0].address(), two[1].address());
        for deployment in two {
            caller_seen(&environment, deployment.address());
            deployment.stop().unwrap();
        }
    }
    // The thread that reads a service's output closes its pipe a moment after the service has ended.
    wait_until("all descriptors are closed", || descriptors() <= before.0);
    assert_eq!(names(), before.1);
}
