//! The layers that `local` puts between client and service, and which of them go together.

pub(crate) mod bridge;
pub(crate) mod cgroup;
pub(crate) mod nodeport;
pub(crate) mod published;
pub(crate) mod veth;

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddrV4},
};

use serde::{Deserialize, Serialize};

use crate::{Error, addresses::STAND_INS, owner::Owner};

/// One step of the path that a container platform adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// A control group of its own: accounting, a cpuset, and the limits if there are any.
    Cgroup,
    /// A network namespace of its own, joined to the node by a veth pair; routed, unless there is a bridge.
    Veth,
    /// A bridge between the node and the veth pair. Needs [`Layer::Veth`].
    Bridge,
    /// A Kubernetes NodePort: translated to the pod and masqueraded. Needs [`Layer::Veth`].
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

fn one() -> u32 {
    1
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Cgroup => "cgroup",
            Layer::Veth => "veth",
            Layer::Bridge => "bridge",
            Layer::NodePort { .. } => "nodeport",
            Layer::PublishedPort => "published",
        })
    }
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

/// A set of layers that go together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    pub cgroup: bool,
    pub veth: bool,
    pub bridge: bool,
    /// The node port or published port.
    pub entrance: Option<Layer>,
}

impl Layers {
    /// A layer named twice is the same as once, except for the entrance, of which there can be one.
    pub fn check(layers: &[Layer]) -> Result<Layers, Error> {
        let mut set = Layers::default();
        for &layer in layers {
            match layer {
                Layer::Cgroup => set.cgroup = true,
                Layer::Veth => set.veth = true,
                Layer::Bridge => set.bridge = true,
                Layer::NodePort { .. } | Layer::PublishedPort => {
                    if let Some(first) = set.entrance.replace(layer) {
                        return Err(Error::LayersExclude { first, second: layer });
                    }
                }
            }
            if let Layer::NodePort { services, .. } = layer
                && !(1..=STAND_INS).contains(&services)
            {
                return Err(Error::BadServiceCount { services, most: STAND_INS });
            }
        }
        let upper = set.bridge.then_some(Layer::Bridge).or(set.entrance);
        match upper {
            Some(layer) if !set.veth => Err(Error::LayerNeeds { layer, needs: Layer::Veth }),
            _ => Ok(set),
        }
    }
}

/// The way from a port of the node to a pod.
pub(crate) struct Way<'a> {
    pub owner: &'a Owner,
    /// Where the client connects.
    pub node: SocketAddrV4,
    /// Where the service listens.
    pub pod: SocketAddrV4,
    /// Network address of the pod's subnet.
    pub pods: Ipv4Addr,
    /// The node's link towards the pod: the bridge, or the pair's end.
    pub link: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_without_the_one_it_stands_on_is_refused_by_name() {
        let nodeport = Layer::NodePort { backend: Backend::Iptables, services: 1 };
        for layer in [Layer::Bridge, nodeport, Layer::PublishedPort] {
            let message = Layers::check(&[Layer::Cgroup, layer]).unwrap_err().to_string();
            assert!(message.contains(&format!("`{layer}` needs the layer `veth`")), "{message}");
        }
    }

    #[test]
    fn there_is_one_entrance_at_most() {
        let layers = [preset("pod").unwrap(), preset("container").unwrap()].concat();
        assert!(matches!(Layers::check(&layers), Err(Error::LayersExclude { .. })));
    }

    #[test]
    fn service_counts_have_bounds() {
        for services in [0, STAND_INS + 1, u32::MAX] {
            let layers = [Layer::Veth, Layer::NodePort { backend: Backend::Nftables, services }];
            assert!(matches!(Layers::check(&layers), Err(Error::BadServiceCount { .. })), "{services}");
        }
    }

    #[test]
    fn presets_are_valid_and_unknown_names_are_none() {
        for name in ["pod", "container"] {
            assert!(Layers::check(&preset(name).unwrap()).unwrap().entrance.is_some());
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
}
