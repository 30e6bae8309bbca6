//! TLS by rustls: what a client trusts and presents, and the session of one connection over a socket that never blocks.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadline_model::load::{ClientIdentity, FileContents, TlsOptions};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};

use super::{Plain, Received};
use crate::clock::Nanos;

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A PEM file cannot be read or contains nothing of the kind.
    #[error("cannot read {what} from {path}: {source}")]
    Pem {
        /// What was looked for.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: rustls::pki_types::pem::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A PEM file without a certificate.
    #[error("{0} contains no certificate: give a PEM file with at least one")]
    Empty(PathBuf),
    /// The host is neither a DNS name nor an address.
    #[error("`{0}` is not a valid TLS server name: give a DNS name or an address")]
    Name(String),
    /// The system has no certificates.
    #[error("cannot read the system's certificates: name the certificate to trust (`ca`)")]
    NoRoots,
    /// rustls refuses the certificates or the key.
    #[error("cannot set up TLS: {0}")]
    Refused(#[from] rustls::Error),
}

/// TLS of an endpoint. Cheap to clone; clones share the sessions that can be resumed.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
    http2: bool,
}

impl Tls {
    /// TLS to `host` as the options say; `http2`: whether HTTP/2 (ALPN `h2`) is offered, instead of HTTP/1.1.
    ///
    /// # Errors
    /// When a file is not what it should be, the name is not one, or certificate and key do not match.
    pub fn new(host: &str, options: &TlsOptions<FileContents>, http2: bool) -> Result<Tls, TlsError> {
        let name = options.server_name.as_deref().unwrap_or(host);
        let server_name =
            ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name(name.to_owned()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let verified_by = |trust| Arc::new(Verifier { provider: provider.clone(), trust });
        let builder = if options.insecure {
            builder.dangerous().with_custom_certificate_verifier(verified_by(Trust::Any))
        } else {
            let roots = Arc::new(roots(options.ca.as_ref())?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
            let webpki = verifier.map_err(|error| rustls::Error::General(error.to_string()))?;
            match &options.ca {
                None => builder.with_webpki_verifier(webpki),
                Some(ca) => {
                    let trust = Trust::Named { webpki, certificates: certificates(ca)? };
                    builder.dangerous().with_custom_certificate_verifier(verified_by(trust))
                }
            }
        };
        let mut config = match &options.identity {
            Some(ClientIdentity { certificate, key }) => {
                builder.with_client_auth_cert(certificates(certificate)?, private_key(key)?)?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![if http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        if options.no_resumption {
            config.resumption = Resumption::disabled();
        }
        Ok(Tls { config: Arc::new(config), server_name, http2 })
    }
}

/// Reads the files that the options name.
///
/// # Errors
/// With the first file that cannot be read.
pub fn read_tls_files<P: AsRef<Path>>(options: &TlsOptions<P>) -> Result<TlsOptions<FileContents>, TlsError> {
    options.with_files(|path| {
        let path = path.as_ref().to_owned();
        match std::fs::read(&path) {
            Ok(bytes) => Ok(FileContents { path, bytes: bytes.into() }),
            Err(source) => Err(TlsError::Read { path, source }),
        }
    })
}

fn roots(ca: Option<&FileContents>) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(file) => {
            for certificate in certificates(file)? {
                roots.add(certificate)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() { Err(TlsError::NoRoots) } else { Ok(roots) }
}

fn certificates(file: &FileContents) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = |source| TlsError::Pem { what: "certificates", path: file.path.clone(), source };
    let found = CertificateDer::pem_slice_iter(&file.bytes).collect::<Result<Vec<_>, _>>().map_err(pem)?;
    if found.is_empty() { Err(TlsError::Empty(file.path.clone())) } else { Ok(found) }
}

fn private_key(file: &FileContents) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&file.bytes).map_err(|source| TlsError::Pem {
        what: "a private key",
        path: file.path.clone(),
        source,
    })
}

/// Decides which servers are trusted. Signatures are checked in either case, so that the handshake costs what it costs.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    trust: Trust,
}

#[derive(Debug)]
enum Trust {
    /// Every certificate.
    Any,
    /// What the named certificates signed, and these themselves: what `openssl req -x509` makes is an authority's and a server's
    /// certificate in one, which webpki refuses as the latter (CaUsedAsEndEntity), and curl takes with `--cacert`.
    Named { webpki: Arc<WebPkiServerVerifier>, certificates: Vec<CertificateDer<'static>> },
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trust::Named { webpki, certificates } = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = webpki.verify_server_cert(certificate, intermediates, name, ocsp, now);
        match &verified {
            // webpki has looked at its dates before this.
            Err(error) if is_ca_as_server(error) && certificates.contains(certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            _ => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn is_ca_as_server(error: &rustls::Error) -> bool {
    // rustls hands on what it has no name for.
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::Other(other)) if other.to_string() == "CaUsedAsEndEntity")
}

/// What a user makes of a certificate that was refused, and what to do about it.
fn refused(error: &CertificateError, name: &ServerName<'_>) -> String {
    match error {
        CertificateError::UnknownIssuer => "the service's certificate comes from nobody who is trusted here (UnknownIssuer): name what to \
            trust (--ca FILE), or accept any certificate (--insecure)"
            .to_owned(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
            "the service's certificate is not for `{}` ({error}): name what it is for (--sni NAME), or accept any certificate (--insecure)",
            name.to_str()
        ),
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            "the service's certificate is an authority's own, signed by itself (CaUsedAsEndEntity): trust it (--ca FILE), or accept any \
             certificate (--insecure)"
                .to_owned()
        }
        error => format!("the service's certificate is not valid ({error}): accept any with --insecure"),
    }
}

const NO_HTTP2: &str = "the service does not offer HTTP/2 over TLS (ALPN h2)";

/// TLS of one connection.
#[derive(Debug)]
pub struct Session {
    connection: ClientConnection,
    server_name: ServerName<'static>,
    http2: bool,
    /// When the bytes came that the last read is made of.
    came_at: Nanos,
}

impl Session {
    pub fn new(tls: &Tls) -> io::Result<Session> {
        let mut connection =
            ClientConnection::new(tls.config.clone(), tls.server_name.clone()).map_err(io::Error::other)?;
        // The engine decides how much is under way; the default of 64 KiB would cut large requests short.
        connection.set_buffer_limit(None);
        Ok(Session { connection, server_name: tls.server_name.clone(), http2: tls.http2, came_at: 0 })
    }

    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    pub fn is_flushed(&self) -> bool {
        !self.connection.wants_write()
    }

    pub fn handshake(&mut self, socket: &mut Plain<'_>) -> io::Result<bool> {
        loop {
            self.flush(socket)?;
            if !self.connection.is_handshaking() {
                // Without ALPN a server speaks HTTP/1.1 (RFC 7301, section 3.2; RFC 9113, section 3.2).
                if self.http2 && self.connection.alpn_protocol() != Some(b"h2") {
                    return Err(io::Error::other(NO_HTTP2));
                }
                return Ok(true);
            }
            if !self.pull(socket)? {
                return Ok(false);
            }
        }
    }

    pub fn send(&mut self, bytes: &[u8], socket: &mut Plain<'_>) -> io::Result<bool> {
        self.connection.writer().write_all(bytes)?;
        self.flush(socket)
    }

    pub fn flush(&mut self, socket: &mut Plain<'_>) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    pub fn receive(&mut self, socket: &mut Plain<'_>, buffer: &mut [u8]) -> io::Result<Received> {
        loop {
            match self.connection.reader().read(buffer) {
                Ok(0) => return Ok(Received::End),
                // Only the socket can say that nothing more is there.
                Ok(count) => return Ok(Received::Bytes { count, more: true, at: self.came_at }),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if !self.pull(socket)? {
                return Ok(Received::Nothing);
            }
        }
    }

    /// What a user makes of an error.
    fn explain(&self, error: rustls::Error) -> Box<dyn std::error::Error + Send + Sync> {
        match error {
            rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol) if self.http2 => {
                NO_HTTP2.into()
            }
            rustls::Error::InvalidMessage(_) if self.connection.is_handshaking() => {
                format!("the service does not speak TLS ({error})").into()
            }
            rustls::Error::InvalidCertificate(error) => refused(&error, &self.server_name).into(),
            error => error.into(),
        }
    }

    /// Takes what the socket has; `false` when that is nothing.
    fn pull(&mut self, socket: &mut Plain<'_>) -> io::Result<bool> {
        match self.connection.read_tls(socket) {
            Ok(0) if self.connection.is_handshaking() => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => self.came_at = socket.at,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        if let Err(error) = self.connection.process_new_packets() {
            // The peer is told why (an alert), as far as the socket takes it.
            let _ = self.flush(socket);
            return Err(io::Error::new(io::ErrorKind::InvalidData, self.explain(error)));
        }
        Ok(true)
    }
}
