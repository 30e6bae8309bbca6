//! Every layer of a ladder on a node of its own: the service answers, sees the expected client, and the kernel shows that packets went through
//! the layer.

use std::{
    collections::BTreeSet,
    fs,
    net::{IpAddr, Ipv4Addr},
    process::Command,
};

use loadline_local::{Local, LocalError, missing};
use loadline_machine::{Cgroup, Environment, Netns};
use loadline_model::platform::{
    Backend::{Iptables, Nftables},
    IpvlanMode,
    Layer::{self, *},
    Overlay,
};
use loadline_platform::{Deployment, Platform, PlatformError, Service};
use loadline_test_support::{
    Node, assert_same, caller_seen, cgroup_of, inventory, load_br_netfilter, pid_of, who_called,
};

/// One deployment on a node of its own, and its environment.
struct Rung {
    before: BTreeSet<String>,
    environment: Environment,
    deployment: Box<dyn Deployment>,
    _node: Node,
}

impl Rung {
    fn of(layers: &[Layer]) -> Rung {
        Rung::with(layers, &who_called())
    }

    fn with(layers: &[Layer], service: &Service) -> Rung {
        let node = Node::enter_new();
        let environment = node.environment();
        let before = on_node();
        let deployment = deploy(&environment, layers, service).unwrap();
        assert!(deployment.left_out().is_empty(), "{:?}", deployment.left_out());
        Rung { before, environment, deployment, _node: node }
    }

    /// Sends a request, and compares the client's address that the service saw with the one at `offset` in the deployment's addresses.
    fn answers_to(&self, offset: u32) {
        assert_eq!(
            caller_seen(&self.environment, self.deployment.address()),
            address(&self.environment, offset)
        );
    }

    /// What the program prints inside the deployment's node number `node`.
    fn in_node(&self, node: usize, command: &str) -> String {
        inside(&self.deployment.nodes()[node], command)
    }

    fn in_pod(&self, command: &str) -> String {
        inside(&pod(&*self.deployment), command)
    }

    /// Stops it, and checks that the run's node is unchanged.
    fn ends(self) {
        assert_same(&on_node(), &self.before);
        self.deployment.stop().unwrap();
        let run = self.environment.run().to_string();
        let links = inside(self.environment.client(), "ip -o link");
        assert!(!links.contains(&format!("ll{run}")), "{links}");
        assert!(loadline_test_support::processes_of(&run).is_empty());
        self.environment.remove().unwrap();
        assert!(loadline_test_support::cgroups_of(&run).is_empty());
    }
}

/// The links and rules on the run's node. Its wire's state and IPv6 address come by themselves, a moment late.
fn on_node() -> BTreeSet<String> {
    let links = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let names = links.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    inventory("").into_iter().filter(|thing| !thing.starts_with("ip:")).chain(names).collect()
}

/// Ends of the addresses that the first deployment has.
const CLIENT: u32 = 2;
const GATEWAY: u32 = 9;
const NEAR_ON_LINK: u32 = 12;
const NEAR_ON_OVERLAY: u32 = 14;

fn address(environment: &Environment, offset: u32) -> IpAddr {
    let shared_wire = environment.node_address().to_bits() - 1;
    IpAddr::V4(Ipv4Addr::from_bits(shared_wire + 16 + offset))
}

fn deploy(
    environment: &Environment,
    layers: &[Layer],
    service: &Service,
) -> Result<Box<dyn Deployment>, PlatformError> {
    Local { layers: layers.to_vec(), own_node: true }.deploy(environment, service, &mut |_| {})
}

/// The namespace that the service's process is in.
fn pod(deployment: &dyn Deployment) -> Netns {
    let pid = pid_of(deployment);
    std::thread::spawn(move || {
        let file = fs::File::open(format!("/proc/{pid}/ns/net")).unwrap();
        let network = Some(rustix::thread::LinkNameSpaceType::Network);
        rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), network).unwrap();
        Netns::current().unwrap()
    })
    .join()
    .unwrap()
}

