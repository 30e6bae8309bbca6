//! A real server that is not ours: nginx with one worker, which notes down every request.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::place::Place;
use super::wait_for;

/// What nginx notes down of each request, separated by bars.
const NOTED: &str = "$request_method|$request_uri|$http_host|$http_x_test|$content_length|$connection|$connection_requests|\
    $server_protocol|$remote_addr|$ssl_server_name|$ssl_client_s_dn|$ssl_session_reused";

/// One request as nginx saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub method: String,
    pub uri: String,
    pub host: String,
    pub x_test: String,
    pub content_length: String,
    pub connection: u64,
    /// Its place among the requests of its connection, from 1.
    pub of_connection: u64,
    pub protocol: String,
    pub client: String,
    pub server_name: String,
    pub client_name: String,
    /// `r` for a TLS session that was resumed.
    pub resumed: String,
}

/// nginx, which ends with the value. Its certificates are those of [`certificates`].
pub struct Nginx {
    child: Child,
    log: PathBuf,
    /// Plain HTTP/1.1.
    pub port: u16,
    /// Plain HTTP/1.1 on ::1 alone.
    pub port_v6: u16,
    /// TLS, HTTP/1.1 or HTTP/2.
    pub port_tls: u16,
    /// TLS, where the client has to show a certificate.
    pub port_client_tls: u16,
    /// HTTP/2 in clear text.
    pub port_http2: u16,
    pub socket: PathBuf,
}

impl Nginx {
    /// Starts it in the folder of the place.
    pub fn start(place: &Place) -> Nginx {
        Nginx::by(place, Command::new("nginx"))
    }

    /// Starts it on the last CPU of those that there are.
    pub fn start_on_last_cpu(place: &Place) -> Nginx {
        let cpus = rustix::thread::sched_getaffinity(None).expect("CPUs");
        let last = (0..rustix::thread::CpuSet::MAX_CPU).rev().find(|cpu| cpus.is_set(*cpu)).expect("a CPU");
        let mut command = Command::new("taskset");
        command.args(["-c", &last.to_string(), "nginx"]);
        Nginx::by(place, command)
    }

