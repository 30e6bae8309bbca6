//! How `loadline load` gets to a service: TLS, HTTP/2, Unix sockets, names, source addresses, network namespaces; against nginx.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::loaded::Loaded;
use crate::support::nginx::{Namespace, Nginx, Noted};
use crate::support::place::Place;
use crate::support::programs;

/// A load that is over soon.
const SHORT: [&str; 4] = ["--rate", "200/s", "--for", "500ms"];
const SENT: usize = 100;

fn with<'a>(first: &[&'a str]) -> Vec<&'a str> {
    [first, &SHORT].concat()
}

/// How many requests each connection carried, those of the last `SENT` requests alone.
fn of_connections(noted: &[Noted]) -> BTreeMap<u64, usize> {
    let mut connections = BTreeMap::new();
    for request in noted {
        *connections.entry(request.connection).or_default() += 1;
    }
    connections
}

#[test]
fn a_server_is_trusted_by_the_authority_that_is_given() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = format!("https://localhost:{}/", nginx.port_tls);
    let loaded = Loaded::run(&place, &with(&[&url, "--ca", "ca.pem", "-c4"]));
    loaded.assert_all_answered();
    assert_eq!(loaded.number("times.tls_handshake.count"), 4);
    assert!(loaded.ended.stdout.contains("4 handshakes of TLS"), "{}", loaded.ended.stdout);
    assert_eq!(nginx.noted(SENT)[0].server_name, "localhost");

    let distrusted = place.run(with(&["load", &url]));
    assert_eq!(distrusted.code, Some(1), "{}", distrusted.stdout);
    assert!(distrusted.stderr.contains("UnknownIssuer"), "{}", distrusted.stderr);
    Loaded::run(&place, &with(&[&url, "--insecure"])).assert_all_answered();

    // The certificate holds for this name as well, and not for that one.
    Loaded::run(&place, &with(&[&url, "--ca", "ca.pem", "--sni", "shop.test"])).assert_all_answered();
    assert_eq!(nginx.noted(3 * SENT).last().expect("a request").server_name, "shop.test");
    let misnamed = place.run(with(&["load", &url, "--ca", "ca.pem", "--sni", "other.test"]));
    assert_eq!(misnamed.code, Some(1), "{}", misnamed.stdout);
}

#[test]
fn a_client_shows_its_certificate() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = format!("https://127.0.0.1:{}/", nginx.port_client_tls);
    let identity = ["--cert", "client.pem", "--key", "client.key"];
    let loaded = Loaded::run(&place, &[&with(&[&url, "--ca", "ca.pem"])[..], &identity].concat());
    loaded.assert_all_answered();
    assert!(nginx.noted(SENT).iter().all(|request| request.client_name == "CN=Ann"));

    // nginx lets anybody shake hands and answers 400.
    let stranger = Loaded::run(&place, &with(&[&url, "--ca", "ca.pem"]));
    assert!(stranger.number("errors.GET /: 400") > 0, "{}", stranger.ended.stdout);
    assert_eq!(stranger.ended.code, Some(3));
}

#[test]
fn sessions_are_resumed_unless_they_must_not_be() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = format!("https://127.0.0.1:{}/", nginx.port_tls);
    let anew = ["--ca", "ca.pem", "--new-connections", "-c1"];
    Loaded::run(&place, &[&with(&[&url])[..], &anew].concat()).assert_all_answered();
    let resumed = nginx.noted(SENT).iter().filter(|request| request.resumed == "r").count();
    assert!(resumed > SENT / 2, "{resumed} of {SENT}");
    Loaded::run(&place, &[&with(&[&url, "--no-resumption"])[..], &anew].concat()).assert_all_answered();
    let noted = nginx.noted(2 * SENT);
    assert!(noted[SENT..].iter().all(|request| request.resumed == "."), "{:?}", noted.last());
}

#[test]
fn http2_is_spoken_over_tls_and_in_clear_text() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let tls = format!("https://127.0.0.1:{}/", nginx.port_tls);
    let clear = format!("http://127.0.0.1:{}/", nginx.port_http2);
    for (round, arguments) in
        [vec![&*tls, "--ca", "ca.pem", "--http2"], vec![&*clear, "--streams", "8", "-c2"]]
            .into_iter()
            .enumerate()
    {
        let loaded = Loaded::run(&place, &with(&arguments));
        loaded.assert_all_answered();
        assert_eq!(loaded.at("options.protocol"), "HTTP/2");
        let noted = nginx.noted((round + 1) * SENT);
        assert!(noted[round * SENT..].iter().all(|request| request.protocol == "HTTP/2.0"), "{arguments:?}");
    }
}

#[test]
fn a_unix_socket_takes_the_place_of_the_urls_host() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let socket = nginx.socket.to_str().expect("text");
    let loaded = Loaded::run(&place, &with(&["http://shop.test/orders", "--unix", socket]));
    loaded.assert_all_answered();
    assert_eq!(loaded.at("options.target"), socket);
    let request = &nginx.noted(SENT)[0];
    assert_eq!((request.client.as_str(), request.host.as_str()), ("unix:", "shop.test"));
}

