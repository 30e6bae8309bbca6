//! The layer `published`: a port published as Docker's bridge driver does it with iptables. The address is translated
//! to the container's; a client from outside keeps its own (moby, libnetwork/drivers/bridge/setup_ip_tables_linux.go
//! and libnetwork/iptables).

use loadline_machine::{Error, iptables};

use super::Entrance;

pub(crate) fn lay(entrance: &Entrance) -> Result<(), Error> {
    entrance.node.netns.run(|| iptables::install(&rules(entrance)))
}

/// Docker's rules with two differences: the jump names the published port, so that deployments don't walk through
/// each other's rules, and everything carries the deployment's name.
fn rules(entrance: &Entrance) -> String {
    let Entrance { at, pod, pods, link, .. } = entrance;
    let (nat, filter) = (entrance.node.owner.chain("DNAT"), entrance.node.owner.chain("FORWARD"));
    let ours = format!("-m comment --comment \"{}\"", entrance.node.owner.label());
    let to_port = format!("-d {}/32 -p tcp -m tcp --dport {}", at.ip(), at.port());
    let to_pod = format!("-d {}/32 -p tcp -m tcp --dport {}", pod.ip(), pod.port());
    format!(
        "\
*nat
:{nat} - [0:0]
-I PREROUTING 1 {to_port} -m addrtype --dst-type LOCAL {ours} -j {nat}
-I OUTPUT 1 {to_port} -m addrtype --dst-type LOCAL {ours} -j {nat}
-I POSTROUTING 1 -s {ip}/32 {to_pod} {ours} -j MASQUERADE
-I POSTROUTING 1 -s {pods} ! -o {link} {ours} -j MASQUERADE
-A {nat} -i {link} -j RETURN
-A {nat} ! -i {link} -p tcp -m tcp --dport {port} -j DNAT --to-destination {pod}
COMMIT
*filter
:{filter} - [0:0]
-A {filter} {to_pod} ! -i {link} -o {link} -j ACCEPT
-I FORWARD 1 -i {link} -o {link} {ours} -j ACCEPT
-I FORWARD 1 -i {link} ! -o {link} {ours} -j ACCEPT
-I FORWARD 1 -o {link} {ours} -j {filter}
-I FORWARD 1 -o {link} -m conntrack --ctstate RELATED,ESTABLISHED {ours} -j ACCEPT
COMMIT
",
        ip = pod.ip(),
        port = at.port(),
    )
}