/// What a command prints in a namespace; its words are separated by spaces.
fn inside(netns: &Netns, command: &str) -> String {
    let mut words = command.split_whitespace();
    let output = netns.run(|| Ok(Command::new(words.next().unwrap()).args(words).output().unwrap())).unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Packets that a link has received and sent.
fn packets(shown: &str) -> (u64, u64) {
    let links: serde_json::Value = serde_json::from_str(shown).unwrap();
    let count = |direction: &str| links[0]["stats64"][direction]["packets"].as_u64().unwrap();
    (count("rx"), count("tx"))
}

/// The number after `word`.
fn number_after(word: &str, text: &str) -> u64 {
    let rest = text.split(word).nth(1).unwrap_or_else(|| panic!("no {word} in {text}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_bare_service_is_on_a_node_of_its_own_over_a_wire_of_its_own() {
    let rung = Rung::of(&[]);
    rung.answers_to(CLIENT);
    assert_eq!(rung.deployment.nodes().len(), 1);
    let links = rung.in_node(0, "ip -o link");
    assert!(links.lines().count() == 2 && links.contains("eth0@"), "{links}");
    assert_eq!(rung.in_pod("ip -o link"), links);
    rung.ends();
}

#[test]
fn a_quota_is_all_the_cpus_that_the_service_may_use() {
    let service = Service { cpus: vec![0, 1], ..who_called() };
    let rung = Rung::with(&[Layer::Cgroup, Quota], &service);
    rung.answers_to(CLIENT);
    let (file, expected) = match cgroup_of(&*rung.deployment).unwrap() {
        Cgroup::V1 { cpu, .. } => (cpu.join("cpu.cfs_quota_us"), "200000"),
        Cgroup::V2 { dir } => (dir.join("cpu.max"), "200000 100000"),
    };
    assert_eq!(fs::read_to_string(file).unwrap().trim(), expected);
    rung.ends();
}

#[test]
fn a_quota_leaves_a_limit_as_it_is() {
    let limits = loadline_model::platform::Limits { cpus: Some(0.5), memory_bytes: None };
    let rung = Rung::with(&[Layer::Cgroup, Quota], &Service { limits, ..who_called() });
    let file = match cgroup_of(&*rung.deployment).unwrap() {
        Cgroup::V1 { cpu, .. } => cpu.join("cpu.cfs_quota_us"),
        Cgroup::V2 { dir } => dir.join("cpu.max"),
    };
    assert!(fs::read_to_string(file).unwrap().starts_with("50000"));
}

#[test]
fn a_pod_is_behind_the_node_routed_or_bridged() {
    for layers in [vec![Veth], vec![Layer::Cgroup, Veth], vec![Veth, Bridge]] {
        let rung = Rung::of(&layers);
        rung.answers_to(CLIENT);
        let kind = if layers.contains(&Bridge) { "bridge" } else { "veth" };
        let link = format!("ll{}{}1", rung.environment.run(), &kind[..1]);
        let (received, sent) =
            packets(&rung.in_node(0, &format!("ip -j -s link show dev {link} type {kind}")));
        assert!(received > 3 && sent > 3, "{received} {sent}");
        rung.ends();
    }
}

/// Whether packets from the pod pass IP rules with a note of the bridge's port: how many did, and what the bridge says of itself.
fn bridged_packets_in_ip_rules(layers: &[Layer]) -> (u64, String) {
    let rung = Rung::of(layers);
    rung.answers_to(CLIENT);
    let port = format!("ll{}v1", rung.environment.run());
    rung.in_node(0, &format!("iptables -t raw -A PREROUTING -m physdev --physdev-in {port}"));
    rung.answers_to(CLIENT);
    let counted = rung.in_node(0, "iptables -t raw -vnxL PREROUTING");
    let counted = counted.lines().nth(2).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let sysctl = rung.in_node(0, "cat /proc/sys/net/bridge/bridge-nf-call-iptables");
    assert_eq!(sysctl.trim(), "0", "the setting for all bridges of the node");
    let bridge = rung.in_node(0, "ip -d link show type bridge");
    rung.ends();
    (counted, bridge)
}

#[test]
fn br_netfilter_is_off_unless_requested_and_then_on_for_the_pods_bridge() {
    load_br_netfilter();
    let (without, bridge) = bridged_packets_in_ip_rules(&[Veth, Bridge]);
    assert!(without == 0 && bridge.contains("nf_call_iptables 0"), "{without} {bridge}");
    let (with, bridge) = bridged_packets_in_ip_rules(&[Veth, Bridge, BrNetfilter]);
    assert!(with > 3 && bridge.contains("nf_call_iptables 1"), "{with} {bridge}");
}

#[test]
fn connections_are_tracked_where_requested_and_nowhere_else() {
    let node = Node::enter_new();
    let environment = node.environment();
    for path in [vec![], vec![Veth], vec![Veth, Bridge], vec![Veth, OtherNode(Overlay::Routed)]] {
        let tracking =
            deploy(&environment, &[path.clone(), vec![Conntrack]].concat(), &who_called()).unwrap();
        let beside = deploy(&environment, &path, &who_called()).unwrap();
        let tracked = |deployment: &dyn Deployment| {
            caller_seen(&environment, deployment.address());
            inside(&deployment.nodes()[0], "cat /proc/net/nf_conntrack")
        };
        let entries = tracked(&*tracking);
        let port = format!("dport={}", tracking.address().port());
        assert!(entries.lines().any(|line| line.contains(&port)), "{path:?}: {entries}");
        assert_eq!(tracked(&*beside), "", "{path:?}");
    }
}

#[test]
fn every_packet_to_the_service_and_no_other_walks_all_rules() {
    for (path, offset) in [(vec![Veth], 10), (vec![], 1)] {
        let rung = Rung::of(&[path, vec![Rules(20_050)]].concat());
        let table = format!("loadline-{}-1-rules", rung.environment.run());
        let service = address(&rung.environment, offset);
        for (chain, end) in [("planted", "daddr"), ("planted", "saddr"), ("again", "daddr")] {
            rung.in_node(0, &format!("nft add rule ip {table} {chain} ip {end} {service} counter"));
        }
        rung.answers_to(CLIENT);
        // One listing of both chains: packets go on meanwhile.
        let listing = rung.in_node(0, &format!("nft list table ip {table}"));
        let (again, planted) = listing.split_once("chain planted {").expect("two chains");
        let rules = |chain: &str| chain.matches("192.0.2.1").count();
        let jumps = planted.matches("jump again").count();
        assert_eq!(rules(again) * jumps + rules(planted), 20_050);
        let counted = |chain: &str, end: &str| {
            let line = chain.lines().find(|line| line.contains(end) && line.contains("counter")).unwrap();
            number_after("packets ", line)
        };
        let packets = counted(planted, "daddr");
        assert!(packets > 3, "{packets}");
        assert_eq!(counted(planted, "saddr"), 0);
        assert_eq!(counted(again, "daddr"), packets * jumps as u64);
        rung.ends();
    }
}

#[test]
fn a_macvlan_link_is_on_the_wire_and_past_the_nodes_stack() {
    let rung = Rung::of(&[Macvlan]);
    rung.answers_to(CLIENT);
    rung.in_node(0, "nft add table ip seen");
    rung.in_node(
        0,
        "nft add chain ip seen prerouting { type filter hook prerouting priority 0 ; counter ; }",
    );
    rung.answers_to(CLIENT);
    let link = rung.in_pod("ip -d link show dev eth0");
    assert!(link.contains("macvlan mode bridge"), "{link}");
    assert_eq!(number_after("packets ", &rung.in_node(0, "nft list table ip seen")), 0);
    rung.ends();
}

/// For layers that this kernel may lack: requests are answered over a link of that kind.
fn works(layers: &[Layer]) {
    let rung = Rung::of(layers);
    rung.answers_to(CLIENT);
    let layer = layers.last().unwrap();
    if matches!(layer, OtherNode(_)) {
        for node in [0, 1] {
            let (received, sent) =
                packets(&rung.in_node(node, &format!("ip -j -s link show type {layer} dev {layer}")));
            assert!(received > 3 && sent > 3, "{layer}: {received} {sent}");
        }
        rung.ends();
        let nodeport = NodePort { backend: Nftables, services: 1 };
        Rung::of(&[layers, &[nodeport]].concat()).answers_to(NEAR_ON_OVERLAY);
        return;
    }
    let link = rung.in_pod("ip -d link show dev eth0");
    let kind = layer.to_string().replace('-', "  mode ");
    assert!(link.contains(&kind), "{kind}: {link}");
    rung.ends();
}

#[test]
fn what_the_kernel_lacks_is_named_before_and_when_it_is_tried_and_else_works() {
    for (layers, option) in [
        (vec![Ipvlan(IpvlanMode::L2)], "CONFIG_IPVLAN"),
        (vec![Ipvlan(IpvlanMode::L3)], "CONFIG_IPVLAN"),
        (vec![Ipvlan(IpvlanMode::L3s)], "CONFIG_IPVLAN"),
        (vec![Netkit], "CONFIG_NETKIT"),
        (vec![Veth, OtherNode(Overlay::Ipip)], "CONFIG_NET_IPIP"),
        (vec![Veth, OtherNode(Overlay::Geneve)], "CONFIG_GENEVE"),
        (vec![Veth, OtherNode(Overlay::Wireguard)], "CONFIG_WIREGUARD"),
    ] {
        let node = Node::enter_new();
        let environment = node.environment();
        let Some(error) = missing(&layers) else {
            works(&layers);
            continue;
        };
        assert!(matches!(error, LocalError::LayerMissing { .. }), "{error:?}");
        let lacking = layers.last().unwrap();
        assert!(
            error.to_string().contains(&format!("`{lacking}`")) && error.to_string().contains(option),
            "{error}"
        );
        let refused = deploy(&environment, &layers, &who_called()).err().unwrap();
        assert_eq!(refused.to_string(), error.to_string());
        // The failed attempt leaves nothing, not even its number's names.
        assert!(!inside(environment.client(), "ip -o link").contains(&format!("ll{}", environment.run())));
    }
}

#[test]
fn another_node_is_reached_by_a_plain_route() {
    for layers in [vec![Veth, OtherNode(Overlay::Routed)], vec![Veth, Bridge, OtherNode(Overlay::Routed)]] {
        let rung = Rung::of(&layers);
        rung.answers_to(CLIENT);
        assert_eq!(rung.deployment.nodes().len(), 2);
        for (node, link) in [(0, "eth1"), (1, "eth0")] {
            let (received, sent) = packets(&rung.in_node(node, &format!("ip -j -s link show dev {link}")));
            assert!(received > 3 && sent > 3, "{received} {sent}");
        }
        rung.ends();
    }
}

#[test]
fn another_node_is_reached_through_vxlan_as_flannel_sets_it_up() {
    let rung = Rung::of(&[Veth, Bridge, OtherNode(Overlay::Vxlan)]);
    rung.answers_to(CLIENT);
    for node in [0, 1] {
        let shown = rung.in_node(node, "ip -d link show dev vxlan");
        assert!(shown.contains("mtu 1450") && shown.contains("vxlan id 1 "), "{shown}");
        assert!(shown.contains("dstport 8472") && shown.contains("nolearning"), "{shown}");
        let (received, sent) = packets(&rung.in_node(node, "ip -j -s link show dev vxlan"));
        assert!(received > 3 && sent > 3, "{received} {sent}");
        let forwarding = rung.in_node(node, "bridge fdb show dev vxlan");
        assert!(forwarding.contains("self permanent"), "{forwarding}");
        assert!(rung.in_node(node, "ip neigh show dev vxlan").contains("PERMANENT"));
    }
    assert!(rung.in_pod("ip link show dev eth0").contains("mtu 1450"));
    rung.ends();
}

#[test]
fn a_node_port_leads_to_a_pod_on_the_node_and_on_another_one() {
    load_br_netfilter();
    for (path, seen) in [
        (vec![Veth], GATEWAY),
        (vec![Veth, Bridge, BrNetfilter, Conntrack], GATEWAY),
        (vec![Veth, OtherNode(Overlay::Routed)], NEAR_ON_LINK),
        (vec![Veth, Bridge, OtherNode(Overlay::Vxlan)], NEAR_ON_OVERLAY),
    ] {
        for backend in [Iptables, Nftables] {
            let rung = Rung::of(&[path.clone(), vec![NodePort { backend, services: 100 }]].concat());
            rung.answers_to(seen);
            rung.ends();
        }
        let published = Rung::of(&[path, vec![PublishedPort]].concat());
        published.answers_to(CLIENT);
        published.ends();
    }
}

#[test]
fn checking_for_missing_layers_leaves_nothing_and_finds_all_on_this_machine() {
    load_br_netfilter();
    let _node = Node::enter_new();
    let before = inventory("");
    let nodeport = NodePort { backend: Nftables, services: 10 };
    let all = [Layer::Cgroup, Quota, Veth, Bridge, BrNetfilter, Conntrack, Rules(10), nodeport];
    assert_eq!(missing(&all).map(|error| error.to_string()), None);
    assert_same(&inventory(""), &before);
}
