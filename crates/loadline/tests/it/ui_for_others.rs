//! `loadline ui` for other machines: over TLS or plainly, with a token from a file, and clients that take nothing of what they asked for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::nginx::certificates;
use crate::support::place::Place;
use crate::support::served::{Answer, Served, answer_of, peak_memory_kib};

const TOKEN: &str = "a-token-of-the-tests-own";
/// Requests that a slow client sends at once.
const PIPELINED: usize = 40;

/// Starts it on all addresses, known as `shop.test` and with [`TOKEN`].
fn serve(place: &Place, options: &[&str]) -> Served {
    place.write("token", &format!("{TOKEN}\n"));
    let common = ["--listen", "0.0.0.0:0", "--name", "shop.test", "--token-file", "token"];
    Served::start_with(place, &[&common[..], options].concat())
}

/// `GET /` over TLS, with the server's name and certificate checked.
fn get_over_tls(place: &Place, served: &Served, head: &str) -> Answer {
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-verify_return_error", "-CAfile", "ca.pem", "-servername", "shop.test"])
        .args(["-verify_hostname", "shop.test", "-connect", &format!("127.0.0.1:{}", served.port())])
        .current_dir(place.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("openssl starts");
    let request =
        format!("GET / HTTP/1.1\r\nHost: shop.test:{}\r\nConnection: close\r\n{head}\r\n", served.port());
    // Kept open: openssl ends with its input.
    let mut input = client.stdin.take().expect("its input");
    input.write_all(request.as_bytes()).expect("it reads");
    let mut bytes = Vec::new();
    client.stdout.take().expect("its output").read_to_end(&mut bytes).expect("an answer");
    drop(input);
    let ended = client.wait_with_output().expect("it ends");
    assert!(!bytes.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    answer_of(&bytes)
}

#[test]
fn with_a_certificate_it_is_reached_over_tls_alone() {
    let place = Place::cleaning();
    certificates(&place);
    let served = serve(&place, &["--certificate", "server.pem", "--key", "server.key"]);
    assert_eq!(served.url, format!("https://shop.test:{}/?token={TOKEN}", served.port()));
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    let home = get_over_tls(&place, &served, &bearer);
    assert_eq!(home.status, 200, "{home:?}");
    assert!(home.body.contains("<title>loadline"), "{home:?}");
    assert_eq!(get_over_tls(&place, &served, "").status, 401);

    // Who speaks plainly, or says nothing at all, is sent away.
    let begun = Instant::now();
    for said in [&b"GET / HTTP/1.1\r\n\r\n"[..], b""] {
        let mut stream = served.connect();
        stream.write_all(said).expect("it listens");
        let mut answered = Vec::new();
        let _ = stream.read_to_end(&mut answered);
        assert!(!answered.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&answered));
    }
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    assert_eq!(get_over_tls(&place, &served, &bearer).status, 200, "it goes on");
    served.server.send(Signal::TERM);
    assert_eq!(served.server.wait().code, Some(0));
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let place = Place::cleaning();
    certificates(&place);
    place.write("empty.pem", "");
    for (chain, key, why) in [
        ("gone.pem", "server.key", "gone.pem"),
        ("empty.pem", "server.key", "empty.pem"),
        ("server.pem", "server.pem", "server.pem"),
        // The key of another certificate.
        ("server.pem", "client.key", "server.pem"),
    ] {
        let refused = place.run(["ui", "--listen", "127.0.0.1:0", "--certificate", chain, "--key", key]);
        assert!(matches!(refused.code, Some(1 | 2)), "{chain} {key}: {:?} {}", refused.code, refused.stderr);
        let complaint = format!("cannot use the certificate {why}: ");
        assert!(refused.stderr.contains(&complaint), "{chain} {key}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "no address is printed");
    }
}

#[test]
fn only_who_asks_for_it_is_served_without_tls_and_with_a_new_token_at_each_start() {
    let place = Place::cleaning();
    let served = serve(&place, &["--plain-http"]);
    assert_eq!(served.url, format!("http://shop.test:{}/?token={TOKEN}", served.port()));
    let host = format!("Host: shop.test:{}", served.port());
    let answer = served.ask_with("GET /api/runs", &[host, served.bearer()], "");
    assert_eq!(answer.status, 200, "{answer:?}");
    // By each address of the machine, and by no name that it was not given.
    for (host, status) in [
        (format!("192.0.2.7:{}", served.port()), 200),
        (format!("[2001:db8::7]:{}", served.port()), 200),
        ("192.0.2.7:1".to_owned(), 421),
        (format!("evil.example:{}", served.port()), 421),
    ] {
        let answer = served.ask_with("GET /api/runs", &[format!("Host: {host}"), served.bearer()], "");
        assert_eq!(answer.status, status, "{host}: {answer:?}");
    }
    // A page at another address with the same port is another server's.
    let own = format!("192.0.2.7:{}", served.port());
    let cookie = format!("Cookie: loadline-{}={TOKEN}", served.port());
    for (origin, status) in [(own.as_str(), 404), (&format!("203.0.113.5:{}", served.port()), 403)] {
        let lines = [format!("Host: {own}"), cookie.clone(), format!("Origin: http://{origin}")];
        let answer = served.ask_with("DELETE /api/runs/1", &lines, "");
        assert_eq!(answer.status, status, "{origin}: {answer:?}");
    }
    served.server.send(Signal::TERM);
    assert_eq!(served.server.wait().code, Some(0));

    place.write("short", "too-short\n");
    let refused = place.run(["ui", "--listen", "127.0.0.1:0", "--token-file", "short"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("16 letters"), "{}", refused.stderr);

    // The token of a server that has ended, at the next one on its port.
    let first = Served::start(&place);
    let (stale, port) = (first.bearer(), first.port());
    first.server.send(Signal::TERM);
    assert_eq!(first.server.wait().code, Some(0));
    let next = Served::start_with(&place, &["--listen", &format!("127.0.0.1:{port}")]);
    assert_eq!(next.ask_with("GET /api/runs", &[next.host(), stale], "").status, 401);
    assert_eq!(next.get("/api/runs").status, 200);
}

#[test]
fn clients_that_take_nothing_of_what_they_asked_for_hold_up_nobody() {
    let place = Place::cleaning();
    let short =
        ["--slice", "100ms", "--blocks", "2", "--deployments", "2", "--warmup", "1s", "--repeats", "0"];
    place.run(["compare", "--on", "host", "--on", "pod"].into_iter().chain(short)).assert_measured();
    let served = Served::start(&place);
    let page = served.get("/runs/1");
    assert_eq!(page.status, 200, "{page:?}");
    let peak = || peak_memory_kib(served.server.id());
    let before = peak();
    // More than the kernel keeps for a connection.
    let request = format!("GET /runs/1 HTTP/1.1\r\n{}\r\n{}\r\n\r\n", served.host(), served.bearer());
    let mut slow: Vec<TcpStream> = (0..50).map(|_| served.connect()).collect();
    for stream in &mut slow {
        stream.write_all(request.repeat(PIPELINED).as_bytes()).expect("it is read");
    }
    for _ in 0..3 {
        let again = served.get("/runs/1");
        assert_eq!((again.status, again.body.len()), (200, page.body.len()), "a whole page");
    }
    // Longer than the server waits for a client that takes nothing.
    std::thread::sleep(Duration::from_secs(35));
    for mut stream in slow {
        let mut taken = Vec::new();
        let _ = stream.read_to_end(&mut taken);
        assert!(taken.len() < PIPELINED * page.body.len(), "all {} bytes were sent", taken.len());
    }
    assert_eq!(served.get("/api/runs").status, 200);
    let grown = peak() - before;
    assert!(grown < 200 << 10, "{grown} KiB more than before");
}
