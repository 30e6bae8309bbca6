//! Python's http.server, which speaks HTTP/1.0 unless it is told otherwise.

use std::net::{SocketAddr, TcpStream};

use super::{Process, free_port, local};

/// A running http.server.
pub struct Python {
    pub address: SocketAddr,
    _process: Process,
}

impl Python {
    /// Serves these files with a version of the protocol: `HTTP/1.0` or `HTTP/1.1`.
    pub fn start(protocol: &str, files: &[(&str, &[u8])]) -> Python {
        let address = local(free_port());
        let folder = Process::folder();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let port = address.port().to_string();
        // The system's own, which has had the option since 3.11.
        let arguments = ["-m", "http.server", &port, "--bind", "127.0.0.1", "--protocol", protocol];
        let process = Process::start(folder, "python3", &arguments);
        Python { address, _process: process.wait_until_up(|_| TcpStream::connect(address).is_ok()) }
    }
}
