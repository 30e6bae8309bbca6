//! What a client may set of TLS.

use serde::{Deserialize, Serialize};

/// What a client may set of TLS. `F` is a file: its path in an experiment and in what is stored,
/// [its contents](super::FileContents) in what an engine is given, so that a private key is never stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsOptions<F> {
    /// Certificates to trust instead of the system's (PEM).
    pub ca: Option<F>,
    /// What the client presents.
    pub identity: Option<ClientIdentity<F>>,
    /// Name to ask for (SNI) and to check the certificate against, instead of the host.
    pub server_name: Option<String>,
    /// Accept any certificate.
    #[serde(default)]
    pub insecure: bool,
    /// Make a full handshake for every connection.
    #[serde(default)]
    pub no_resumption: bool,
}

/// A client's certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientIdentity<F> {
    /// Its certificate chain (PEM).
    pub certificate: F,
    /// Its private key (PEM).
    pub key: F,
}

impl<F> Default for TlsOptions<F> {
    fn default() -> TlsOptions<F> {
        TlsOptions { ca: None, identity: None, server_name: None, insecure: false, no_resumption: false }
    }
}

impl<F> TlsOptions<F> {
    /// The same with each file replaced by what `read` makes of it.
    ///
    /// # Errors
    /// With the first error of `read`.
    pub fn with_files<G, E>(&self, mut read: impl FnMut(&F) -> Result<G, E>) -> Result<TlsOptions<G>, E> {
        let ca = self.ca.as_ref().map(&mut read).transpose()?;
        let identity = match &self.identity {
            Some(ClientIdentity { certificate, key }) => {
                Some(ClientIdentity { certificate: read(certificate)?, key: read(key)? })
            }
            None => None,
        };
        Ok(TlsOptions {
            ca,
            identity,
            server_name: self.server_name.clone(),
            insecure: self.insecure,
            no_resumption: self.no_resumption,
        })
    }
}
