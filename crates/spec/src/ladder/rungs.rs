//! The rungs that loadline knows, and the part of the ladder that each belongs to.

use loadline_model::PlatformId;
use loadline_model::platform::{Backend, IpvlanMode, Layer, Overlay, Proxy, Sidecar, Sides};

use crate::{Platform, PlatformKind};

/// A part of the ladder that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From a plain process to a pod behind a node port.
    SameNode,
    /// A pod on another node: routed, and through tunnels.
    OtherNode,
    /// What there is instead of veth and bridge.
    Instead,
    /// Node ports among 1 to 10,000 services.
    Services,
    /// Proxies in the request path.
    Proxies,
}

/// Part, name, the rung below, the layer that is added to its layers, and whether the layers up to here are summed up.
type Rung = (Part, &'static str, &'static str, Layer, bool);

/// All rungs, each after the one below it. `host` is below all.
fn rungs() -> Vec<Rung> {
    use Part::{Instead, OtherNode, Proxies, SameNode, Services};
    let nodeport = |backend, services| Layer::NodePort { backend, services };
    let sidecar = |proxy, sides| Layer::Sidecar(Sidecar { proxy, sides });
    let mut rungs = vec![
        (SameNode, "cgroup", "host", Layer::Cgroup, false),
        (SameNode, "quota", "cgroup", Layer::Quota, false),
        (SameNode, "veth", "quota", Layer::Veth, false),
        (SameNode, "bridge", "veth", Layer::Bridge, false),
        (SameNode, "br-netfilter", "bridge", Layer::BrNetfilter, false),
        (SameNode, "conntrack", "br-netfilter", Layer::Conntrack, false),
        (SameNode, "nodeport", "conntrack", nodeport(Backend::Iptables, 1), true),
        (Proxies, "userland-proxy", "nodeport", Layer::UserlandProxy, false),
        (OtherNode, "routed", "veth", Layer::OtherNode(Overlay::Routed), false),
        (OtherNode, "vxlan", "routed", Layer::OtherNode(Overlay::Vxlan), true),
        (OtherNode, "ipip", "routed", Layer::OtherNode(Overlay::Ipip), false),
        (OtherNode, "geneve", "routed", Layer::OtherNode(Overlay::Geneve), false),
        (OtherNode, "wireguard", "routed", Layer::OtherNode(Overlay::Wireguard), false),
        (Instead, "macvlan", "quota", Layer::Macvlan, false),
        (Instead, "ipvlan-l2", "quota", Layer::Ipvlan(IpvlanMode::L2), false),
        (Instead, "ipvlan-l3", "quota", Layer::Ipvlan(IpvlanMode::L3), false),
        (Instead, "ipvlan-l3s", "quota", Layer::Ipvlan(IpvlanMode::L3s), false),
        (Instead, "netkit", "quota", Layer::Netkit, false),
        (Instead, "ebpf", "quota", Layer::Ebpf, false),
    ];
    for (backend, names) in [
        (Backend::Iptables, ["iptables 1", "iptables 100", "iptables 1,000", "iptables 10,000"]),
        (Backend::Nftables, ["nftables 1", "nftables 100", "nftables 1,000", "nftables 10,000"]),
    ] {
        let counts = [1, 100, 1_000, 10_000];
        rungs.extend(
            names
                .into_iter()
                .zip(counts)
                .map(|(name, count)| (Services, name, "conntrack", nodeport(backend, count), false)),
        );
    }
    for (proxy, [service, both, mtls]) in [
        (Proxy::Haproxy, ["haproxy", "haproxy on both sides", "haproxy, both, mTLS"]),
        (Proxy::Nginx, ["nginx", "nginx on both sides", "nginx, both, mTLS"]),
        (Proxy::Envoy, ["envoy", "envoy on both sides", "envoy, both, mTLS"]),
    ] {
        rungs.push((Proxies, service, "veth", sidecar(proxy, Sides::Service), false));
        rungs.push((Proxies, both, service, sidecar(proxy, Sides::Both), false));
        rungs.push((Proxies, mtls, both, sidecar(proxy, Sides::BothMtls), false));
    }
    rungs
}

