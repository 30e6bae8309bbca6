//! Caddy: Go's HTTP server.

use std::net::{SocketAddr, TcpStream};

use super::{Process, free_port, local};

/// A running Caddy.
pub struct Caddy {
    pub address: SocketAddr,
    _process: Process,
}

impl Caddy {
    /// Caddy with one site of these lines, for any host name; `{folder}` in them is its folder, where `files` are.
    pub fn start(scheme: &str, site: &str, files: &[(&str, &[u8])]) -> Caddy {
        let address = local(free_port());
        let port = address.port();
        let folder = Process::folder();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let configuration = format!(
            "{{
    admin off
    auto_https off
    servers {{
        protocols h1 h2 h2c
    }}
}}
{scheme}://:{port} {{
    bind 127.0.0.1
    {site}
}}
"
        )
        .replace("{folder}", &folder.path().display().to_string());
        std::fs::write(folder.path().join("Caddyfile"), configuration).unwrap();
        let process =
            Process::start(folder, "caddy", &["run", "--config", "Caddyfile", "--adapter", "caddyfile"]);
        Caddy { address, _process: process.wait_until_up(|_| TcpStream::connect(address).is_ok()) }
    }
}
