//! What a platform can do and what it takes, as it follows from its options: whoever has to know asks for that, and not which platform
//! it is.

use super::{Docker, DockerNetwork, Expose, Kubernetes, Layer, Overlay, Probes, has_own_network};

/// What a platform can do and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What of a service it starts.
    pub starts: Starts,
    /// Whose ports its services listen on.
    pub ports: PortsOf,
    /// Whether all that it makes is in namespaces of this machine, so that an ordinary user can have it in a user namespace.
    pub fits_user_namespace: bool,
    /// What of it is root's where there is no wire: links, rules or folders.
    pub needs_root: Option<NeedsRoot>,
    /// Whether the client can be in a namespace behind the wire, as another machine would be.
    pub takes_wire: bool,
    /// Whether it gives its deployments nodes of their own where the plan says so.
    pub takes_own_node: bool,
    /// Whether it can hold a service to its limits.
    pub limits: bool,
    /// Whether it can pin a service to CPUs.
    pub pins: bool,
    /// Whether it lets no request through for some time after the start, so that others may as well start meanwhile.
    pub holds_back: bool,
    /// Whether the node translates addresses and so tracks connections, those of its plain processes too.
    pub translates_addresses: bool,
    /// Whether its services are plain processes of the node, behind no layer.
    pub is_plain_process: bool,
    /// Whether it spends CPU time in threads of the kernel, which belong to no process.
    pub uses_kernel_threads: bool,
}

/// What of a service a platform starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Its command.
    Command,
    /// Its image.
    Image,
    /// What the user's manifests say.
    Manifests,
    /// Nothing: somebody else runs it.
    Nothing,
}

/// Whose ports a service listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortsOf {
    /// Its own: it has a network namespace, or is somebody else's.
    Service,
    /// This machine's.
    Machine,
    /// Those of a node that is known once it is deployed, this machine perhaps.
    SomeNode,
}

/// What takes root where there is no wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsRoot {
    /// The option as it is written; `None` is the platform itself, and then only beside others that don't fit into a user namespace.
    pub option: Option<&'static str>,
    /// Why, and what to do.
    pub why: &'static str,
}

impl Capabilities {
    /// Those of a process behind layers, none for a plain one.
    pub fn of_layers(layers: &[Layer]) -> Capabilities {
        let any = |is: fn(&Layer) -> bool| layers.iter().any(is);
        Capabilities {
            starts: Starts::Command,
            ports: if has_own_network(layers) { PortsOf::Service } else { PortsOf::Machine },
            fits_user_namespace: true,
            needs_root: Some(NeedsRoot {
                option: None,
                why: "its layers would be in a user namespace, from which none of those can be reached. Run loadline as root, or measure it \
                      beside `host` alone",
            }),
            takes_wire: true,
            takes_own_node: true,
            limits: true,
            pins: true,
            holds_back: false,
            translates_addresses: any(|layer| matches!(layer, Layer::NodePort { .. } | Layer::PublishedPort)),
            is_plain_process: false,
            uses_kernel_threads: any(|layer| *layer == Layer::OtherNode(Overlay::Wireguard)),
        }
    }

    /// Those of a plain process, on a node of its own or not.
    pub fn of_host(own_node: bool) -> Capabilities {
        let needs_root = NeedsRoot {
            option: Some("`nodes: own` together with containers, clusters or URLs"),
            why: "a node of its own takes links. Run loadline as root, or leave `nodes` out",
        };
        Capabilities {
            needs_root: own_node.then_some(needs_root),
            is_plain_process: true,
            ..Capabilities::of_layers(&[])
        }
    }

    /// Those of a service that somebody else runs.
    pub fn of_external() -> Capabilities {
        Capabilities {
            starts: Starts::Nothing,
            ports: PortsOf::Service,
            fits_user_namespace: false,
            needs_root: None,
            takes_wire: false,
            takes_own_node: false,
            limits: false,
            pins: false,
            holds_back: false,
            translates_addresses: false,
            is_plain_process: false,
            uses_kernel_threads: false,
        }
    }
}

impl Docker {
    /// What the platform can do with these options.
    pub fn capabilities(&self) -> Capabilities {
        let takes_link = |option| NeedsRoot {
            option: Some(option),
            why: "it needs a network link of its own. Run loadline as root, or choose `network: bridge` or `network: host`",
        };
        Capabilities {
            starts: Starts::Image,
            ports: match self.network {
                DockerNetwork::Host => PortsOf::Machine,
                DockerNetwork::Bridge | DockerNetwork::Macvlan | DockerNetwork::NoneWithWire => {
                    PortsOf::Service
                }
            },
            fits_user_namespace: false,
            needs_root: match self.network {
                DockerNetwork::Bridge | DockerNetwork::Host => None,
                DockerNetwork::Macvlan => Some(takes_link("`docker: {network: macvlan}`")),
                DockerNetwork::NoneWithWire => Some(takes_link("`docker: {network: none-with-wire}`")),
            },
            takes_wire: true,
            takes_own_node: false,
            limits: true,
            pins: true,
            holds_back: false,
            // By the daemon, whose rules stay whether or not a run is there.
            translates_addresses: false,
            is_plain_process: false,
            uses_kernel_threads: false,
        }
    }
}

impl Kubernetes {
    /// What the platform can do with these options.
    pub fn capabilities(&self) -> Capabilities {
        let static_pod = NeedsRoot {
            option: Some("`kubernetes: {static: true}`"),
            why: "its manifest goes into a folder of this machine's kubelet. Run loadline as root, or leave `static` out",
        };
        Capabilities {
            starts: if self.manifests.is_some() { Starts::Manifests } else { Starts::Image },
            ports: if self.expose == Expose::HostNetwork { PortsOf::SomeNode } else { PortsOf::Service },
            fits_user_namespace: false,
            needs_root: self.static_pod.then_some(static_pod),
            takes_wire: true,
            takes_own_node: false,
            limits: true,
            pins: true,
            holds_back: self.probes == Probes::Default,
            translates_addresses: false,
            is_plain_process: false,
            uses_kernel_threads: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::preset;

    #[test]
    fn a_pods_path_has_ports_of_its_own_and_translates_addresses() {
        let path = Capabilities::of_layers(&preset("pod").unwrap());
        assert_eq!((path.ports, path.translates_addresses), (PortsOf::Service, true));
        let plain = Capabilities::of_host(false);
        assert_eq!((plain.ports, plain.translates_addresses), (PortsOf::Machine, false));
    }

    #[test]
    fn a_plain_process_needs_root_for_a_node_of_its_own_only() {
        assert_eq!(Capabilities::of_host(false).needs_root, None);
        assert!(Capabilities::of_host(true).needs_root.is_some());
    }
}
