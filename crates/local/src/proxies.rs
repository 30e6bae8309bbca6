//! The processes that stand in the path of a deployment's requests, started after its service, from the inside out.

use std::{net::SocketAddrV4, process::ExitStatus};

use loadline_machine::{Environment, Error, Node, Place, Running};
use loadline_model::platform::Layers;

use crate::{
    error::LocalError,
    layers::{sidecar, userland_proxy},
    path::Path,
};

/// Those of one deployment.
#[derive(Default)]
pub(crate) struct Proxies {
    userland_proxy: Option<Running>,
    sidecar: Option<sidecar::Laid>,
}

impl Proxies {
    /// Starts those that the layers ask for, and returns where the client connects then.
    pub fn start(
        &mut self,
        environment: &Environment,
        node: &Node,
        layers: &Layers,
        beside: &Place,
        path: &Path,
    ) -> Result<SocketAddrV4, LocalError> {
        let mut address = path.address;
        if layers.userland_proxy {
            let port = node.ports.node_port(&node.netns, &node.owner)?;
            let listen = SocketAddrV4::new(node.address, port);
            self.userland_proxy =
                Some(userland_proxy::lay(environment, beside, &node.netns, listen, address)?);
            address = listen;
        }
        if let (Some(wanted), Some(pod)) = (layers.sidecar, &path.netns) {
            let ends = sidecar::Ends { pod, service: path.listen, entrance: address };
            address = self.sidecar.insert(sidecar::lay(environment, beside, &ends, wanted)?).address;
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
