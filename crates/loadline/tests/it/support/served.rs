//! `loadline ui` of a test's own, and a client that may ask as rudely as it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use super::place::{Place, Started};
use super::wait_for;

/// A server, until it is dropped.
pub struct Served {
    pub server: Started,
    /// As it is printed.
    pub url: String,
    pub address: SocketAddr,
    pub token: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    pub fn start(place: &Place) -> Served {
        Served::start_with(place, &["--listen", "127.0.0.1:0"])
    }

    /// `loadline ui OPTIONS`, which is asked at 127.0.0.1.
    pub fn start_with(place: &Place, options: &[&str]) -> Served {
        Served::start_command(place, place.command([&["ui"], options].concat()))
    }

    /// A [`Place::command`] that serves at 127.0.0.1.
    pub fn start_command(place: &Place, command: Command) -> Served {
        let server = place.start_command(command);
        let url = wait_for("the server's address", || {
            let printed = std::fs::read_to_string(place.path("stdout")).ok()?;
            printed.strip_suffix('\n').map(str::to_owned)
        });
        let (host, token) =
            url.split_once("://").and_then(|(_, rest)| rest.split_once("/?token=")).expect("a URL");
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
        let (address, token) = (SocketAddr::from(([127, 0, 0, 1], port)), token.to_owned());
        Served { server, url, address, token }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// A connection on which a request may be written.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        stream
    }

    /// `METHOD PATH` with these lines in its head, which ends the connection.
    pub fn ask_with(&self, request: &str, lines: &[String], body: impl AsRef<[u8]>) -> Answer {
        answer(self.send(request, lines, body.as_ref()))
    }

    fn send(&self, request: &str, lines: &[String], body: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        let head =
            format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{lines}\r\n");
        // An answer may come before all of the request is written.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        stream
    }

    /// The same as a program with the token asks.
    pub fn ask(&self, request: &str, body: impl AsRef<[u8]>) -> Answer {
        self.ask_with(
            request,
            &[self.host(), self.bearer(), "Content-Type: application/json".to_owned()],
            body,
        )
    }

    /// A file, byte for byte.
    pub fn download(&self, path: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut stream = self.send(&format!("GET {path}"), &[self.host(), self.bearer()], b"");
        stream.read_to_end(&mut bytes).expect("an answer");
        assert_eq!(answer_of(&bytes).status, 200, "{path}");
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        bytes.split_off(head + 4)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), "")
    }

    pub fn json(&self, path: &str) -> serde_json::Value {
        let answer = self.get(path);
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{path}: {error}: {answer:?}"))
    }

    pub fn host(&self) -> String {
        format!("Host: {}", self.address)
    }

    pub fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    pub fn cookie(&self) -> String {
        format!("Cookie: other=1; loadline-{}={}", self.address.port(), self.token)
    }

    /// Follows server-sent events until `is_enough` of one's name and data, which it returns.
    pub fn follow(
        &self,
        path: &str,
        mut is_enough: impl FnMut(&str, &serde_json::Value) -> bool,
    ) -> serde_json::Value {
        let mut stream = self.connect();
        let head = format!("GET {path} HTTP/1.1\r\n{}\r\n{}\r\n\r\n", self.host(), self.bearer());
        stream.write_all(head.as_bytes()).expect("a request");
        let mut name = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("the stream goes on");
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut name);
            }
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let data = serde_json::from_str(data).expect("JSON");
            if is_enough(&name, &data) {
                return data;
            }
        }
        panic!("{path} ended before it said enough");
    }
}

/// What comes on a connection until its end.
pub fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that refuses a body closes the connection, and may reset it.
    let _ = stream.read_to_end(&mut bytes);
    let _ = stream.shutdown(Shutdown::Both);
    answer_of(&bytes)
}

/// The answer that these bytes of a connection are.
pub fn answer_of(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    Answer {
        status: status.unwrap_or_else(|| panic!("this is no answer: {text}")),
        head: head.to_owned(),
        body: if chunked { unchunked(body) } else { body.to_owned() },
    }
}

/// The data of chunks (RFC 9112, section 7.1), which here are all text.
fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}

/// The most memory that a process has had.
pub fn peak_memory_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}
