//! The few operations of rtnetlink (`rtnetlink(7)`) that loadline needs, each by link name and with an error that says
//! what failed.

use std::{
    net::{IpAddr, Ipv4Addr},
    os::fd::{AsFd, AsRawFd},
};

use futures_util::TryStreamExt;
use rtnetlink::{
    Handle, LinkMessageBuilder, LinkUnspec, LinkVeth, RouteMessageBuilder,
    packet_route::{
        address::AddressAttribute,
        link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkMessage},
        neighbour::NeighbourFlags,
        route::{RouteAddress, RouteAttribute, RouteScope},
    },
};

use crate::error::{Error, ErrorContext};

/// A netlink connection to the kernel for one network namespace.
pub struct Netlink(Handle);

/// Runs `work` with a connection for the network namespace of the calling thread, on a single-threaded runtime that ends with the call.
pub(crate) fn with_netlink<T>(work: impl AsyncFnOnce(&Netlink) -> Result<T, Error>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .with_context(|| "start a runtime")?;
    runtime.block_on(async {
        let (connection, handle, _) = rtnetlink::new_connection().with_context(|| "open a netlink socket")?;
        tokio::spawn(connection);
        work(&Netlink(handle)).await
    })
}

impl Netlink {
    /// All links: index and name.
    pub async fn links(&self) -> Result<Vec<(u32, String)>, Error> {
        let links: Vec<_> =
            self.0.link().get().execute().try_collect().await.with_context(|| "list the links")?;
        let name = |attributes: Vec<LinkAttribute>| {
            attributes
                .into_iter()
                .find_map(|a| if let LinkAttribute::IfName(name) = a { Some(name) } else { None })
        };
        Ok(links.into_iter().filter_map(|link| Some((link.header.index, name(link.attributes)?))).collect())
    }

    /// The index of a link.
    ///
    /// # Errors
    /// When there is no link of that name.
    pub async fn index_of(&self, name: &str) -> Result<u32, Error> {
        let request = self.0.link().get().match_name(name.to_owned()).execute();
        let found: Vec<_> = request.try_collect().await.with_context(|| format!("find the link {name}"))?;
        let first = found.first().map(|link| link.header.index);
        first.ok_or(rustix::io::Errno::NODEV).with_context(|| format!("find the link {name}"))
    }

    /// The Ethernet address of a link.
    pub async fn hardware_address(&self, name: &str) -> Result<[u8; 6], Error> {
        let request = self.0.link().get().match_name(name.to_owned()).execute();
        let found: Vec<_> = request.try_collect().await.with_context(|| format!("find the link {name}"))?;
        let address = found.iter().flat_map(|link| &link.attributes).find_map(|attribute| match attribute {
            LinkAttribute::Address(address) => address.as_slice().try_into().ok(),
            _ => None,
        });
        address
            .ok_or(rustix::io::Errno::NODEV)
            .with_context(|| format!("read the Ethernet address of {name}"))
    }

    /// Creates the link `name` that `message` describes, and returns its index.
    pub async fn add(&self, name: &str, message: LinkMessage) -> Result<u32, Error> {
        self.0.link().add(message).execute().await.with_context(|| format!("create the link {name}"))?;
        self.index_of(name).await
    }

    /// Moves the link `name` into another namespace, named `name_there` there.
    pub async fn move_to_namespace(
        &self,
        name: &str,
        netns: &impl AsFd,
        name_there: &str,
    ) -> Result<(), Error> {
        let moved = LinkUnspec::new_with_index(self.index_of(name).await?)
            .setns_by_fd(netns.as_fd().as_raw_fd())
            .name(name_there.to_owned())
            .build();
        self.0.link().set(moved).execute().await.with_context(|| format!("move {name} into its namespace"))
    }

    /// Creates a veth pair whose far end is in `far_netns` from the beginning: to move a link, the kernel waits until no CPU uses it any more
    /// (net/core/dev.c, `__dev_change_net_namespace`), which takes tens of milliseconds. Returns the near end's index.
    pub async fn add_veth(&self, near: &str, far_netns: &impl AsFd, far_name: &str) -> Result<u32, Error> {
        let far = LinkUnspec::new_with_name(far_name).setns_by_fd(far_netns.as_fd().as_raw_fd()).build();
        let pair = LinkMessageBuilder::<LinkVeth>::new_with_info_kind(InfoKind::Veth)
            .name(near)
            .set_info_data(InfoData::Veth(InfoVeth::Peer(far)));
        let made = self.0.link().add(pair.build()).execute().await;
        made.with_context(|| format!("create the link {near}, with {far_name} at its far end"))?;
        self.index_of(near).await
    }

    /// Makes a link a port of a bridge.
    pub async fn attach(&self, index: u32, bridge: u32) -> Result<(), Error> {
        let change = LinkUnspec::new_with_index(index).controller(bridge).build();
        self.0.link().set(change).execute().await.with_context(|| "attach a link to its bridge")
    }

