//! The layer `sidecar`: proxies in the request path, as a service mesh has them. One stands in the pod before the service; with two,
//! another stands beside the client and is what the client connects to, and the two may speak TLS with each other.
//!
//! They understand HTTP/1.1 requests and keep connections alive on both sides. Each is one process with one thread, writes no access log,
//! and uses nothing outside a folder of the run. Where load threads are isn't known here, so the client's runs on the service's CPUs and
//! in its cgroup too: both count as the deployment's cost.

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
    Doing, Environment, Error, Launch, Netns, Place, Running, tool,
    wait::{self, SHORT_INTERVAL},
};

use self::certificates::{Certificates, Identity};
use super::{Layer, Proxy, Sidecar, Sides, lacking::missing};
use crate::error::LocalError;

/// Where the proxy before the service listens, and where if the service itself does: Istio's ports for it.
const PORTS: [u16; 2] = [15006, 15001];
/// How long a proxy may take to listen; it needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections at a time that a proxy is set up for, if it may open as many files.
const CONNECTIONS: u64 = 10_000;
/// Files that a proxy opens beside those of its connections.
const OTHER_FILES: u64 = 200;

/// Name in the certificate of the proxy before the service, and in that of the one beside the client.
const SERVICE: &str = "service";
const CLIENT: &str = "client";
/// Files in a proxy's folder: its certificate and key, and the certificate of the authority.
const IDENTITY_FILE: &str = "identity.pem";
const AUTHORITY_FILE: &str = "authority.pem";

/// The ends that a sidecar stands between.
pub(crate) struct Ends<'a> {
    pub pod: &'a Netns,
    /// Where the service listens.
    pub service: SocketAddrV4,
    /// Where the client reaches [`inbound`]: that address itself, or the node's port that leads to it.
    pub entrance: SocketAddrV4,
}

/// The proxies of a deployment. Dropping it stops them.
pub(crate) struct Laid {
    layer: Layer,
    /// Where the client connects.
    pub address: SocketAddrV4,
    proxies: Vec<Running>,
    folder: TempDir,
}

/// What one proxy does: takes requests at one address and passes them to another. Its files are in its working directory.
struct Hop {
    listen: SocketAddrV4,
    next: SocketAddrV4,
    tls: Tls,
    /// Connections at a time, on each side.
    connections: u64,
}

/// Which side of a hop speaks TLS, with a certificate of its own and asking for the other's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tls {
    None,
    /// Towards the client.
    Accepts,
    /// Towards the service.
    Connects,
}

/// What a proxy is started with.
struct Setup {
    /// Name and content of its configuration.
    file: &'static str,
    text: String,
    arguments: &'static [&'static str],
}

/// Where the proxy before a service listens.
pub(crate) fn inbound(service: SocketAddrV4) -> SocketAddrV4 {
    let port = if service.port() == PORTS[0] { PORTS[1] } else { PORTS[0] };
    SocketAddrV4::new(*service.ip(), port)
}

/// The program, or that it is missing.
pub(crate) fn find(sidecar: Sidecar) -> Result<PathBuf, LocalError> {
    let (program, source) = (program_of(sidecar.proxy), source_of(sidecar.proxy));
    tool::find(program).ok_or_else(|| {
        missing(&Layer::Sidecar(sidecar), format!("the program `{program}` is not installed ({source})"))
    })
}

/// Starts the proxies; they accept connections when this returns.
pub(crate) fn lay(
    environment: &Environment,
    beside: &Place,
    ends: &Ends,
    sidecar: Sidecar,
) -> Result<Laid, LocalError> {
    let program = find(sidecar)?;
    let folder = environment.folder().scratch(&beside.owner)?;
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
    let mut laid =
        Laid { layer: Layer::Sidecar(sidecar), address: ends.entrance, proxies: Vec::new(), folder };
    let hop = Hop { listen: first, next: ends.service, tls: accepts.0, connections };
    laid.add(environment, beside, ends.pod, (sidecar.proxy, &program), &hop, accepts.1)?;
    if sidecar.sides != Sides::Service {
        let loopback = std::net::Ipv4Addr::LOCALHOST;
        let port = environment.ports().listening_port(environment.client(), loopback)?;
        laid.address = SocketAddrV4::new(loopback, port);
        let hop = Hop { listen: laid.address, next: ends.entrance, tls: connects.0, connections };
        laid.add(environment, beside, environment.client(), (sidecar.proxy, &program), &hop, connects.1)?;
    }
    Ok(laid)
}