/// The platforms of the asked parts, `host` first, with what is below them and below the user's `own` rungs. What is missing is left out,
/// and what stands on it stands on the rung below.
pub(super) fn platforms(
    parts: &[Part],
    own: &[&[Layer]],
    missing: &dyn Fn(&[Layer]) -> Option<String>,
    left_out: &mut Vec<String>,
) -> Vec<Platform> {
    let parts = match (parts.is_empty(), own.is_empty()) {
        (true, true) => &[Part::SameNode, Part::OtherNode],
        _ => parts,
    };
    let all = rungs();
    let wanted = with_what_is_below(&all, parts);
    let host = Platform::new("host", PlatformKind::Host);
    let mut platforms = vec![host];
    // Where a rung stands: by the names of all rungs, those left out standing for the ones below them.
    let mut standing = vec![("host", PlatformId(0))];
    for (_, name, above, layer, top) in all {
        let below = standing.iter().find(|(name, _)| *name == above).map_or(PlatformId(0), |(_, id)| *id);
        let mut layers = super::layers_of(&platforms[below.0]).to_vec();
        // One way to the other node, or one set of sidecars, takes the other's place.
        layers.retain(|other| std::mem::discriminant(other) != std::mem::discriminant(&layer));
        layers.push(layer);
        let is_below_own =
            own.iter().any(|own| layers.len() < own.len() && layers.iter().all(|layer| own.contains(layer)));
        if !wanted.contains(&name) && !is_below_own {
            standing.push((name, below));
            continue;
        }
        if let Some(why) = missing(&layers) {
            left_out.push(format!("{name} was left out: {why}"));
            standing.push((name, below));
            continue;
        }
        standing.push((name, PlatformId(platforms.len())));
        let kind = PlatformKind::Local(layers);
        platforms.push(Platform { above: Some(below), top, ..Platform::new(name, kind) });
    }
    platforms
}

/// Names of the parts' rungs and of all below them.
fn with_what_is_below(all: &[Rung], parts: &[Part]) -> Vec<&'static str> {
    let mut wanted = Vec::new();
    for (part, name, above, ..) in all.iter().rev() {
        if parts.contains(part) || wanted.contains(name) {
            wanted.extend([*name, *above]);
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(
        parts: &[Part],
        missing: &dyn Fn(&[Layer]) -> Option<String>,
    ) -> Vec<(String, Option<PlatformId>)> {
        let platforms = platforms(parts, &[], missing, &mut Vec::new());
        platforms.into_iter().map(|platform| (platform.name, platform.above)).collect()
    }

    #[test]
    fn every_rung_adds_one_layer_to_the_one_below() {
        let all = [Part::SameNode, Part::OtherNode, Part::Instead, Part::Services, Part::Proxies];
        let platforms = platforms(&all, &[], &|_| None, &mut Vec::new());
        assert_eq!(platforms.len(), rungs().len() + 1);
        for platform in &platforms[1..] {
            let (layers, below) = (super::super::layers_of(platform), &platforms[platform.above.unwrap().0]);
            let below = super::super::layers_of(below);
            let added = layers.iter().filter(|layer| !below.contains(layer)).count();
            assert_eq!(added, 1, "{}", platform.name);
            loadline_model::platform::check_layers(layers, true).unwrap();
        }
    }

    #[test]
    fn a_part_brings_what_is_below_it() {
        let names: Vec<String> =
            names(&[Part::OtherNode], &|_| None).into_iter().map(|rung| rung.0).collect();
        assert_eq!(names[..6], ["host", "cgroup", "quota", "veth", "routed", "vxlan"]);
    }

    #[test]
    fn a_rung_of_the_users_brings_what_is_below_it_and_no_more() {
        let own = [Layer::Cgroup, Layer::Veth, Layer::Bridge, Layer::Rules(7)];
        let platforms = platforms(&[], &[&own], &|_| None, &mut Vec::new());
        let names: Vec<&str> = platforms.iter().map(|platform| platform.name.as_str()).collect();
        assert_eq!(names, ["host", "cgroup", "veth", "bridge"]);
    }

    #[test]
    fn what_stands_on_a_missing_rung_stands_on_the_one_below_that() {
        let no_bridge = |layers: &[Layer]| {
            (layers.last() == Some(&Layer::BrNetfilter)).then(|| "the kernel has no br_netfilter".to_owned())
        };
        let rungs = names(&[Part::SameNode], &no_bridge);
        let at = |name: &str| rungs.iter().position(|rung| rung.0 == name);
        assert_eq!(at("br-netfilter"), None);
        assert_eq!(rungs[at("conntrack").unwrap()].1, at("bridge").map(PlatformId));
    }
}
