//! Which layers go together, checked before anything is made.

use std::path::PathBuf;

use super::{IpvlanMode, Layer, Overlay, Sidecar};

/// Among how many services a node port may stand: so many addresses there are for its stand-ins.
pub const MOST_SERVICES: u32 = 20_000;

/// Why layers don't go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayersError {
    /// A layer was asked for without the one that it stands on.
    #[error("the layer `{layer}` needs the layer `{needs}`: add `{needs}` or leave `{layer}` out")]
    Needs {
        /// The layer asked for.
        layer: Layer,
        /// The layer that is missing.
        needs: Layer,
    },
    /// A layer that changes its node for all that is on it, asked for on a node that others share.
    #[error(
        "the layer `{layer}` changes its node for all that is on it: write `nodes: own` in the plan, or --nodes own, which gives each \
        platform a node of its own"
    )]
    NeedsOwnNode {
        /// The layer asked for.
        layer: Layer,
    },
    /// Two layers that exclude each other, or the same one twice.
    #[error("the layers `{first}` and `{second}` cannot be combined: one takes the place of the other")]
    Exclude {
        /// The earlier layer.
        first: Layer,
        /// The later layer.
        second: Layer,
    },
    /// A node port among no services, or among more than there are addresses for.
    #[error("`services` must be from 1 to {most}, not {services}")]
    BadServiceCount {
        /// The number as given.
        services: u32,
        /// The greatest number possible.
        most: u32,
    },
}

/// A set of layers that go together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// A control group of its own.
    pub cgroup: bool,
    /// A quota that is never used up.
    pub quota: bool,
    /// How the service's network namespace is joined to the node; without one it is on the node itself.
    pub attachment: Option<Attachment>,
    /// A bridge between the node and the veth pair.
    pub bridge: bool,
    /// Bridged packets pass the IP rules.
    pub br_netfilter: bool,
    /// The node tracks connections.
    pub conntrack: bool,
    /// So many tries of rules that match nothing.
    pub rules: Option<u32>,
    /// So many counts of a BPF program for each packet.
    pub spin: Option<u32>,
    /// The node port or published port.
    pub entrance: Option<Layer>,
    /// A process of the node copies what passes.
    pub userland_proxy: bool,
    /// The way to another node, where the pod is.
    pub other_node: Option<Overlay>,
    /// Proxies in the request path.
    pub sidecar: Option<Sidecar>,
}

/// How a network namespace is joined to its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// A veth pair.
    Veth,
    /// A macvlan link.
    Macvlan,
    /// An ipvlan link.
    Ipvlan(IpvlanMode),
    /// A netkit pair.
    Netkit,
    /// A veth pair with BPF programs.
    Ebpf,
    /// What the plugins of this configuration list set up.
    Cni(PathBuf),
}

impl Layers {
    /// A layer named twice is the same as once, except for those of which there can be one: attachment, entrance, way to another node.
    ///
    /// # Errors
    /// Which layer lacks what, or which two exclude each other.
    pub fn check(layers: &[Layer], own_node: bool) -> Result<Layers, LayersError> {
        let mut set = Layers::default();
        for layer in layers {
            if layer.needs_own_node() && !own_node {
                return Err(LayersError::NeedsOwnNode { layer: layer.clone() });
            }
            let exclusive = |other: &dyn Fn(&Layer) -> bool| match layers
                .iter()
                .take_while(|earlier| !std::ptr::eq(*earlier, layer))
                .find(|earlier| other(earlier))
            {
                Some(first) if first != layer => {
                    Err(LayersError::Exclude { first: first.clone(), second: layer.clone() })
                }
                _ => Ok(()),
            };
            if let Some(attachment) = attachment(layer) {
                exclusive(&|earlier| self::attachment(earlier).is_some())?;
                set.attachment = Some(attachment);
            }
            match layer {
                Layer::Cgroup => set.cgroup = true,
                Layer::Quota => set.quota = true,
                Layer::Bridge => set.bridge = true,
                Layer::BrNetfilter => set.br_netfilter = true,
                Layer::Conntrack => set.conntrack = true,
                Layer::Rules(count) => set.rules = Some(*count),
                Layer::Spin(loops) => set.spin = Some(*loops),
                Layer::UserlandProxy => set.userland_proxy = true,
                Layer::Sidecar(sidecar) => set.sidecar = Some(*sidecar),
                Layer::OtherNode(overlay) => {
                    exclusive(&|earlier| matches!(earlier, Layer::OtherNode(_)))?;
                    set.other_node = Some(*overlay);
                }
                Layer::NodePort { .. } | Layer::PublishedPort => {
                    exclusive(&|earlier| matches!(earlier, Layer::NodePort { .. } | Layer::PublishedPort))?;
                    set.entrance = Some(layer.clone());
                }
                Layer::Veth
                | Layer::Macvlan
                | Layer::Ipvlan(_)
                | Layer::Netkit
                | Layer::Ebpf
                | Layer::Cni(_) => {}
            }
            if let Layer::NodePort { services, .. } = layer
                && !(1..=MOST_SERVICES).contains(services)
            {
                return Err(LayersError::BadServiceCount { services: *services, most: MOST_SERVICES });
            }
        }
        layers.iter().try_for_each(|layer| set.check_foundation(layer))?;
        // The programs hand replies over before their addresses would be translated back.
        if set.attachment == Some(Attachment::Ebpf) && set.entrance == Some(Layer::PublishedPort) {
            return Err(LayersError::Exclude { first: Layer::Ebpf, second: Layer::PublishedPort });
        }
        Ok(set)
    }