    /// Starts it in a network namespace.
    pub fn start_in(place: &Place, namespace: &str) -> Nginx {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace, "nginx"]);
        Nginx::by(place, command)
    }

    fn by(place: &Place, mut command: Command) -> Nginx {
        certificates(place);
        let path = |name: &str| place.path(name).display().to_string();
        let ports: Vec<TcpListener> = ["127.0.0.1:0", "[::1]:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"]
            .map(|address| TcpListener::bind(address).expect("a free port"))
            .into();
        let port = |index: usize| ports[index].local_addr().expect("an address").port();
        let [port, port_v6, port_tls, port_client_tls, port_http2] = [0, 1, 2, 3, 4].map(port);
        let (log, error_log, pid, socket) =
            (place.path("access.log"), path("error.log"), path("nginx.pid"), place.path("nginx.sock"));
        let [chain, key, ca] = ["server.pem", "server.key", "ca.pem"].map(path);
        let locations = "location / { return 200 'hello\\n'; } location /missing { return 404; } location /moved { return 302 /; }
            location /typed { default_type text/plain; return 200 'orders: 12\\n'; }";
        let tls = format!("ssl_certificate {chain}; ssl_certificate_key {key};");
        let config = format!(
            "daemon off; user root; worker_processes 1; error_log {error_log}; pid {pid};
            events {{ worker_connections 2048; }}
            http {{
                log_format noted '{NOTED}'; access_log {} noted; keepalive_requests 1000000;
                server {{ listen 127.0.0.1:{port}; listen [::1]:{port_v6}; listen unix:{}; {locations} }}
                server {{ listen 127.0.0.1:{port_tls} ssl http2; {tls} {locations} }}
                server {{ listen 127.0.0.1:{port_client_tls} ssl; {tls} ssl_client_certificate {ca}; ssl_verify_client on;
                    {locations} }}
                server {{ listen 127.0.0.1:{port_http2} http2; {locations} }}
            }}",
            log.display(),
            socket.display()
        );
        place.write("nginx.conf", &config);
        drop(ports);
        let child = command
            .args(["-c", &path("nginx.conf"), "-p", &path("")])
            // It tells of warnings before it reads where to.
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts: tests/install-tools nginx installs it");
        let nginx = Nginx { child, log, port, port_v6, port_tls, port_client_tls, port_http2, socket };
        // The socket is there in whatever network namespace nginx is.
        wait_for("nginx", || std::os::unix::net::UnixStream::connect(&nginx.socket).ok());
        nginx
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What it has noted down, once that is at least so many requests.
    pub fn noted(&self, at_least: usize) -> Vec<Noted> {
        wait_for("nginx's notes", || {
            let text = std::fs::read_to_string(&self.log).expect("a log");
            // The last line may be half written.
            let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
            let noted: Vec<Noted> = whole.lines().map(Noted::read).collect();
            (noted.len() >= at_least).then_some(noted)
        })
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its worker with it when it is asked to; a worker without a master would go on.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

impl Noted {
    fn read(line: &str) -> Noted {
        let words: Vec<&str> = line.split('|').collect();
        let word = |index: usize| words[index].trim_matches('-').to_owned();
        Noted {
            method: word(0),
            uri: word(1),
            host: word(2),
            x_test: word(3),
            content_length: word(4),
            connection: words[5].parse().expect("a number"),
            of_connection: words[6].parse().expect("a number"),
            protocol: word(7),
            client: word(8),
            server_name: word(9),
            client_name: word(10),
            resumed: word(11),
        }
    }
}

/// Makes an authority (`ca.pem`), a server's certificate for localhost, shop.test and 127.0.0.1 (`server.pem`, `server.key`), and a
/// client's (`client.pem`, `client.key`).
pub fn certificates(place: &Place) {
    place.write("server.ext", "subjectAltName=DNS:localhost,DNS:shop.test,IP:127.0.0.1\n");
    place.write("client.ext", "extendedKeyUsage=clientAuth\n");
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let ca =
        ["req", "-x509", "-days", "30", "-subj", "/CN=Test Authority", "-keyout", "ca.key", "-out", "ca.pem"];
    openssl(place, &[&ca[..], &key].concat());
    for (name, subject) in [("server", "/CN=shop.test"), ("client", "/CN=Ann")] {
        let [private, request, extensions, chain] =
            ["key", "csr", "ext", "pem"].map(|ending| format!("{name}.{ending}"));
        let ask = ["req", "-subj", subject, "-keyout", &private, "-out", &request];
        openssl(place, &[&ask[..], &key].concat());
        let sign = [
            "x509",
            "-req",
            "-days",
            "30",
            "-in",
            &request,
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
        ];
        openssl(place, &[&sign[..], &["-extfile", &extensions, "-out", &chain]].concat());
    }
}

fn openssl(place: &Place, arguments: &[&str]) {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(place.path(""))
        .output()
        .expect("openssl starts: tests/install-tools openssl installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A network namespace with a name, which ends with the value.
pub struct Namespace(pub String);

impl Namespace {
    pub fn new() -> Namespace {
        let namespace = Namespace(format!("lltest{}", std::process::id()));
        namespace.ip(&["netns", "add", &namespace.0]);
        namespace.ip(&["-n", &namespace.0, "link", "set", "lo", "up"]);
        namespace
    }

    pub fn path(&self) -> PathBuf {
        Path::new("/run/netns").join(&self.0)
    }

    fn ip(&self, arguments: &[&str]) {
        let status = Command::new("ip").args(arguments).status().expect("ip");
        assert!(status.success(), "ip {arguments:?}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Only one that was never made can't be deleted.
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}
