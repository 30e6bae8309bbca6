//! kube-proxy's nftables rules (kubernetes, pkg/proxy/nftables/proxier.go): verdict maps from address and port to
//! the service's chain, in one table.

use std::fmt::{self, Write};

use super::{MASQUERADE_MARK, Service};
use crate::layers::ExposedPort;

/// The rules, for `nft -f`. As with kube-proxy's `--nodeport-addresses`, node ports are those of one address.
///
/// Only the deployment's own service chooses its endpoint from a map, as kube-proxy writes it. The chains of the others are never reached,
/// and the kernel takes time quadratic in the number of such maps: half a minute for 10,000.
pub(super) fn rules(exposed: &ExposedPort, services: &[Service]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_table(&mut text, exposed, services);
    text
}

fn write_table(text: &mut String, exposed: &ExposedPort, services: &[Service]) -> fmt::Result {
    let own = services.len().saturating_sub(1);
    writeln!(text, "table ip {} {{", exposed.node.owner.label())?;
    writeln!(text, "{BASE_CHAINS}")?;
    writeln!(text, "chain mark-for-masquerade {{ mark set mark or {MASQUERADE_MARK}; }}")?;
    writeln!(
        text,
        "chain masquerading {{ mark and {MASQUERADE_MARK} == 0 return; mark set mark xor {MASQUERADE_MARK}; \
         masquerade fully-random; }}"
    )?;
    for (index, Service { cluster, endpoint }) in services.iter().enumerate() {
        let to_endpoint = if index == own {
            format!("numgen random mod 1 vmap {{ 0 : goto endpoint-{index} }}")
        } else {
            format!("goto endpoint-{index}")
        };
        writeln!(
            text,
            "chain endpoint-{index} {{ ip saddr {} jump mark-for-masquerade; meta l4proto tcp dnat to {endpoint}; }}",
            endpoint.ip()
        )?;
        writeln!(
            text,
            "chain service-{index} {{ ip daddr {} tcp dport {} ip saddr != {} jump mark-for-masquerade; \
             {to_endpoint}; }}",
            cluster.ip(),
            cluster.port(),
            exposed.pods
        )?;
    }
    writeln!(text, "chain external-{own} {{ jump mark-for-masquerade; goto service-{own}; }}")?;
    writeln!(text, "set nodeport-ips {{ type ipv4_addr; elements = {{ {} }}; }}", exposed.at.ip())?;
    writeln!(
        text,
        "map service-nodeports {{ type inet_proto . inet_service : verdict; elements = {{ tcp . {} : goto external-{own} }}; }}",
        exposed.at.port()
    )?;
    writeln!(text, "map service-ips {{ type ipv4_addr . inet_proto . inet_service : verdict; elements = {{")?;
    for (index, Service { cluster, .. }) in services.iter().enumerate() {
        writeln!(text, "{} . tcp . {} : goto service-{index},", cluster.ip(), cluster.port())?;
    }
    writeln!(text, "}}; }}\n{DISPATCH}\n}}")
}

/// Hooks, in kube-proxy's priorities. Those of the filter type are passed by every packet.
const BASE_CHAINS: &str = "\
chain filter-prerouting-pre-dnat { type filter hook prerouting priority dstnat - 10; ct state new jump firewall-check; }
chain filter-input { type filter hook input priority -110; ct state new jump nodeport-endpoints-check; ct state new jump service-endpoints-check; }
chain filter-forward { type filter hook forward priority -110; ct state new jump service-endpoints-check; }
chain filter-output { type filter hook output priority -110; ct state new jump service-endpoints-check; }
chain nat-prerouting { type nat hook prerouting priority dstnat; jump services; }
chain nat-output { type nat hook output priority -100; jump services; }
chain nat-postrouting { type nat hook postrouting priority srcnat; jump masquerading; }
map firewall-ips { type ipv4_addr . inet_proto . inet_service : verdict; }
map no-endpoint-services { type ipv4_addr . inet_proto . inet_service : verdict; }
map no-endpoint-nodeports { type inet_proto . inet_service : verdict; }
chain firewall-check { ip daddr . meta l4proto . th dport vmap @firewall-ips; }
chain service-endpoints-check { ip daddr . meta l4proto . th dport vmap @no-endpoint-services; }
chain nodeport-endpoints-check { ip daddr @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports; }";

const DISPATCH: &str = "\
chain services {
ip daddr . meta l4proto . th dport vmap @service-ips
ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
}";