impl Laid {
    /// The proxy that ended by itself, if one did.
    pub fn ended(&self) -> Option<ExitStatus> {
        self.proxies.iter().find_map(Running::exited)
    }

    /// The proxies' processes.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.proxies.iter().map(Running::pid)
    }

    /// Stops the proxies, the client's first.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        let stopped: Vec<_> = self.proxies.drain(..).rev().map(Running::stop).collect();
        stopped.into_iter().collect()
    }

    /// Starts a proxy in `netns` and waits until it listens.
    fn add(
        &mut self,
        environment: &Environment,
        beside: &Place,
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
            .doing(|| format!("make the folder {}", folder.display()))?;
        if let Some(identity) = identity {
            write(&folder, IDENTITY_FILE, &identity.certificate_and_key)?;
            write(&folder, AUTHORITY_FILE, &identity.authority)?;
        }
        let setup = match proxy {
            Proxy::Haproxy => haproxy::setup(hop),
            Proxy::Nginx => nginx::setup(hop, &nginx::build_options(path)?),
            Proxy::Envoy => envoy::setup(hop),
        };
        write(&folder, setup.file, &setup.text)?;
        let arguments = std::iter::once(&program).chain(setup.arguments).map(Into::into).collect();
        let variables = std::env::vars_os().collect();
        let launch =
            Launch { path: path.to_owned(), arguments, variables, working_dir: Some(folder), third: None };
        let running = Running::start(environment, launch, &Place { netns: Some(netns), ..*beside })?;
        let outcome = netns.run(|| Ok(until_it_listens(&running, hop.listen)))?;
        let outcome = outcome.map_err(|why| LocalError::Proxy {
            layer: self.layer.clone(),
            program,
            why: format!("{why} at {}\n{}", hop.listen, running.output_tail()).trim_end().to_owned(),
        });
        self.proxies.push(running);
        outcome
    }
}

impl Drop for Laid {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("a proxy was not stopped: {error}");
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

/// Where to get it.
fn source_of(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Haproxy => "package `haproxy`",
        Proxy::Nginx => "package `nginx`",
        Proxy::Envoy => "its packages are at envoyproxy.io",
    }
}

/// As many connections as the limit on open files allows: each takes two.
fn connections() -> u64 {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (files.saturating_sub(OTHER_FILES) / 2).clamp(1, CONNECTIONS)
}

/// Waits, in the namespace of `listen`, until a connection is accepted. The error completes the sentence that begins with its name.
fn until_it_listens(proxy: &Running, listen: SocketAddrV4) -> Result<(), String> {
    let attempt = || {
        // Asked first: whoever else listens there must not be taken for a proxy that has ended.
        if let Some(status) = proxy.exited() {
            return Err((false, format!("ended before it listened ({status})")));
        }
        let connected = TcpStream::connect_timeout(&listen.into(), PATIENCE);
        connected.map(drop).map_err(|error| (true, format!("accepts no connection ({error})")))
    };
    wait::retry(PATIENCE, SHORT_INTERVAL, |(may_pass, _)| *may_pass, attempt).map_err(|(_, why)| why)
}

/// Writes a file that this user alone can read.
fn write(folder: &Path, name: &str, content: &str) -> Result<(), Error> {
    let path = folder.join(name);
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create_new(true).write(true).mode(0o600);
        options.open(&path)?.write_all(content.as_bytes())
    };
    write().doing(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_before_a_service_never_has_the_services_port() {
        for service in [8080, 15001, 15006] {
            let service = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, service);
            let inbound = inbound(service);
            assert!(inbound.ip() == service.ip() && inbound.port() != service.port());
        }
    }
}
