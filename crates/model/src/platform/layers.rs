//! The layers that the platform `local` puts between client and service, by name.

mod combination;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use combination::{Attachment, Layers, LayersError, MOST_SERVICES};

/// One step of the path that a container platform adds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// A control group of its own: accounting, a cpuset, and the limits if there are any.
    Cgroup,
    /// A CPU quota that is never used up: all CPUs that the service may run on. Needs [`Layer::Cgroup`].
    Quota,
    /// A network namespace of its own, joined to the node by a veth pair; routed, unless there is a bridge.
    Veth,
    /// A bridge between the node and the veth pair. Needs [`Layer::Veth`].
    Bridge,
    /// A network namespace with a macvlan link (mode bridge) on the node's wire.
    Macvlan,
    /// A network namespace with an ipvlan link on the node's wire.
    Ipvlan(IpvlanMode),
    /// A network namespace joined to the node by a netkit pair.
    Netkit,
    /// A veth pair past the node's stack: BPF programs at the wire and the pair hand packets over with `bpf_redirect_peer` and
    /// `bpf_redirect_neigh` (bpf-helpers(7)).
    Ebpf,
    /// A network namespace that the plugins of a CNI configuration list set up.
    Cni(PathBuf),
    /// Bridged packets pass the node's IP rules (`br_netfilter`). Needs [`Layer::Bridge`].
    BrNetfilter,
    /// The node tracks connections.
    Conntrack,
    /// Rules of nftables that match nothing, tried so many times for every packet that the node forwards: a known cost.
    Rules(u32),
    /// A BPF program at the pod's link that counts to a number for each packet to the pod: a known cost. Needs [`Layer::Veth`].
    Spin(u32),
    /// A Kubernetes NodePort: translated to the pod and masqueraded. Needs [`Layer::Veth`].
    #[serde(rename = "nodeport")]
    NodePort {
        /// Which of kube-proxy's rule sets.
        #[serde(default)]
        backend: Backend,
        /// Among how many services the rules are, this one included: 1 to 20,000.
        #[serde(default = "one")]
        services: u32,
    },
    /// A port published as Docker does it: translated to the container, with the client's address kept.
    /// Needs [`Layer::Veth`].
    #[serde(rename = "published")]
    PublishedPort,
    /// A process of the node accepts the connections and copies what passes, as docker-proxy does. Needs [`Layer::Veth`].
    UserlandProxy,
    /// The pod is on another node. Needs [`Layer::Veth`].
    OtherNode(Overlay),
    /// Proxies in the request path. Needs [`Layer::Veth`].
    Sidecar(Sidecar),
}

/// The two ways in which kube-proxy writes its rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// A rule per service, tried one after the other; the default of Kubernetes.
    #[default]
    Iptables,
    /// Verdict maps, looked up in one step.
    Nftables,
}

/// Modes of an ipvlan link (Documentation/networking/ipvlan.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IpvlanMode {
    /// Switched.
    L2,
    /// Routed, past the node's rules.
    L3,
    /// Routed, through the node's rules.
    L3s,
}

/// How packets get from one node to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlay {
    /// As they are, by a route: Flannel's host-gw, Calico without encapsulation.
    Routed,
    /// In UDP (RFC 7348).
    Vxlan,
    /// In IP (RFC 2003), Calico's default.
    Ipip,
    /// In UDP (RFC 8926).
    Geneve,
    /// Encrypted in UDP (wireguard.com/papers/wireguard.pdf).
    Wireguard,
}

/// Proxies in the request path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sidecar {
    /// The program.
    pub proxy: Proxy,
    /// Where there is one.
    pub sides: Sides,
}

/// Programs that can be a sidecar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Proxy {
    #[default]
    Haproxy,
    Nginx,
    Envoy,
}

/// Where sidecars are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// Beside the service.
    #[default]
    Service,
    /// Beside the client and beside the service.
    Both,
    /// As `Both`, with TLS between them, each showing a certificate (mutual TLS).
    BothMtls,
}

