//! The proxies in the path of a deployment's requests, started after its service, from the inside out.

use std::{net::SocketAddrV4, process::ExitStatus};

use loadline_machine::{ChildProcess, Environment, Error, Node, ProcessPlacement};
use loadline_model::platform::Layers;

use crate::{
    error::LocalError,
    layers::{sidecar, userland_proxy},
    path::Path,
};

/// The proxies of one deployment.
#[derive(Default)]
pub(crate) struct Proxies {
    userland_proxy: Option<ChildProcess>,
    sidecar: Option<sidecar::RunningProxies>,
}

impl Proxies {
    /// Starts the proxies of the layers, and returns where the client connects.
    pub fn start(
        &mut self,
        environment: &Environment,
        node: &Node,
        layers: &Layers,
        placement: &ProcessPlacement,
        path: &Path,
    ) -> Result<SocketAddrV4, LocalError> {
        let mut address = path.address;
        if layers.userland_proxy {
            let port = node.ports.node_port(&node.netns, &node.owner)?;
            let listen = SocketAddrV4::new(node.address, port);
            self.userland_proxy =
                Some(userland_proxy::start(environment, placement, &node.netns, listen, address)?);
            address = listen;
        }
        if let (Some(wanted), Some(pod)) = (layers.sidecar, &path.netns) {
            let ends = sidecar::Endpoints { pod, service: path.listen, exposed: address };
            address = self.sidecar.insert(sidecar::start(environment, placement, &ends, wanted)?).address;
        }
        Ok(address)
    }

    /// The proxy that exited on its own, if any.
    pub fn ended(&self) -> Option<(&'static str, ExitStatus)> {
        let userland_proxy = self.userland_proxy.as_ref().and_then(ChildProcess::exited);
        let sidecar = self.sidecar.as_ref().and_then(sidecar::RunningProxies::ended);
        [("userland proxy", userland_proxy), ("sidecar", sidecar)]
            .into_iter()
            .find_map(|(what, status)| Some((what, status?)))
    }

    /// Their process ids.
    pub fn pids(&self) -> Vec<u32> {
        let sidecar = self.sidecar.iter().flat_map(sidecar::RunningProxies::pids);
        self.userland_proxy.iter().map(ChildProcess::pid).chain(sidecar).collect()
    }

    /// Stops them, from the outside in.
    pub fn stop(&mut self) -> Result<(), Error> {
        let sidecar = self.sidecar.take().map_or(Ok(()), sidecar::RunningProxies::stop);
        sidecar.and(self.userland_proxy.take().map_or(Ok(()), ChildProcess::stop))
    }
}
