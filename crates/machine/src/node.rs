//! The node that a deployment's layers are built on: the run's, shared with others, or one of its own.
//! A node of its own is a network namespace with a wire of its own to the client, and vanishes with all that is in it.

use std::{fs, net::Ipv4Addr, sync::Arc};

use crate::{
    addresses::{Block, OwnAddresses, Subnet},
    clean::NetworkScope,
    environment::Environment,
    error::{Error, ErrorContext},
    netlink::Netlink,
    netns::Netns,
    owner::{Owner, Role},
    ports::Ports,
    slots::Slot,
};

/// The end of the wire on a node of its own.
pub const WIRE: &str = "eth0";

/// Whether IPv4 packets pass IP rules on all bridges of a namespace: 1 by default wherever `br_netfilter` is loaded
/// (net/bridge/br_netfilter_hooks.c).
const ON_ALL_BRIDGES: &str = "/proc/sys/net/bridge/bridge-nf-call-iptables";

/// A node, as one deployment sees it.
#[derive(Clone)]
pub struct Node {
    /// Its network namespace.
    pub netns: Netns,
    /// Its address on the wire.
    pub address: Ipv4Addr,
    /// The deployment.
    pub owner: Owner,
    /// The block from which its dummy services take their addresses.
    pub block: Block,
    /// Addresses of the gateway and the pod behind it.
    pub pods: Subnet,
    /// Ports handed out on it.
    pub ports: Arc<Ports>,
    /// What only a node of its own has; `None` on a shared node.
    pub own: Option<OwnNode>,
}

/// What only a node of its own has.
#[derive(Clone)]
pub struct OwnNode {
    /// The deployment's addresses.
    pub addresses: OwnAddresses,
    /// The namespace at the other end of the wire.
    pub client: Netns,
}

impl Node {
    /// The run's node, shared by its deployments.
    pub fn shared(environment: &Environment, owner: &Owner, pods: Subnet) -> Node {
        Node {
            netns: environment.node().clone(),
            address: environment.node_address(),
            owner: *owner,
            block: environment.block(),
            pods,
            ports: Arc::clone(environment.ports()),
            own: None,
        }
    }

    /// Creates a node for the slot alone and its wire to `client`, with a route there to the pods behind it.
    pub fn create(client: &Netns, slot: &Slot) -> Result<Node, Error> {
        let addresses = slot.own();
        let netns = new_node_namespace()?;
        let there = slot.owner.link(Role::Wire);
        let OwnAddresses { wire, pods, .. } = addresses;
        client.with_netlink(async |net: &Netlink| {
            let index = net.add_veth(&there, &netns, WIRE).await?;
            net.add_address(index, wire.far, wire.prefix).await?;
            net.set_up(index).await
        })?;
        netns.with_netlink(async |net: &Netlink| {
            let index = net.index_of(WIRE).await?;
            net.add_address(index, wire.node, wire.prefix).await?;
            net.set_up(index).await
        })?;
        client.with_netlink(async |net: &Netlink| {
            net.add_route(net.index_of(&there).await?, pods.network, pods.prefix, Some(wire.node)).await
        })?;
        Ok(Node {
            netns,
            address: wire.node,
            owner: slot.owner,
            block: slot.block,
            pods,
            ports: Arc::default(),
            own: Some(OwnNode { addresses, client: client.clone() }),
        })
    }

    /// Enables forwarding of what arrives on `link`, and on a node of its own, of what arrives on the wire.
    pub fn forward_from(&self, link: &str) -> Result<(), Error> {
        if self.own.is_some() {
            self.netns.forward_from(WIRE)?;
        }
        self.netns.forward_from(link)
    }

    /// The namespace with the links and rules of its owner.
    pub fn scope(&self) -> NetworkScope {
        match &self.own {
            Some(own) => NetworkScope::InClient(own.client.clone()),
            None => NetworkScope::OnNode(self.netns.clone()),
        }
    }

    /// Connects `pod` to the node by a veth pair: routed, or attached to `bridge` if there is one. In the pod the link is
    /// `eth0`. Returns the name of the node's end.
    ///
    /// # Errors
    /// When the kernel refuses; [`Error::Netlink`] with its reason.
    pub fn join(&self, pod: &Netns, bridge: Option<&str>, mtu_bytes: Option<u32>) -> Result<String, Error> {
        let subnet = &self.pods;
        let link = self.owner.link(Role::Veth);
        self.netns.with_netlink(async |net: &Netlink| {
            let index = net.add_veth(&link, pod, "eth0").await?;
            if let Some(mtu_bytes) = mtu_bytes {
                net.set_mtu(index, mtu_bytes).await?;
            }
            if let Some(bridge) = bridge {
                net.attach(index, net.index_of(bridge).await?).await?;
                return net.set_up(index).await;
            }
            net.add_address(index, subnet.node, 32).await?;
            net.set_up(index).await?;
            net.add_route(index, subnet.far, 32, None).await
        })?;
        if bridge.is_none() {
            self.forward_from(&link)?;
        }
        pod.with_netlink(async |net: &Netlink| {
            let index = net.index_of("eth0").await?;
            if let Some(mtu_bytes) = mtu_bytes {
                net.set_mtu(index, mtu_bytes).await?;
            }
            net.add_address(index, subnet.far, subnet.prefix).await?;
            net.set_up(index).await?;
            net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, Some(subnet.node)).await
        })?;
        Ok(link)
    }
}

/// The namespace of a new node, where a bridge passes packets to IP rules only if that is enabled on the bridge itself.
pub fn new_node_namespace() -> Result<Netns, Error> {
    let netns = Netns::new()?;
    netns.run(|| match fs::write(ON_ALL_BRIDGES, "0") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        written => written.with_context(|| format!("write 0 to {ON_ALL_BRIDGES}")),
    })?;
    Ok(netns)
}
