//! TLS against nginx and Caddy with certificates of the tests' own: whom the engine trusts, as whom it comes, and what it resumes.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::servers::caddy::Caddy;
use crate::servers::certificates::Certificates;
use crate::servers::nginx::{Nginx, connections};
use crate::servers::{free_port, local};
use crate::support::{drive, options, options_for, slice};
use loadline_engine::{
    ClientIdentity, Endpoint, Engine, ErrorKind, Options, Record, Request, Reuse, Tls, TlsOptions,
    read_tls_files,
};

fn endpoint(address: SocketAddr, host: &str, options: &TlsOptions<PathBuf>) -> Endpoint {
    Endpoint {
        tls: Some(Tls::new(host, &read_tls_files(options).unwrap(), false).unwrap()),
        authority: host.to_owned(),
        ..Endpoint::from(address)
    }
}

/// Trusts the tests' own authority.
fn trusting(certificates: &Certificates) -> TlsOptions<PathBuf> {
    TlsOptions { ca: Some(certificates.certificate("ca")), ..TlsOptions::default() }
}

/// nginx that presents `one`, with these lines besides.
fn nginx(certificates: &Certificates, lines: &str) -> (Nginx, SocketAddr) {
    let address = local(free_port());
    let one = certificates.for_nginx("one");
    (
        Nginx::start(
            &format!("server {{ listen {address} ssl; {one} {lines} location / {{ return 200 ok; }} }}"),
            &[],
        ),
        address,
    )
}

fn all_are_answered(options: &Options) -> Record {
    let record = drive(options, "200/s", 0.25);
    assert_eq!((record.due, record.answered, record.errors.total()), (50, 50, 0), "{:?}", record.errors);
    record
}

fn refusal(options: &Options) -> String {
    Engine::start(options).unwrap().drive(slice("10/s", 0.1)).unwrap_err().to_string()
}

#[test]
fn an_authority_that_is_given_is_trusted() {
    let certificates = Certificates::make();
    let (nginx, address) = nginx(&certificates, "");
    for (host, served) in [("one.test", "one.test"), ("localhost", "localhost"), ("127.0.0.1", "-")] {
        let record = all_are_answered(&options(endpoint(address, host, &trusting(&certificates)), 2));
        assert_eq!((record.handshake.len(), record.connect.len(), record.reconnects), (2, 2, 0));
        assert!(record.handshake.min() > 100_000, "a handshake of {} ns", record.handshake.min());
        // An address is no name to ask for (RFC 6066, section 3).
        assert_eq!(nginx.log(50).last().unwrap().server_name, served);
        std::fs::write(nginx.path("access.log"), "").unwrap();
    }
}

#[test]
fn another_authority_is_refused_with_the_reason() {
    let certificates = Certificates::make();
    let (_nginx, address) = nginx(&certificates, "");
    let options_of = |tls| options(endpoint(address, "one.test", &tls), 2);
    let stranger = TlsOptions { ca: Some(certificates.certificate("stranger")), ..TlsOptions::default() };
    let error = refusal(&options_of(stranger.clone()));
    assert!(error.contains("cannot connect") && error.contains("UnknownIssuer"), "{error}");
    let insecure = TlsOptions { insecure: true, ..stranger };
    all_are_answered(&options_of(insecure));
}

#[test]
fn a_certificate_for_another_name_is_refused_with_the_reason() {
    let certificates = Certificates::make();
    let (_nginx, address) = nginx(&certificates, "");
    let error = refusal(&options(endpoint(address, "three.test", &trusting(&certificates)), 1));
    assert!(error.contains("cannot connect") && error.contains("three.test"), "{error}");
    let named = TlsOptions { server_name: Some("one.test".to_owned()), ..trusting(&certificates) };
    all_are_answered(&options(endpoint(address, "three.test", &named), 1));
}

#[test]
fn the_name_that_is_asked_for_chooses_the_server() {
    let certificates = Certificates::make();
    let address = local(free_port());
    let server = |name: &str, status: u16| {
        let lines = certificates.for_nginx(name);
        format!(
            "server {{ listen {address} ssl; server_name {name}.test; {lines} location / {{ return {status}; }} }}"
        )
    };
    let nginx = Nginx::start(&(server("one", 200) + &server("two", 204)), &[]);
    for (host, status) in [("one.test", 200), ("two.test", 204)] {
        all_are_answered(&options(endpoint(address, host, &trusting(&certificates)), 1));
        let log = nginx.log(50);
        assert!(
            log[log.len() - 50..]
                .iter()
                .all(|request| request.status == status && request.server_name == host)
        );
        std::fs::write(nginx.path("access.log"), "").unwrap();
    }
}