fn one() -> u32 {
    1
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Cgroup => "cgroup",
            Layer::Quota => "quota",
            Layer::Veth => "veth",
            Layer::Bridge => "bridge",
            Layer::Macvlan => "macvlan",
            Layer::Ipvlan(IpvlanMode::L2) => "ipvlan-l2",
            Layer::Ipvlan(IpvlanMode::L3) => "ipvlan-l3",
            Layer::Ipvlan(IpvlanMode::L3s) => "ipvlan-l3s",
            Layer::Netkit => "netkit",
            Layer::Ebpf => "ebpf",
            Layer::Cni(_) => "cni",
            Layer::BrNetfilter => "br-netfilter",
            Layer::Conntrack => "conntrack",
            Layer::Rules(_) => "rules",
            Layer::Spin(_) => "spin",
            Layer::NodePort { .. } => "nodeport",
            Layer::PublishedPort => "published",
            Layer::UserlandProxy => "userland-proxy",
            Layer::OtherNode(Overlay::Routed) => "routed",
            Layer::OtherNode(Overlay::Vxlan) => "vxlan",
            Layer::OtherNode(Overlay::Ipip) => "ipip",
            Layer::OtherNode(Overlay::Geneve) => "geneve",
            Layer::OtherNode(Overlay::Wireguard) => "wireguard",
            Layer::Sidecar(_) => "sidecar",
        })
    }
}

impl Layer {
    /// The layers that are chosen by their name alone.
    pub const PLAIN: [Layer; 20] = [
        Layer::Cgroup,
        Layer::Quota,
        Layer::Veth,
        Layer::Bridge,
        Layer::Macvlan,
        Layer::Ipvlan(IpvlanMode::L2),
        Layer::Ipvlan(IpvlanMode::L3),
        Layer::Ipvlan(IpvlanMode::L3s),
        Layer::Netkit,
        Layer::Ebpf,
        Layer::BrNetfilter,
        Layer::Conntrack,
        Layer::NodePort { backend: Backend::Iptables, services: 1 },
        Layer::PublishedPort,
        Layer::UserlandProxy,
        Layer::OtherNode(Overlay::Routed),
        Layer::OtherNode(Overlay::Vxlan),
        Layer::OtherNode(Overlay::Ipip),
        Layer::OtherNode(Overlay::Geneve),
        Layer::OtherNode(Overlay::Wireguard),
    ];

    /// The layer of a name, without options.
    pub fn plain(name: &str) -> Option<Layer> {
        Layer::PLAIN.into_iter().find(|layer| layer.to_string() == name)
    }

    /// Whether it can only be had on a node of the deployment's own: what it sets up there, others would share.
    pub fn needs_own_node(&self) -> bool {
        !matches!(
            self,
            Layer::Cgroup
                | Layer::Quota
                | Layer::Veth
                | Layer::Bridge
                | Layer::NodePort { .. }
                | Layer::PublishedPort
        )
    }
}

/// Whether the layers go together, on a node of their own or on one that others share.
///
/// # Errors
/// Which layer lacks what, or which two exclude each other.
pub fn check_layers(layers: &[Layer], own_node: bool) -> Result<(), LayersError> {
    Layers::check(layers, own_node).map(drop)
}

/// Whether a service behind these layers has a network namespace, and so ports, of its own.
pub fn has_own_network(layers: &[Layer]) -> bool {
    Layers::check(layers, true).is_ok_and(|layers| layers.attachment.is_some())
}

/// The layers of a named path: `pod`, as Kubernetes builds it, or `container`, as Docker does.
pub fn preset(name: &str) -> Option<Vec<Layer>> {
    let entrance = match name {
        "pod" => Layer::NodePort { backend: Backend::default(), services: 1 },
        "container" => Layer::PublishedPort,
        _ => return None,
    };
    Some(vec![Layer::Cgroup, Layer::Veth, Layer::Bridge, entrance])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_unknown_names_are_none() {
        for name in ["pod", "container"] {
            assert!(Layers::check(&preset(name).unwrap(), false).unwrap().entrance.is_some());
        }
        assert_eq!(preset("vm"), None);
    }

    #[test]
    fn layers_are_written_by_their_names() {
        let json = r#"["cgroup","veth",{"nodeport":{"backend":"nftables"}},"published"]"#;
        let layers: Vec<Layer> = serde_json::from_str(json).unwrap();
        assert_eq!(layers[2], Layer::NodePort { backend: Backend::Nftables, services: 1 });
        let names: Vec<String> = layers.iter().map(Layer::to_string).collect();
        assert_eq!(names, ["cgroup", "veth", "nodeport", "published"]);
    }

    #[test]
    fn a_plain_layer_is_found_by_its_name() {
        for layer in Layer::PLAIN {
            assert_eq!(Layer::plain(&layer.to_string()), Some(layer));
        }
        assert_eq!(Layer::plain("sidecar"), None);
    }
}
