//! HAProxy, which answers by itself, early hints included.

use std::net::{SocketAddr, TcpStream};

use super::{Process, free_port, local};

/// A running HAProxy.
pub struct Haproxy {
    pub address: SocketAddr,
    _process: Process,
}

impl Haproxy {
    /// HAProxy with a frontend of these lines; `bind` may follow the address of its socket: `proto h2`, say.
    pub fn start(bind: &str, frontend: &[&str]) -> Haproxy {
        let address = local(free_port());
        let folder = Process::folder();
        let lines = frontend.join("\n    ");
        let configuration = format!(
            "global
    maxconn 1000
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend tested
    bind {address} {bind}
    {lines}
"
        );
        std::fs::write(folder.path().join("haproxy.cfg"), configuration).unwrap();
        let process = Process::start(folder, "haproxy", &["-db", "-f", "haproxy.cfg"]);
        Haproxy { address, _process: process.wait_until_up(|_| TcpStream::connect(address).is_ok()) }
    }
}
