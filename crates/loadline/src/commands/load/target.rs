//! From a name to an address that takes connections, seen from where the load will come from.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Result;
use loadline_engine::{Endpoint, Engine, EngineError, Options, Reuse, Target};
use loadline_spec::{Complaint, SpecError};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, netdevice};
use rustix::thread::LinkNameSpaceType;

use super::plan::Plan;
use super::reader::refused;
use crate::exit::UsageError;

/// Moves this process into the network namespace of the plan. No thread and no socket may exist yet: they would stay behind.
pub fn enter_namespace(path: &Path) -> Result<(), SpecError> {
    let refuse = |error: io::Error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such network namespace".to_owned(),
            io::ErrorKind::InvalidInput => "this is not a network namespace".to_owned(),
            io::ErrorKind::PermissionDenied => "only root may enter it".to_owned(),
            _ => error.to_string(),
        };
        refused(
            "--netns",
            &path.to_string_lossy(),
            Complaint::new(why).help("ip netns lists those with a name"),
        )
    };
    let file = File::open(path).map_err(refuse)?;
    rustix::thread::move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|error| refuse(error.into()))
}

/// Looks the plan's target up, and takes the first address that accepts a connection.
///
/// # Errors
/// When a flag names what is not there, the name has no address, or none of them can be connected to.
pub fn settle(plan: &mut Plan) -> Result<()> {
    check_interface(&plan.options.endpoint)?;
    check_source(&plan.options.endpoint)?;
    let targets = match &plan.options.endpoint.target {
        Target::Name(host, port) if !plan.resolve_each => {
            addresses(host, *port, plan.options.endpoint.source)?
        }
        target => vec![target.clone()],
    };
    if let Target::Unix(path) = &targets[0] {
        check_unix_socket(path)?;
    }
    plan.options.endpoint.target = first_that_accepts(&plan.options, targets)?;
    Ok(())
}

fn addresses(host: &str, port: u16, source: Option<IpAddr>) -> Result<Vec<Target>> {
    let mut found: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|_| UsageError(format!("`{host}` has no address: check the name")))?
        .collect();
    if host == "localhost" {
        // It means both, whatever /etc/hosts has of them (RFC 6761, section 6.3).
        found.push((Ipv4Addr::LOCALHOST, port).into());
        found.push((Ipv6Addr::LOCALHOST, port).into());
    }
    let fits = |address: &SocketAddr| source.is_none_or(|source| source.is_ipv4() == address.is_ipv4());
    let mut targets: Vec<Target> = Vec::with_capacity(found.len());
    for target in found.into_iter().filter(fits).map(Target::Address) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    match source {
        Some(source) if targets.is_empty() => {
            let family = if source.is_ipv4() { "IPv4" } else { "IPv6" };
            let complaint = Complaint::new(format!("`{host}` has no {family} address"));
            Err(refused("--source", &source.to_string(), complaint.help("give a source of the other family"))
                .into())
        }
        _ if targets.is_empty() => Err(UsageError(format!("`{host}` has no address: check the name")).into()),
        _ => Ok(targets),
    }
}

/// Where there is a choice, or where the engine would not connect before the first request, one connection is tried.
fn first_that_accepts(options: &Options, targets: Vec<Target>) -> Result<Target> {
    if let [target] = targets.as_slice()
        && options.reuse != Reuse::Never
    {
        return Ok(target.clone());
    }
    let mut failure = None;
    for target in targets {
        let endpoint = Endpoint { target: target.clone(), ..options.endpoint.clone() };
        let probe = Options { endpoint, connections: 1, threads: 1, reuse: Reuse::Always, ..options.clone() };
        match Engine::start(&probe)?.prepare() {
            Ok(()) => return Ok(target),
            // Without IPv6 there is no port to connect from.
            Err(error @ (EngineError::Connect { .. } | EngineError::NoPort { .. })) => {
                failure.get_or_insert(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(failure.map_or_else(|| UsageError("there is no address to connect to".to_owned()).into(), Into::into))
}

fn check_interface(endpoint: &Endpoint) -> Result<()> {
    let Some(name) = &endpoint.interface else { return Ok(()) };
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    match netdevice::name_to_index(&socket, name) {
        Ok(_) => Ok(()),
        Err(_) => {
            let complaint = Complaint::new("there is no such network interface").help("ip link lists them");
            Err(refused("--interface", name, complaint).into())
        }
    }
}

fn check_source(endpoint: &Endpoint) -> Result<()> {
    let Some(source) = endpoint.source else { return Ok(()) };
    match UdpSocket::bind((source, 0)) {
        Ok(_) => Ok(()),
        Err(error) => {
            let why = match Errno::from_io_error(&error) {
                Some(Errno::ADDRNOTAVAIL) => "this address is not one of this machine's".to_owned(),
                _ => error.to_string(),
            };
            Err(refused("--source", &source.to_string(), Complaint::new(why).help("ip address lists them"))
                .into())
        }
    }
}

fn check_unix_socket(path: &Path) -> Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let why = match std::fs::metadata(path) {
        Ok(file) if !file.file_type().is_socket() => "this is not a socket".to_owned(),
        Ok(_) => match rustix::net::SocketAddrUnix::new(path) {
            Ok(_) => return Ok(()),
            // unix(7): sun_path has 108 bytes.
            Err(_) => "this path is longer than a socket's may be, 107 bytes".to_owned(),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => "there is no such socket".to_owned(),
        Err(error) => error.to_string(),
    };
    let complaint = Complaint::new(why).help("ss -xl lists the sockets that are listened on");
    Err(refused("--unix", &path.to_string_lossy(), complaint).into())
}
