//! The layer `cni`: a pod's network created by the plugins of a CNI configuration list, run as a container runtime runs them by the CNI
//! specification 1.1 (cni.dev/docs/spec). The same plugins release what they allocated when the deployment ends, or by `clean`.
//!
//! No capability is used: the pod is one without a host port or a bandwidth limit. The plugins run on the deployment's own node, whose
//! wire to the client is `eth0` there; that is the `master` for plugins that need one.

mod attachment;
mod cleaner;
mod config;
mod plugin;
mod result;

use std::{
    net::{Ipv4Addr, UdpSocket},
    path::Path,
    sync::Arc,
};

pub use cleaner::CniCleaner;

use loadline_machine::{Error, Netlink, Netns, Node, OwnNode, Role, RunFolder, WIRE, addresses::Subnet};

use self::{attachment::Attachment, cleaner::Attachments, config::List, result::Added};
use super::pod::Pod;
use crate::error::{CniError, LocalError};

/// Name of the pod's link in its namespace.
const LINK: &str = "eth0";

/// What plugins allocated for a pod. Dropping it releases it.
pub(crate) struct Network {
    node: Netns,
    pod: Netns,
    folder: Arc<RunFolder>,
    /// `None` once it is released.
    attachment: Option<Attachment>,
}

/// Creates the pod's namespace, has the plugins of the list in `file` connect it to the node, and adds the client's route to it. It is
/// registered in `folder` first.
pub(crate) fn create(
    node: &Node,
    own: &OwnNode,
    file: &Path,
    folder: &Arc<RunFolder>,
) -> Result<(Pod, Network), LocalError> {
    let attachment = Attachment::new(&node.owner, file, List::read(file)?)?;
    let netns = Netns::new()?;
    folder.update(|section: &mut Attachments| section.attachments.push(attachment.clone()))?;
    // From here on a failure drops this, which releases what was allocated.
    let mut network = Network {
        node: node.netns.clone(),
        pod: netns.clone(),
        folder: Arc::clone(folder),
        attachment: None,
    };
    let attachment = network.attachment.insert(attachment);
    attachment.add(&node.netns, &netns)?;
    folder.update(|section: &mut Attachments| {
        let known = section.attachments.iter_mut();
        let known = known.filter(|known| known.container_id == attachment.container_id);
        known.for_each(|known| *known = attachment.clone());
    })?;
    let Added { address, prefix, node_link } = attachment.added()?;
    connect_client(node, own, &netns, address, node_link.as_deref())?;
    check_return_route(&netns, own.addresses.wire.far, file)?;
    let subnet = Subnet::containing(address, prefix);
    Ok((Pod { netns, address, subnet, link: node_link.unwrap_or_else(|| WIRE.to_owned()) }, network))
}

impl Network {
    /// Releases what the plugins allocated. What cannot be released stays registered, for the end of the run.
    pub fn release(mut self) -> Result<(), LocalError> {
        self.delete()
    }

    fn delete(&mut self) -> Result<(), LocalError> {
        let Some(attachment) = self.attachment.take() else { return Ok(()) };
        attachment.delete(&self.node, Some(&self.pod))?;
        let strike_off = self.folder.update(|section: &mut Attachments| {
            section.attachments.retain(|known| known.container_id != attachment.container_id);
        });
        if let Err(error) = strike_off {
            // The run is already gone. A second DEL would do no harm.
            tracing::debug!("{} remains registered: {error}", attachment.container_id);
        }
        Ok(())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if let Err(error) = self.delete() {
            tracing::warn!("cannot release a CNI network: {error}");
        }
    }
}

/// Adds the client's route to a pod: through the node, or, if the plugins created no link to it there, directly onto the wire, where the
/// pod's own link must be then.
fn connect_client(
    node: &Node,
    own: &OwnNode,
    pod: &Netns,
    address: Ipv4Addr,
    node_link: Option<&str>,
) -> Result<(), Error> {
    let wire = own.addresses.wire;
    match node_link {
        Some(link) => node.forward_from(link)?,
        None => pod.with_netlink(async |net: &Netlink| {
            net.add_route(net.index_of(LINK).await?, wire.far, 32, None).await
        })?,
    }
    own.client.with_netlink(async |net: &Netlink| {
        let index = net.index_of(&node.owner.link(Role::Wire)).await?;
        net.add_route(index, address, 32, node_link.map(|_| wire.node)).await
    })
}

/// Checks that the pod has a route to the client: connecting a UDP socket looks the route up and sends nothing (`udp(7)`).
fn check_return_route(pod: &Netns, client: Ipv4Addr, file: &Path) -> Result<(), LocalError> {
    let connect = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?.connect((client, 9));
    let connected = pod.run(|| Ok(connect()))?;
    Ok(connected.map_err(|source| CniError::NoReturnRoute { file: file.to_owned(), client, source })?)
}