    /// Whether what the layer stands on is there.
    fn check_foundation(&self, layer: &Layer) -> Result<(), LayersError> {
        let needs = match layer {
            Layer::Quota if !self.cgroup => Layer::Cgroup,
            Layer::BrNetfilter if !self.bridge => Layer::Bridge,
            Layer::Bridge | Layer::Spin(_) | Layer::OtherNode(_)
                if self.attachment != Some(Attachment::Veth) =>
            {
                Layer::Veth
            }
            // What comes in by a link of its own doesn't pass the node's rules, nor does what a program redirects before them.
            Layer::Conntrack | Layer::Rules(_)
                if matches!(
                    self.attachment,
                    Some(
                        Attachment::Macvlan
                            | Attachment::Ipvlan(IpvlanMode::L2 | IpvlanMode::L3)
                            | Attachment::Ebpf
                    )
                ) =>
            {
                Layer::Veth
            }
            Layer::NodePort { .. } | Layer::PublishedPort | Layer::UserlandProxy | Layer::Sidecar(_)
                if matches!(self.attachment, None | Some(Attachment::Macvlan | Attachment::Ipvlan(_))) =>
            {
                Layer::Veth
            }
            _ => return Ok(()),
        };
        Err(LayersError::Needs { layer: layer.clone(), needs })
    }
}

fn attachment(layer: &Layer) -> Option<Attachment> {
    Some(match layer {
        Layer::Veth => Attachment::Veth,
        Layer::Macvlan => Attachment::Macvlan,
        Layer::Ipvlan(mode) => Attachment::Ipvlan(*mode),
        Layer::Netkit => Attachment::Netkit,
        Layer::Ebpf => Attachment::Ebpf,
        Layer::Cni(file) => Attachment::Cni(file.clone()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{Backend, preset};

    #[test]
    fn a_layer_without_the_one_it_stands_on_is_refused_by_name() {
        let nodeport = Layer::NodePort { backend: Backend::Iptables, services: 1 };
        for (layer, needs) in [
            (Layer::Bridge, "veth"),
            (nodeport, "veth"),
            (Layer::PublishedPort, "veth"),
            (Layer::UserlandProxy, "veth"),
            (Layer::Conntrack, "veth"),
            (Layer::Rules(1), "veth"),
            (Layer::OtherNode(Overlay::Vxlan), "veth"),
            (Layer::Quota, "cgroup"),
            (Layer::BrNetfilter, "bridge"),
        ] {
            let message = Layers::check(&[Layer::Macvlan, layer.clone()], true).unwrap_err().to_string();
            assert!(message.contains(&format!("`{layer}` needs the layer `{needs}`")), "{message}");
        }
        for layer in [Layer::Conntrack, Layer::Rules(1)] {
            let message = Layers::check(&[Layer::Ebpf, layer], true).unwrap_err().to_string();
            assert!(message.contains("needs the layer `veth`"), "{message}");
        }
    }

    #[test]
    fn there_is_one_entrance_and_one_attachment_at_most() {
        let ports = [preset("pod").unwrap(), preset("container").unwrap()].concat();
        for layers in [ports, vec![Layer::Veth, Layer::Macvlan]] {
            assert!(matches!(Layers::check(&layers, true), Err(LayersError::Exclude { .. })), "{layers:?}");
        }
        assert!(Layers::check(&[Layer::Veth, Layer::Cgroup, Layer::Veth], false).is_ok());
    }

    #[test]
    fn service_counts_have_bounds() {
        for services in [0, MOST_SERVICES + 1, u32::MAX] {
            let layers = [Layer::Veth, Layer::NodePort { backend: Backend::Nftables, services }];
            assert!(
                matches!(Layers::check(&layers, false), Err(LayersError::BadServiceCount { .. })),
                "{services}"
            );
        }
    }

    #[test]
    fn what_others_would_share_needs_a_node_of_its_own() {
        let layers = [Layer::Veth, Layer::Conntrack];
        let message = Layers::check(&layers, false).unwrap_err().to_string();
        assert!(message.contains("`conntrack`") && message.contains("nodes: own"), "{message}");
        assert!(Layers::check(&layers, true).unwrap().conntrack);
    }
}
