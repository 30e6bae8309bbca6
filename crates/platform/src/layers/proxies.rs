//! The processes that stand in the path of a deployment's requests, started after its service, from the inside out.

use std::{net::SocketAddrV4, process::ExitStatus};

use super::{Beside, Layers, sidecar, userland_proxy};
use crate::{
    Error, Ground,
    node::Node,
    path::{Path, entrance_start},
    process::Running,
};

/// Those of one deployment.
#[derive(Default)]
pub(crate) struct Proxies {
    userland_proxy: Option<Running>,
    sidecar: Option<sidecar::Laid>,
}

/// Whether the programs that the layers need are installed.
pub(crate) fn check(layers: &Layers) -> Result<(), Error> {
    if layers.userland_proxy {
        userland_proxy::find()?;
    }
    layers.sidecar.map_or(Ok(()), |wanted| sidecar::find(wanted).map(drop))
}

impl Proxies {
    /// Starts those that the layers ask for, and returns where the client connects then.
    pub fn start(
        &mut self,
        ground: &Ground,
        node: &Node,
        layers: &Layers,
        beside: &Beside,
        path: &Path,
    ) -> Result<SocketAddrV4, Error> {
        let mut address = path.address;
        if layers.userland_proxy {
            let port = node.ports.node_port(&node.netns, entrance_start(&node.owner))?;
            let listen = SocketAddrV4::new(node.address, port);
            self.userland_proxy = Some(userland_proxy::lay(ground, beside, &node.netns, listen, address)?);
            address = listen;
        }
        if let (Some(wanted), Some(pod)) = (layers.sidecar, &path.netns) {
            let ends = sidecar::Ends { pod, service: path.listen, entrance: address };
            address = self.sidecar.insert(sidecar::lay(ground, beside, &ends, wanted)?).address;
        }
        Ok(address)
    }

    /// The one that ended by itself, if one did.
    pub fn ended(&self) -> Option<(&'static str, ExitStatus)> {
        let userland_proxy = self.userland_proxy.as_ref().and_then(Running::exited);
        let sidecar = self.sidecar.as_ref().and_then(sidecar::Laid::ended);
        [("userland proxy", userland_proxy), ("sidecar", sidecar)]
            .into_iter()
            .find_map(|(what, status)| Some((what, status?)))
    }

    /// Their processes.
    pub fn pids(&self) -> Vec<u32> {
        let sidecar = self.sidecar.iter().flat_map(sidecar::Laid::pids);
        self.userland_proxy.iter().map(Running::pid).chain(sidecar).collect()
    }

    /// Stops them, from the outside in.
    pub fn stop(&mut self) -> Result<(), Error> {
        let sidecar = self.sidecar.take().map_or(Ok(()), sidecar::Laid::stop);
        sidecar.and(self.userland_proxy.take().map_or(Ok(()), Running::stop))
    }
}
