//! `network: macvlan`: a second wire between node and client, on which the container has a link of its own. Its packets
//! pass the node's end of the wire and nothing else of the node.

use std::collections::HashMap;

use bollard::models::{Ipam, IpamConfig, NetworkCreateRequest};

use loadline_machine::{Environment, Netlink, Owner, Role, addresses::Subnet};

use crate::{client::Client, error::DockerError, request};

/// Creates the wire, with the subnet's gateway at the client's end, and Docker's network on the node's end. Returns its name.
pub(crate) fn create(
    environment: &Environment,
    client: &Client,
    owner: &Owner,
    subnet: &Subnet,
) -> Result<String, DockerError> {
    // Both ends have this name: the client has one such link per deployment as well.
    let link = owner.link(Role::Macvlan);
    environment.node().with_netlink(async |net: &Netlink| {
        let index = net.add_veth(&link, environment.client(), &link).await?;
        net.set_up(index).await
    })?;
    environment.client().with_netlink(async |net: &Netlink| {
        let index = net.index_of(&link).await?;
        net.add_address(index, subnet.node, subnet.prefix).await?;
        net.set_up(index).await
    })?;
    let network = owner.label();
    client.call(&format!("create the macvlan network {network}"), |api| {
        api.create_network(request(owner, subnet, link))
    })?;
    Ok(network)
}

fn request(owner: &Owner, subnet: &Subnet, parent: String) -> NetworkCreateRequest {
    let addresses = IpamConfig {
        subnet: Some(subnet.to_string()),
        gateway: Some(subnet.node.to_string()),
        ..IpamConfig::default()
    };
    NetworkCreateRequest {
        name: owner.label(),
        driver: Some("macvlan".to_owned()),
        ipam: Some(Ipam { config: Some(vec![addresses]), ..Ipam::default() }),
        options: Some(HashMap::from([("parent".to_owned(), parent)])),
        labels: Some(request::labels(owner)),
        ..NetworkCreateRequest::default()
    }
}
