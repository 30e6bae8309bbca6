//! Real servers for the tests, each started on a free port with a configuration of its own in a temporary folder, and ended when the
//! test drops it.

pub mod caddy;
pub mod certificates;
pub mod haproxy;
pub mod nginx;
mod process;
pub mod python;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use process::Process;

/// How long a server may take to come up, or to write its log.
const PATIENCE: Duration = Duration::from_secs(20);

/// A TCP port that nobody listens on, below those that the kernel gives to clients (ip_local_port_range: from 32,768 on). It stays this
/// process's own until the process ends: another test may look for a port before this one's server listens.
pub fn free_port() -> u16 {
    static TAKEN: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    // Test programs that run at the same time begin at different places.
    let first = std::process::id() % 20_000;
    for tried in 0..20_000 {
        let port = 10_000 + ((first + tried) % 20_000) as u16;
        // Abstract names belong to a network namespace, as ports do, and to one socket only (unix(7)).
        let name = UnixAddress::from_abstract_name(format!("loadline-test-port-{port}")).unwrap();
        let Ok(reserved) = UnixListener::bind_addr(&name) else { continue };
        let addresses: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
        if addresses.iter().all(|address| TcpListener::bind((*address, port)).is_ok()) {
            taken.push(reserved);
            return port;
        }
    }
    panic!("no port from 10,000 to 29,999 is free");
}

/// 127.0.0.1 with this port.
pub fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// Waits for something to become true.
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a server answers to a request written by hand, whole; the request has to make it close.
pub fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