#[test]
fn localhost_is_wherever_the_service_listens() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    for (port, address) in [(nginx.port, "127.0.0.1"), (nginx.port_v6, "::1")] {
        let url = format!("http://localhost:{port}/");
        for more in [&[][..], &["--new-connections"]] {
            Loaded::run(&place, &[&with(&[&url])[..], more].concat()).assert_all_answered();
            assert_eq!(nginx.noted(1).last().expect("a request").client, address);
        }
    }
    let named = Loaded::run(&place, &with(&[&format!("http://[::1]:{}/", nginx.port_v6)]));
    named.assert_all_answered();
    assert_eq!(nginx.noted(5 * SENT)[4 * SENT].host, format!("[::1]:{}", nginx.port_v6));
}

#[test]
fn a_name_can_be_looked_up_for_every_connection() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = format!("http://localhost:{}/", nginx.port);
    let arguments = ["--resolve", "per-connection", "--new-connections"];
    let loaded = Loaded::run(&place, &[&with(&[&url])[..], &arguments].concat());
    loaded.assert_all_answered();
    assert_eq!(loaded.number("times.resolve.count"), SENT as u64);
    assert!(loaded.ended.stdout.contains("looking up the name (100 times)"), "{}", loaded.ended.stdout);
}

#[test]
fn connections_are_kept_or_opened_anew_as_asked() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    Loaded::run(&place, &with(&[&url, "-c5"])).assert_all_answered();
    let kept = nginx.noted(SENT);
    assert_eq!(of_connections(&kept).len(), 5, "every connection has its turn");

    let anew = Loaded::run(&place, &with(&[&url, "--new-connections"]));
    anew.assert_all_answered();
    assert_eq!(anew.number("times.connect.count"), SENT as u64);
    assert!(anew.ended.stdout.contains("a new one for each request"), "{}", anew.ended.stdout);
    let noted = nginx.noted(2 * SENT);
    assert!(of_connections(&noted[SENT..]).values().all(|count| *count == 1));

    Loaded::run(&place, &with(&[&url, "--requests-per-connection", "4", "-c1"])).assert_all_answered();
    let noted = nginx.noted(3 * SENT);
    assert!(
        of_connections(&noted[2 * SENT..]).values().all(|count| *count == 4),
        "{:?}",
        of_connections(&noted)
    );
}

#[test]
fn requests_come_from_the_address_and_interface_that_are_named() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    let loaded = Loaded::run(&place, &with(&[&url, "--source", "127.0.0.9", "--interface", "lo"]));
    loaded.assert_all_answered();
    assert!(nginx.noted(SENT).iter().all(|request| request.client == "127.0.0.9"));
}

#[test]
fn a_network_namespace_is_entered_by_name_or_path() {
    let place = Place::new();
    let namespace = Namespace::new();
    let nginx = Nginx::start_in(&place, &namespace.0);
    let url = nginx.url("/");
    let outside = place.run(with(&["load", &url]));
    assert_eq!(outside.code, Some(1), "nothing listens here: {}", outside.stdout);
    for name in [namespace.0.as_str(), namespace.path().to_str().expect("text")] {
        Loaded::run(&place, &with(&[&url, "--netns", name])).assert_all_answered();
    }
    // Two load threads and the one that looks names up are all inside.
    let named = format!("http://localhost:{}/", nginx.port);
    let arguments = ["--netns", &namespace.0, "--threads", "2", "--resolve", "per-connection"];
    Loaded::run(&place, &[&with(&[&named])[..], &arguments].concat()).assert_all_answered();
}

#[test]
fn responses_are_stamped_by_the_kernel_when_asked() {
    let place = Place::new();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    let loaded = Loaded::run(&place, &with(&[&url, "--timestamps", "kernel"]));
    loaded.assert_all_answered();
    assert_eq!(loaded.at("options.timestamps"), "kernel");
    assert!(loaded.number("times.service.p50_ns") > 1000, "{}", loaded.ended.stdout);
}

#[test]
fn a_self_signed_certificate_is_trusted_when_it_is_named() {
    let place = Place::new();
    let make =
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    let what = [
        "-keyout",
        "self.key",
        "-out",
        "self.pem",
        "-subj",
        "/CN=shop",
        "-addext",
        "subjectAltName=DNS:localhost",
    ];
    let made =
        Command::new("openssl").args(make).args(what).current_dir(&place.dir).output().expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    place.write("server.py", &programs::over_tls());
    let python =
        Command::new("python3").arg("server.py").current_dir(&place.dir).stdout(Stdio::piped()).spawn();
    let mut server = Killed(python.expect("python3"));
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut port).expect("a port");
    let url = |host: &str| format!("https://{host}:{}/", port.trim());

    // As `curl --cacert self.pem` does.
    Loaded::run(&place, &with(&[&url("localhost"), "--ca", "self.pem", "-c2"])).assert_all_answered();
    for (arguments, words) in [
        (vec![url("localhost")], "signed by itself (CaUsedAsEndEntity): trust it (--ca FILE), or accept any"),
        (vec![url("127.0.0.1"), "--ca".to_owned(), "self.pem".to_owned()], "is not for `127.0.0.1`"),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refused = place.run(with(&[&["load"], &arguments[..]].concat()));
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It never ends by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
