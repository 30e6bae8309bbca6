//! Services that misbehave on purpose, as small Python programs; and the built-in ones as processes of their own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::PROGRAM;

/// Answers everything; ends with status 3 and a last word once a file named `die` is in its working directory.
pub const MORTAL: &str = r#"
import http.server, os, sys, threading, time

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *args):
        pass

def watch():
    while not os.path.exists("die"):
        time.sleep(0.01)
    print("no memory left, giving up", file=sys.stderr, flush=True)
    os._exit(3)

threading.Thread(target=watch, daemon=True).start()
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"#;

/// As [`MORTAL`], but it serves one connection at a time, and the next one when that is closed.
pub fn one_connection_at_a_time() -> String {
    MORTAL.replace("ThreadingHTTPServer", "HTTPServer")
}

/// As [`MORTAL`], but it speaks TLS with the certificate `self.pem`, at a port that it chooses and prints.
pub fn over_tls() -> String {
    let served = "http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()";
    let served_over_tls = r#"
import ssl

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("self.pem", "self.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()"#;
    assert!(MORTAL.contains(served));
    MORTAL.replace(served, served_over_tls.trim_start())
}

/// As [`MORTAL`], and deaf to SIGTERM.
pub fn deaf() -> String {
    format!("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{MORTAL}")
}

/// As [`MORTAL`], but nothing is found over its first connection, as if that had gone to somebody else.
pub fn somebody_else_at_first() -> String {
    let found = "self.send_response(200)";
    let found_by_others = "
        first.append(self.client_address)
        self.send_response(404 if self.client_address == first[0] else 200)";
    assert!(MORTAL.contains(found));
    format!("first = []\n{}", MORTAL.replace(found, found_by_others.trim_start()))
}

/// `loadline serve` in the background; ends with the value.
pub struct Served {
    child: Child,
    pub address: SocketAddr,
}

impl Served {
    /// Starts `command`, which must be a `loadline serve … --listen 127.0.0.1:0`, and waits for its port.
    pub fn by(mut command: Command) -> Served {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the service starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").and_then(|address| address.parse().ok());
        Served { child, address: address.unwrap_or_else(|| panic!("{line:?}")) }
    }

    /// Starts `loadline serve ARGUMENTS` at a free port.
    pub fn start(arguments: &[&str]) -> Served {
        let mut command = Command::new(PROGRAM);
        command.arg("serve").args(arguments).args(["--listen", "127.0.0.1:0"]);
        Served::by(command)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Only a service that ended by itself can't be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
