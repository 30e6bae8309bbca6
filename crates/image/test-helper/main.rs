//! The service that the tests put into images: it answers every request with the user it runs as, whether it can write to `/tmp`, and its
//! arguments.

use std::io::{Read, Write};
use std::net::TcpListener;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let listener = TcpListener::bind(arguments.first().map_or("0.0.0.0:8080", String::as_str))?;
    println!("listening on {}", listener.local_addr()?);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let id = |key| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let tmp =
        std::fs::write("/tmp/written", "").map_or_else(|error| error.to_string(), |()| "writable".to_owned());
    let body = format!("uid {} gid {} tmp {tmp} arguments {}\n", id("Uid:"), id("Gid:"), arguments.join(" "));
    loop {
        let (mut stream, _) = listener.accept()?;
        // The client may already be gone.
        let _ = stream.read(&mut [0; 1024]);
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
    }
}