    /// Sets a link up.
    pub async fn set_up(&self, index: u32) -> Result<(), Error> {
        let change = LinkUnspec::new_with_index(index).up().build();
        self.0.link().set(change).execute().await.with_context(|| "set a link up")
    }

    /// Sets the size of the largest packet that the link accepts, in bytes.
    pub async fn set_mtu(&self, index: u32, mtu_bytes: u32) -> Result<(), Error> {
        let change = LinkUnspec::new_with_index(index).mtu(mtu_bytes).build();
        self.0.link().set(change).execute().await.with_context(|| format!("set an MTU of {mtu_bytes} bytes"))
    }

    /// Deletes the link; `name` is for the message.
    pub async fn delete(&self, index: u32, name: &str) -> Result<(), Error> {
        self.0.link().del(index).execute().await.with_context(|| format!("delete the link {name}"))
    }

    /// Gives a link an address.
    pub async fn add_address(&self, index: u32, address: Ipv4Addr, prefix: u8) -> Result<(), Error> {
        let request = self.0.address().add(index, IpAddr::V4(address), prefix);
        request.execute().await.with_context(|| format!("add the address {address}/{prefix}"))
    }

    /// The addresses of all links.
    pub async fn addresses(&self) -> Result<Vec<IpAddr>, Error> {
        let all: Vec<_> =
            self.0.address().get().execute().try_collect().await.with_context(|| "list the addresses")?;
        let address = |attributes: &[AddressAttribute]| {
            // On a point-to-point link `Address` is the other end's, and `Local` ours (rtnetlink(7), IFA_LOCAL).
            let local = attributes.iter().find_map(|attribute| match attribute {
                AddressAttribute::Local(address) => Some(*address),
                _ => None,
            });
            local.or_else(|| {
                attributes.iter().find_map(|attribute| match attribute {
                    AddressAttribute::Address(address) => Some(*address),
                    _ => None,
                })
            })
        };
        Ok(all.iter().filter_map(|message| address(&message.attributes)).collect())
    }

    /// Adds a route to `to`/`prefix` through link `index`: direct, or by the gateway `via`.
    pub async fn add_route(
        &self,
        index: u32,
        to: Ipv4Addr,
        prefix: u8,
        via: Option<Ipv4Addr>,
    ) -> Result<(), Error> {
        let route =
            RouteMessageBuilder::<Ipv4Addr>::new().destination_prefix(to, prefix).output_interface(index);
        let route = match via {
            Some(gateway) => route.gateway(gateway),
            None => route.scope(RouteScope::Link),
        };
        self.0
            .route()
            .add(route.build())
            .execute()
            .await
            .with_context(|| format!("add the route to {to}/{prefix}"))
    }

    /// Adds a route to `to`/`prefix` by a gateway at the other end of link `index`, whatever its address.
    pub async fn add_route_across(
        &self,
        index: u32,
        to: Ipv4Addr,
        prefix: u8,
        gateway: Ipv4Addr,
    ) -> Result<(), Error> {
        let route = RouteMessageBuilder::<Ipv4Addr>::new()
            .destination_prefix(to, prefix)
            .output_interface(index)
            .gateway(gateway)
            .onlink();
        self.0
            .route()
            .add(route.build())
            .execute()
            .await
            .with_context(|| format!("add the route to {to}/{prefix}"))
    }

    /// Adds a permanent neighbour entry for the address `ip` on link `index`.
    pub async fn add_neighbour(
        &self,
        index: u32,
        ip: Ipv4Addr,
        hardware_address: &[u8],
    ) -> Result<(), Error> {
        let request = self.0.neighbours().add(index, IpAddr::V4(ip)).link_layer_address(hardware_address);
        request.execute().await.with_context(|| format!("add the neighbour {ip}"))
    }

    /// Adds an entry to the forwarding database of the tunnel `index`: the node to which it sends frames for a hardware address
    /// (`bridge(8)`, `self`).
    pub async fn add_forwarding(
        &self,
        index: u32,
        hardware_address: &[u8],
        node: Ipv4Addr,
    ) -> Result<(), Error> {
        let request = self.0.neighbours().add_bridge(index, hardware_address).destination(IpAddr::V4(node));
        let request = request.flags(NeighbourFlags::Own);
        request.execute().await.with_context(|| format!("configure a tunnel to the node {node}"))
    }

    /// Destinations of all IPv4 routes of all tables; the local table has a route for each address.
    pub async fn destinations(&self) -> Result<Vec<(Ipv4Addr, u8)>, Error> {
        let all = RouteMessageBuilder::<Ipv4Addr>::new().build();
        let routes: Vec<_> =
            self.0.route().get(all).execute().try_collect().await.with_context(|| "list the routes")?;
        let destination = |attributes: &[RouteAttribute]| {
            attributes.iter().find_map(|attribute| match attribute {
                RouteAttribute::Destination(RouteAddress::Inet(to)) => Some(*to),
                _ => None,
            })
        };
        Ok(routes
            .iter()
            .filter_map(|r| Some((destination(&r.attributes)?, r.header.destination_prefix_length)))
            .collect())
    }
}
