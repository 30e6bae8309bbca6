//! The layer `published`: a port published as Docker's bridge driver does it with iptables. The address is translated
//! to the container's; a client from outside keeps its own (moby, libnetwork/drivers/bridge/setup_ip_tables_linux.go
//! and libnetwork/iptables).

use loadline_machine::{Error, iptables};

use super::ExposedPort;

pub(crate) fn install(exposed: &ExposedPort) -> Result<(), Error> {
    exposed.node.netns.run(|| iptables::install(&rules(exposed)))
}

/// Docker's rules with two differences: the jump names the published port, so that deployments do not pass each other's rules, and
/// everything carries the deployment's name.
fn rules(exposed: &ExposedPort) -> String {
    let ExposedPort { at, pod, pods, link, .. } = exposed;
    let (nat, filter) = (exposed.node.owner.chain("DNAT"), exposed.node.owner.chain("FORWARD"));
    let ours = format!("-m comment --comment \"{}\"", exposed.node.owner.label());
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
