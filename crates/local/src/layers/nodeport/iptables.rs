//! kube-proxy's iptables rules (kubernetes, pkg/proxy/iptables/proxier.go): a chain of services tried one by one,
//! node ports last, each leading to a service chain and an endpoint chain.

use std::fmt::{self, Write};

use super::{MASQUERADE_MARK, Service};
use crate::layers::ExposedPort;

/// The rules, for `iptables-restore`. They differ from kube-proxy's in two ways: the jumps into them name the node port (or the pod's
/// link), so that deployments do not pass each other's rules and other traffic passes none; and everything carries the deployment's name.
pub(super) fn rules(exposed: &ExposedPort, services: &[Service]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_nat(&mut text, exposed, services).and_then(|()| write_filter(&mut text, exposed));
    text
}

fn write_nat(text: &mut String, exposed: &ExposedPort, services: &[Service]) -> fmt::Result {
    let chain = |suffix: &str| exposed.node.owner.chain(suffix);
    let numbered = |kind: &str, index: usize| exposed.node.owner.chain(&format!("{kind}-{index}"));
    let ours = format!("-m comment --comment \"{}\"", exposed.node.owner.label());
    let (entry, node_ports, mark) = (chain("SERVICES"), chain("NODEPORTS"), chain("MARK-MASQ"));
    let (external, leave) = (chain("EXT"), chain("POSTROUTING"));
    let tcp = "-p tcp -m tcp --dport";
    let port = exposed.at.port();
    let own = services.len().saturating_sub(1);

    writeln!(text, "*nat")?;
    for name in [&entry, &node_ports, &mark, &external, &leave] {
        writeln!(text, ":{name} - [0:0]")?;
    }
    for index in 0..services.len() {
        writeln!(text, ":{} - [0:0]\n:{} - [0:0]", numbered("SVC", index), numbered("SEP", index))?;
    }
    for hook in ["PREROUTING", "OUTPUT"] {
        writeln!(text, "-I {hook} 1 -d {}/32 {tcp} {port} {ours} -j {entry}", exposed.at.ip())?;
    }
    writeln!(text, "-I POSTROUTING 1 {ours} -j {leave}")?;

    for (index, Service { cluster, endpoint }) in services.iter().enumerate() {
        let (service, pod) = (numbered("SVC", index), numbered("SEP", index));
        let to_cluster = format!("-d {}/32 {tcp} {}", cluster.ip(), cluster.port());
        writeln!(text, "-A {entry} {to_cluster} {ours} -j {service}")?;
        writeln!(text, "-A {service} ! -s {} {to_cluster} -j {mark}", exposed.pods)?;
        writeln!(text, "-A {service} -j {pod}")?;
        writeln!(text, "-A {pod} -s {}/32 -j {mark}", endpoint.ip())?;
        writeln!(text, "-A {pod} -p tcp -m tcp -j DNAT --to-destination {endpoint}")?;
    }
    writeln!(text, "-A {entry} -m addrtype --dst-type LOCAL {ours} -j {node_ports}")?;
    writeln!(text, "-A {node_ports} {tcp} {port} {ours} -j {external}")?;
    writeln!(text, "-A {external} -j {mark}\n-A {external} -j {}", numbered("SVC", own))?;
    writeln!(text, "-A {mark} -j MARK --or-mark {MASQUERADE_MARK}")?;
    writeln!(text, "-A {leave} -m mark ! --mark {MASQUERADE_MARK}/{MASQUERADE_MARK} -j RETURN")?;
    writeln!(text, "-A {leave} -j MARK --xor-mark {MASQUERADE_MARK}")?;
    writeln!(text, "-A {leave} -j MASQUERADE --random-fully")?;
    writeln!(text, "COMMIT")
}

/// The rules that every forwarded packet passes, not only the first of a connection.
fn write_filter(text: &mut String, exposed: &ExposedPort) -> fmt::Result {
    let forward = exposed.node.owner.chain("FORWARD");
    let ours = format!("-m comment --comment \"{}\"", exposed.node.owner.label());
    writeln!(text, "*filter\n:{forward} - [0:0]")?;
    for direction in ["-i", "-o"] {
        writeln!(text, "-I FORWARD 1 {direction} {} {ours} -j {forward}", exposed.link)?;
    }
    writeln!(text, "-A {forward} -m conntrack --ctstate INVALID -j DROP")?;
    writeln!(text, "-A {forward} -m mark --mark {MASQUERADE_MARK}/{MASQUERADE_MARK} -j ACCEPT")?;
    writeln!(text, "-A {forward} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT")?;
    writeln!(text, "COMMIT")
}
