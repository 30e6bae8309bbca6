//! The HTTP/2 protocol against a real server: nginx, in cleartext and from the first byte on.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use loadline_engine::http2::{Event, Http2, StreamError, encode_head};

const PAGE: usize = 12_345;
const LARGE: usize = 2 << 20;
const NO_LIMIT: u32 = 1_000_000;

/// An nginx of its own, which ends with the test.
struct Nginx {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Nginx {
    /// `keepalive_requests` is after how many requests it says goodbye on a connection.
    fn start(name: &str, keepalive_requests: u32) -> Nginx {
        // nginx can't be handed sockets, so it gets ports that were free a moment ago and may be taken since.
        let mut log = String::new();
        for _ in 0..5 {
            match Nginx::try_start(name, keepalive_requests) {
                Ok(nginx) => return nginx,
                Err(error) => log = error,
            }
        }
        panic!("nginx does not listen: {log}");
    }

    /// The error is its log.
    fn try_start(name: &str, keepalive_requests: u32) -> Result<Nginx, String> {
        let folder = format!("nginx-{name}-{}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
        fs::create_dir_all(folder.join("www")).unwrap();
        fs::write(folder.join("www/page"), vec![b'p'; PAGE]).unwrap();
        fs::write(folder.join("www/large"), vec![b'l'; LARGE]).unwrap();
        let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [port, upstream_port] = free.map(|socket| socket.local_addr().unwrap().port());
        let configuration = format!(
            "daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log;
            events {{ worker_connections 64; }}
            http {{
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                keepalive_requests {keepalive_requests};
                client_max_body_size 2m;
                server {{
                    listen 127.0.0.1:{port} http2;
                    root {folder}/www;
                    location /put/ {{ dav_methods PUT; create_full_put_path on; }}
                    location /post {{ proxy_pass http://127.0.0.1:{upstream_port}; }}
                    location /narrow {{ client_max_body_size 1k; proxy_pass http://127.0.0.1:{upstream_port}; }}
                    location /none {{ return 204; }}
                }}
                server {{
                    listen 127.0.0.1:{upstream_port};
                    location / {{ return 200 $http_content_length; }}
                }}
            }}",
            folder = folder.display()
        );
        fs::write(folder.join("nginx.conf"), configuration).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let child = Command::new("nginx")
            .env("PATH", format!("{path}:/usr/sbin:/sbin"))
            .arg("-p")
            .arg(&folder)
            .args(["-c", "nginx.conf", "-e", "error.log"])
            .stdin(Stdio::null())
            .spawn()
            .expect("nginx cannot be started: is it installed? (Debian: nginx-light; or tests/install-tools nginx)");
        let mut nginx = Nginx { child, folder, port };
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let has_ended = nginx.child.try_wait().unwrap().is_some();
            let log = fs::read_to_string(nginx.folder.join("error.log")).unwrap_or_default();
            if has_ended || Instant::now() > deadline {
                return Err(log);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[derive(Clone)]
struct Request {
    method: &'static str,
    path: &'static str,
    body: Vec<u8>,
}

fn request(method: &'static str, path: &'static str, body: Vec<u8>) -> Request {
    Request { method, path, body }
}

/// A response as far as the tests look at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }
}

/// Has all requests answered, so many at once, over as many connections as it takes; the responses are in the order of the
/// requests, the number of connections beside them.
fn drive(nginx: &Nginx, streams: usize, requests: &[Request]) -> (Vec<Response>, usize) {
    let mut http2 = Http2::new(streams);
    let mut responses = vec![Response::default(); requests.len()];
    // Requests still to send, the last one first, and which one each slot has.
    let mut to_send: Vec<usize> = (0..requests.len()).rev().collect();
    let mut in_slot = vec![0; streams];
    let (mut connections, mut answered) = (0, 0);
    let mut input = vec![0; 16_000];
    while answered < requests.len() {
        connections += 1;
        let mut socket = TcpStream::connect(("127.0.0.1", nginx.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        http2.reset();
        let mut out = Vec::new();
        http2.open(&mut out);
        loop {
            while http2.capacity() > 0
                && let Some(index) = to_send.pop()
            {
                let Request { method, path, body } = &requests[index];
                let length = (!body.is_empty()).then_some(body.len());
                let head = encode_head(method, "http", "localhost", path, &[], length);
                let slot = http2.request(&head, body, *method == "HEAD", &mut out).unwrap();
                in_slot[slot] = index;
                responses[index] = Response::default();
            }
            if http2.under_way() == 0 && (http2.is_closing() || answered == requests.len()) {
                break;
            }
            socket.write_all(&out).unwrap();
            out.clear();
            let count = socket.read(&mut input).unwrap();
            assert!(count > 0, "nginx closed the connection with {} requests under way", http2.under_way());
            let on_event = &mut |event: Event<'_>| match event {
                Event::Header { slot, name, value } => {
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    responses[in_slot[slot]].headers.push((text(name), text(value)));
                }
                Event::Body { slot, bytes } => responses[in_slot[slot]].body.extend_from_slice(bytes),
                Event::Complete { slot, status } => {
                    responses[in_slot[slot]].status = status;
                    answered += 1;
                }
                Event::Reset { slot, reason: StreamError::Refused } => to_send.push(in_slot[slot]),
                Event::Reset { reason, .. } => panic!("{reason}"),
            };
            http2.feed(&input[..count], &mut out, on_event).unwrap();
        }
    }
    (responses, connections)
}

#[test]
fn a_thousand_requests_over_eight_streams_are_all_answered() {
    let nginx = Nginx::start("thousand", NO_LIMIT);
    let (responses, connections) = drive(&nginx, 8, &vec![request("GET", "/page", vec![]); 1000]);
    assert_eq!(connections, 1);
    for response in &responses {
        assert_eq!((response.status, response.body.len()), (200, PAGE));
        assert_eq!(response.header(":status"), Some("200"));
        assert_eq!(response.header("content-length"), Some("12345"));
        assert!(response.header("server").unwrap().starts_with("nginx"));
        assert!(response.header("date").unwrap().ends_with(" GMT"));
    }
}

#[test]
fn every_kind_of_response_may_share_a_connection() {
    let nginx = Nginx::start("kinds", NO_LIMIT);
    let kinds = [
        (request("GET", "/page", vec![]), 200, PAGE),
        (request("HEAD", "/page", vec![]), 200, 0),
        (request("GET", "/none", vec![]), 204, 0),
        (request("GET", "/large", vec![]), 200, LARGE),
        (request("POST", "/post", vec![b'x'; 1000]), 200, 4),
        (request("HEAD", "/missing", vec![]), 404, 0),
    ];
    let requests: Vec<Request> = kinds.iter().cycle().take(120).map(|kind| kind.0.clone()).collect();
    let (responses, connections) = drive(&nginx, 16, &requests);
    assert_eq!(connections, 1);
    for (response, (_, status, length)) in responses.iter().zip(kinds.iter().cycle()) {
        assert_eq!((response.status, response.body.len()), (*status, *length));
    }
}

#[test]
fn a_large_response_arrives_whole() {
    let nginx = Nginx::start("large", NO_LIMIT);
    let (responses, _) = drive(&nginx, 1, &[request("GET", "/large", vec![])]);
    assert_eq!(responses[0].status, 200);
    assert!(responses[0].body == vec![b'l'; LARGE]);
}

#[test]
fn a_large_body_arrives_whole_as_the_windows_open() {
    let nginx = Nginx::start("upload", NO_LIMIT);
    let body: Vec<u8> = (0..1_u32 << 20).map(|index| (index % 251) as u8).collect();
    let requests = [
        request("POST", "/post", body.clone()),
        request("PUT", "/put/body", body.clone()),
        request("POST", "/post", body.clone()),
    ];
    let (responses, connections) = drive(&nginx, 3, &requests);
    assert_eq!(connections, 1);
    assert_eq!(responses.iter().map(|response| response.status).collect::<Vec<_>>(), [200, 201, 200]);
    assert_eq!((&responses[0].body[..], &responses[2].body[..]), (&b"1048576"[..], &b"1048576"[..]));
    assert!(fs::read(nginx.folder.join("www/put/body")).unwrap() == body);
}

#[test]
fn a_body_that_is_refused_early_leaves_the_connection_usable() {
    let nginx = Nginx::start("refused", NO_LIMIT);
    let requests = [
        request("POST", "/narrow", vec![0; 1 << 20]),
        request("GET", "/page", vec![]),
        request("POST", "/narrow", vec![0; 1 << 20]),
        request("POST", "/post", vec![0; 1 << 20]),
    ];
    let (responses, connections) = drive(&nginx, 1, &requests);
    assert_eq!(connections, 1);
    assert_eq!(responses.iter().map(|response| response.status).collect::<Vec<_>>(), [413, 200, 413, 200]);
}

#[test]
fn when_nginx_says_goodbye_the_rest_is_answered_on_further_connections() {
    let nginx = Nginx::start("goodbye", 100);
    let (responses, connections) = drive(&nginx, 8, &vec![request("GET", "/page", vec![]); 1000]);
    assert!(responses.iter().all(|response| (response.status, response.body.len()) == (200, PAGE)));
    assert!((10..=20).contains(&connections), "{connections} connections");
}