#[test]
fn a_certificate_of_the_client_is_presented_when_it_is_demanded() {
    let certificates = Certificates::make();
    let authority = certificates.certificate("ca");
    let lines = format!("ssl_verify_client on; ssl_client_certificate {};", authority.display());
    let (nginx, address) = nginx(&certificates, &lines);
    let without = drive(&options(endpoint(address, "one.test", &trusting(&certificates)), 1), "200/s", 0.05);
    // nginx says so in HTTP: 400 No required SSL certificate was sent.
    assert_eq!((without.answered, without.errors.of(ErrorKind::Status)), (10, 10), "{:?}", without.errors);
    let identity = Some(ClientIdentity {
        certificate: certificates.certificate("client"),
        key: certificates.key("client"),
    });
    let with = TlsOptions { identity, ..trusting(&certificates) };
    all_are_answered(&options(endpoint(address, "one.test", &with), 2));
    assert!(nginx.log(60)[10..].iter().all(|request| request.client_subject == "CN=client"));
}

#[test]
fn sessions_are_resumed_unless_they_must_not_be() {
    let certificates = Certificates::make();
    for version in ["TLSv1.2", "TLSv1.3"] {
        let (nginx, address) =
            nginx(&certificates, &format!("ssl_protocols {version}; ssl_session_cache shared:a:1m;"));
        for no_resumption in [false, true] {
            let tls = TlsOptions { no_resumption, ..trusting(&certificates) };
            let options = Options { reuse: Reuse::Never, ..options(endpoint(address, "one.test", &tls), 2) };
            let record = all_are_answered(&options);
            assert_eq!((record.handshake.len(), record.connect.len()), (50, 50));
            let log = nginx.log(50);
            let resumed = log.iter().filter(|request| request.resumed).count();
            assert_eq!(connections(&log), 50);
            if no_resumption {
                assert_eq!(resumed, 0, "{version}");
            } else {
                // The first ones have nothing to resume yet.
                assert!(resumed >= 45, "{version}: {resumed} of 50");
            }
            std::fs::write(nginx.path("access.log"), "").unwrap();
        }
    }
}

#[test]
fn requests_and_responses_larger_than_tls_records_and_socket_buffers_pass_whole() {
    let certificates = Certificates::make();
    let lines = "client_max_body_size 0; root {folder}; location = /large { } location = /upload { dav_methods PUT; }";
    let address = local(free_port());
    let one = certificates.for_nginx("one");
    let large = vec![b'x'; 10 << 20];
    let nginx =
        Nginx::start(&format!("server {{ listen {address} ssl; {one} {lines} }}"), &[("large", &large)]);
    let endpoint = endpoint(address, "one.test", &trusting(&certificates));
    let upload = Request { method: "PUT".into(), body: large.clone(), ..Request::get("/upload") };
    let record = drive(&options_for(endpoint, 2, &[Request::get("/large"), upload]), "10/s", 1.0);
    assert_eq!((record.answered, record.errors.total()), (10, 0), "{:?}", record.errors);
    let log = nginx.log(10);
    let downloads = log.iter().filter(|request| request.path == "/large").count();
    assert!((1..10).contains(&downloads) && record.received_bytes > downloads as u64 * (10 << 20));
    assert!(std::fs::read(nginx.path("upload")).unwrap() == large, "what arrived is not what was sent");
}

#[test]
fn caddy_is_spoken_to() {
    let certificates = Certificates::make();
    let (certificate, key) = (certificates.certificate("one"), certificates.key("one"));
    let site = format!("tls {} {}\n respond ok", certificate.display(), key.display());
    let caddy = Caddy::start("https", &site, &[]);
    let tls = trusting(&certificates);
    let record = all_are_answered(&options(endpoint(caddy.address, "one.test", &tls), 4));
    assert_eq!((record.handshake.len(), record.reconnects), (4, 0));
}

#[test]
fn a_server_that_does_not_speak_tls_is_refused_with_the_reason() {
    let address = local(free_port());
    let _nginx =
        Nginx::start(&format!("server {{ listen {address}; location / {{ return 200 ok; }} }}"), &[]);
    let tls = TlsOptions { insecure: true, ..TlsOptions::default() };
    let error = refusal(&options(endpoint(address, "one.test", &tls), 1));
    assert!(error.contains("cannot connect") && error.to_lowercase().contains("tls"), "{error}");
}
