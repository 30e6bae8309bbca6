//! What a client does where TLS is spoken.

use std::path::{Path, PathBuf};

use loadline_model::load::{ClientIdentity, TlsOptions};

use super::{TLS, way_out};
use crate::error::{Complaint, Place, Problems};
use crate::files::existing;
use crate::kinds::{Scalar, switch, trimmed};
use crate::options::{Table, Written};

/// What is written of TLS. Paths are relative to the experiment file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TlsKeys {
    ca: Option<String>,
    cert: Option<String>,
    key: Option<String>,
    server_name: Option<String>,
    insecure: bool,
    resumption: bool,
}

impl Default for TlsKeys {
    fn default() -> TlsKeys {
        TlsKeys { ca: None, cert: None, key: None, server_name: None, insecure: false, resumption: true }
    }
}

pub(super) fn table() -> Table<TlsKeys> {
    let file = || -> Scalar<String> { trimmed().placeholder("FILE") };
    Table::<TlsKeys>::new("Tls", "tls", "What the client does where https is spoken")
        .key("ca", file(), "Certificates to trust instead of the system's (PEM)", |tls| &mut tls.ca)
        .flag("--ca", TLS)
        .key("cert", file(), "The client's own certificate (PEM)", |tls| &mut tls.cert)
        .flag("--cert", TLS)
        .key("key", file(), "Key of the client's certificate (PEM)", |tls| &mut tls.key)
        .flag("--key", TLS)
        .key(
            "server_name",
            trimmed().placeholder("NAME"),
            "Name to ask for and to check the certificate against, instead of the URL's host or the service's address",
            |tls| &mut tls.server_name,
        )
        .flag("--sni", TLS)
        .key("insecure", switch(), "Accept any certificate", |tls| &mut tls.insecure)
        .switch("--insecure", TLS, "true", "Accept any certificate")
        .key(
            "resumption",
            switch(),
            "Resume sessions, as clients do; otherwise each connection makes a full handshake",
            |tls| &mut tls.resumption,
        )
}

impl TlsKeys {
    /// What is written of the options.
    pub fn of(options: &TlsOptions<PathBuf>) -> TlsKeys {
        let text = |path: &PathBuf| path.display().to_string();
        let identity = options.identity.as_ref();
        TlsKeys {
            ca: options.ca.as_ref().map(text),
            cert: identity.map(|identity| text(&identity.certificate)),
            key: identity.map(|identity| text(&identity.key)),
            server_name: options.server_name.clone(),
            insecure: options.insecure,
            resumption: !options.no_resumption,
        }
    }
}

/// The place of what was written first.
pub(super) fn place(written: &Written<TlsKeys>) -> &Place {
    let keys = ["ca", "cert", "key", "server_name", "insecure", "resumption"];
    match written.place {
        Place::CommandLine => {
            keys.iter().find(|key| written.has(key)).map_or(&written.place, |key| written.place_of(key))
        }
        _ => &written.place,
    }
}

/// The options, with paths of files that exist.
pub(super) fn tls(
    written: &Written<TlsKeys>,
    folder: Option<&Path>,
    problems: &mut Problems,
) -> Option<TlsOptions<PathBuf>> {
    let before = problems.count();
    let keys = &written.value;
    let mut file = |key: &str, path: &Option<String>| {
        path.as_ref().and_then(|path| existing(folder, path, written.place_of(key), problems))
    };
    let (ca, certificate, key) = (file("ca", &keys.ca), file("cert", &keys.cert), file("key", &keys.key));
    if keys.cert.is_some() != keys.key.is_some() {
        let place = written.place_of(if keys.cert.is_some() { "cert" } else { "key" });
        let help = way_out(place, "write `cert` and `key`, each a PEM file", "give both --cert and --key");
        problems.add(place, Complaint::new("a client's certificate and its key belong together").help(help));
    }
    let options = TlsOptions {
        ca,
        identity: certificate.zip(key).map(|(certificate, key)| ClientIdentity { certificate, key }),
        server_name: keys.server_name.clone(),
        insecure: keys.insecure,
        no_resumption: !keys.resumption,
    };
    (problems.count() == before).then_some(options)
}
