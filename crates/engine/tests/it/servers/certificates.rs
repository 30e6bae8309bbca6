//! A certificate authority of the tests' own, with certificates for servers and a client, made by openssl.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::Process;

/// PEM files in a temporary folder: `NAME.pem` and `NAME.key` for each name.
pub struct Certificates {
    folder: TempDir,
}

impl Certificates {
    /// An authority `ca` with certificates for the servers `one` (one.test, localhost, 127.0.0.1) and `two` (two.test) and for the
    /// client `client`; and another authority, `stranger`, that has nothing to do with them.
    pub fn make() -> Certificates {
        let folder = Process::folder();
        let path = folder.path();
        for authority in ["ca", "stranger"] {
            make(path, authority, &["-addext", "basicConstraints=critical,CA:TRUE"]);
        }
        let signed =
            ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE", "-addext"];
        for (name, names) in [
            ("one", "subjectAltName=DNS:one.test,DNS:localhost,IP:127.0.0.1"),
            ("two", "subjectAltName=DNS:two.test"),
            ("client", "extendedKeyUsage=clientAuth"),
        ] {
            make(path, name, &[&signed[..], &[names]].concat());
        }
        Certificates { folder }
    }

    pub fn certificate(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.pem"))
    }

    pub fn key(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.key"))
    }

    /// The lines of an nginx server that presents this certificate.
    pub fn for_nginx(&self, name: &str) -> String {
        format!(
            "ssl_certificate {}; ssl_certificate_key {};",
            self.certificate(name).display(),
            self.key(name).display()
        )
    }
}

fn make(folder: &Path, name: &str, more: &[&str]) {
    let output = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "30",
        ])
        .args([
            "-subj",
            &format!("/CN={name}"),
            "-keyout",
            &format!("{name}.key"),
            "-out",
            &format!("{name}.pem"),
        ])
        .args(more)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("can't start openssl: {error}; tests/install-tools installs it"));
    assert!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
}
