//! The server that every generator loads: nginx with one worker on a CPU of its own, which answers a constant.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::child::{Invocation, Running};
use crate::place::Place;

/// Where it listens: the place's network namespace is ours alone, so any port is free.
pub const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
/// What it is asked for.
pub const URL: &str = "http://127.0.0.1:8080/";
/// Bytes of the body that it answers with.
pub const BODY: usize = 128;

/// More than are ever opened: once less than a sixteenth is free, nginx closes idle connections (`ngx_drain_connections`).
/// It may be more than the limit on files.
const CONNECTIONS: usize = 60_000;

/// nginx, until this value goes.
pub struct Server {
    process: Running,
}

/// nginx's own counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Requests since its start, that for these counts included.
    pub requests: u64,
    /// Open connections, the one for these counts included.
    pub connections: u64,
}

impl Server {
    /// Starts it and waits until it answers.
    pub fn start(place: &Place) -> Result<Server> {
        let file = place.folder().join("nginx.conf");
        std::fs::write(&file, configuration())?;
        let invocation = Invocation::of("nginx").arg("-c").arg(&file).arg("-p").arg(place.folder());
        let server = Server { process: Running::start(&invocation, place.server_cpu, place.folder())? };
        let started = Instant::now();
        while let Err(error) = server.counts() {
            if server.process.ends_within(Duration::from_millis(10))? {
                let ended = server.process.finish(Duration::from_secs(1))?;
                bail!("nginx ended ({}): {}", ended.status, ended.stderr.trim());
            }
            ensure!(started.elapsed() < Duration::from_secs(10), "nginx does not answer: {error:#}");
        }
        Ok(server)
    }

    /// Asks for its counts.
    pub fn counts(&self) -> Result<Counts> {
        let mut connection = TcpStream::connect(ADDRESS)?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        connection.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        counts(&answer).with_context(|| format!("nginx's status is not understood: {answer}"))
    }
}

/// The page of nginx's stub_status module.
fn counts(page: &str) -> Option<Counts> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with("Active connections:"));
    let connections = lines.next()?.rsplit(' ').find_map(|word| word.parse().ok())?;
    let requests = lines.nth(1)?.split_whitespace().nth(2)?.parse().ok()?;
    Some(Counts { requests, connections })
}

/// One process without a master, so that it is its own pid; nothing written, no limit on requests per connection. Its user
/// is the only one that a user namespace is sure to have.
fn configuration() -> String {
    let body = "loadline ".repeat(BODY).chars().take(BODY).collect::<String>();
    format!(
        "daemon off;
master_process off;
user root root;
pid nginx.pid;
error_log stderr error;
events {{
    worker_connections {CONNECTIONS};
}}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen {ADDRESS} backlog=65535;
        location / {{
            default_type text/plain;
            return 200 \"{body}\";
        }}
        location = /status {{
            stub_status;
        }}
    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_read_from_the_status_page() {
        let page = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\r\nActive connections: 33 \n\
                    server accepts handled requests\n 40 40 107808 \nReading: 0 Writing: 1 Waiting: 32 \n";
        assert_eq!(counts(page), Some(Counts { requests: 107_808, connections: 33 }));
        assert_eq!(counts("<html>404</html>"), None);
    }
}
