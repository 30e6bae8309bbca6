//! The node that a deployment's layers are laid on: the run's, shared with others, or one of its own.
//! A node of its own is a network namespace with a wire of its own to the client, and vanishes with all that is in it.

use std::{fs, net::Ipv4Addr, sync::Arc};

use crate::{
    Error, Ground, Netns,
    addresses::{Block, OwnAddresses, Subnet},
    error::Doing,
    ground::forward_from,
    netlink::{self, Netlink},
    owner::{Owner, Role},
    ports::Ports,
    slots::Slot,
};

/// The end of the wire on a node of its own.
pub(crate) const WIRE: &str = "eth0";

/// Whether IPv4 packets pass IP rules on all bridges of a namespace: 1 by default wherever `br_netfilter` is loaded
/// (net/bridge/br_netfilter_hooks.c).
const ON_ALL_BRIDGES: &str = "/proc/sys/net/bridge/bridge-nf-call-iptables";

/// A node, and what belongs on it of one deployment.
#[derive(Clone)]
pub(crate) struct Node {
    pub netns: Netns,
    /// Its address on the wire.
    pub address: Ipv4Addr,
    pub owner: Owner,
    /// Where its stand-in services get their addresses from.
    pub block: Block,
    /// Addresses of the gateway and the pod behind it.
    pub pods: Subnet,
    pub ports: Arc<Ports>,
    /// `None` on a shared node.
    pub own: Option<Own>,
}

/// What only a node of its own has.
#[derive(Clone)]
pub(crate) struct Own {
    pub addresses: OwnAddresses,
    /// The namespace at the other end of the wire.
    pub client: Netns,
}

impl Node {
    /// The run's node, as far as it is the owner's.
    pub fn shared_by(ground: &Ground, owner: &Owner, pods: Subnet) -> Node {
        Node {
            netns: ground.node().clone(),
            address: ground.node_address(),
            owner: *owner,
            block: ground.block(),
            pods,
            ports: Arc::clone(ground.ports()),
            own: None,
        }
    }

    /// Makes a node of the slot's own and its wire to `client`, with a route there to the pods behind it.
    pub fn make(client: &Netns, slot: &Slot) -> Result<Node, Error> {
        let addresses = slot.own();
        let netns = bare()?;
        let (there, far) = (slot.owner.link(Role::Wire), slot.owner.link(Role::Peer));
        let OwnAddresses { wire, pods, .. } = addresses;
        netlink::talk(client, async |net: &Netlink| {
            let index = net.add_veth(&there, &far, &netns, WIRE).await?;
            net.add_address(index, wire.far, wire.prefix).await?;
            net.up(index).await
        })?;
        netlink::talk(&netns, async |net: &Netlink| {
            let index = net.index_of(WIRE).await?;
            net.add_address(index, wire.node, wire.prefix).await?;
            net.up(index).await
        })?;
        netlink::talk(client, async |net: &Netlink| {
            net.add_route(net.index_of(&there).await?, pods.network, pods.prefix, Some(wire.node)).await
        })?;
        Ok(Node {
            netns,
            address: wire.node,
            owner: slot.owner,
            block: slot.block,
            pods,
            ports: Arc::default(),
            own: Some(Own { addresses, client: client.clone() }),
        })
    }

    /// Lets it forward what comes in by `link`, and on a node of its own, what comes in by the wire.
    pub fn forward_from(&self, link: &str) -> Result<(), Error> {
        if self.own.is_some() {
            forward_from(&self.netns, WIRE)?;
        }
        forward_from(&self.netns, link)
    }
}

/// The namespace of a new node, where bridges pass no packets to IP rules unless they are told to themselves.
pub(crate) fn bare() -> Result<Netns, Error> {
    let netns = Netns::new()?;
    netns.run(|| match fs::write(ON_ALL_BRIDGES, "0") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        written => written.doing(|| format!("write 0 to {ON_ALL_BRIDGES}")),
    })?;
    Ok(netns)
}
