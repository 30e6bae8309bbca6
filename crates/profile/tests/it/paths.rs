//! What is recognised on the paths that platforms set up.

use loadline_profile::{Layer, Profile};

use crate::rig::{Path, Rig};

/// The maximum fraction of the kernel's time in functions that are not in the table.
const MAX_UNKNOWN_FRACTION: f64 = 0.1;

fn table(profile: &Profile) -> String {
    let mut lines: Vec<(u64, String)> =
        profile.kernel_ns.iter().map(|(layer, &ns)| (ns, layer.to_string())).collect();
    lines.push((profile.user_ns.service, "program of the service".into()));
    lines.push((profile.user_ns.load, "program of the load".into()));
    lines.extend(profile.unknown_ns.iter().map(|(name, &ns)| (ns, format!("? {name}"))));
    lines.push((profile.foreign_ns, "(foreign)".into()));
    lines.push((profile.idle_ns, "(idle)".into()));
    lines.sort_by(|a, b| b.cmp(a));
    let text: String =
        lines.iter().map(|(ns, name)| format!("{:>9.3} ms {name}\n", *ns as f64 / 1e6)).collect();
    format!(
        "{text}{:.1} % unknown, {} samples, {} lost, {} throttled",
        profile.unknown_share() * 100.0,
        profile.samples,
        profile.lost,
        profile.throttled
    )
}

/// Takes profiles of a path with both loads, and looks for the layers that it is made of.
fn recognises(path: Path, layers: &[Layer]) {
    let rig = Rig::new(path);
    let mut both = rig.profile(true);
    println!("{path:?}, one connection\n{}", table(&both));
    let fresh = rig.profile(false);
    println!("{path:?}, a connection per request\n{}", table(&fresh));
    both.merge(&fresh).unwrap();
    let table = table(&both);
    assert!(both.samples > 1000, "{table}");
    assert!(both.unknown_share() <= MAX_UNKNOWN_FRACTION, "{table}");
    assert!(both.user_ns.service > 0 && both.user_ns.load > 0, "{table}");
    for layer in layers {
        assert!(both.kernel_ns.contains_key(layer), "no {layer}\n{table}");
    }
}

#[test]
fn the_host_s_path_is_tcp_ip_a_wire_and_waking() {
    recognises(
        Path::Host,
        &[Layer::Tcp, Layer::Ip, Layer::Veth, Layer::SchedulerWakeUp, Layer::SyscallEntry, Layer::Socket],
    );
}

#[test]
fn a_nodeport_by_nftables_is_connection_tracking_translation_and_rules_behind_a_bridge() {
    recognises(Path::NodePort, &[Layer::Conntrack, Layer::Nat, Layer::NfTables, Layer::Bridge, Layer::Veth]);
}

#[test]
fn a_port_published_as_by_docker_is_rules_of_iptables_for_bridged_packets_too() {
    recognises(Path::Published, &[Layer::Conntrack, Layer::Iptables, Layer::Bridge, Layer::BrNetfilter]);
}

#[test]
fn rules_that_iptables_writes_for_nftables_are_those_of_nftables() {
    recognises(Path::NodePortByIptablesNft, &[Layer::Conntrack, Layer::NfTables, Layer::Bridge]);
}

#[test]
fn an_overlay_is_vxlan_over_udp() {
    recognises(Path::Vxlan, &[Layer::Vxlan, Layer::Udp, Layer::Bridge, Layer::Conntrack]);
}

#[test]
fn a_macvlan_link_is_seen() {
    recognises(Path::Macvlan, &[Layer::Macvlan, Layer::Tcp]);
}
