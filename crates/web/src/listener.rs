//! Connections to the server: how many there may be, how long a client may take, and TLS.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use loadline_store::StoreError;
use rustix::net::sockopt::set_tcp_user_timeout;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Connections at once; further ones wait in the kernel's queue.
const MOST_CONNECTIONS: usize = 1024;
/// Threads that read the store and analyse runs; further requests wait.
const MOST_WORKING: usize = 4;
/// For a request's head, and for a TLS handshake.
const FOR_HEAD: Duration = Duration::from_secs(10);
/// A client that takes nothing for so long is gone.
const FOR_READING: Duration = Duration::from_secs(30);
/// The flag that ends it is looked at so often.
const LOOKS_EVERY: Duration = Duration::from_millis(100);

/// Why the server cannot start, or go on.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The address is taken, or not this machine's.
    #[error("cannot listen on {address}: {source}; name another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use the certificate {file}: {why}", file = file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Why not.
        why: String,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The kernel refuses what a server needs.
    #[error("cannot serve: {0}")]
    Serve(#[source] io::Error),
}

/// What the server proves its name with.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// PEM file with the certificate and those that it was signed with.
    pub chain: PathBuf,
    /// PEM file with the key.
    pub key: PathBuf,
}

impl Certificate {
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, WebError> {
        let fail = |file: &PathBuf, why: String| WebError::Certificate { file: file.clone(), why };
        let of_chain = |error: rustls::pki_types::pem::Error| fail(&self.chain, error.to_string());
        let chain =
            CertificateDer::pem_file_iter(&self.chain).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let chain = chain.map_err(of_chain)?;
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| fail(&self.key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(|error| fail(&self.chain, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Answers with `router` until `stop` is set.
pub(crate) fn run(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    stop: &Arc<AtomicBool>,
) -> Result<(), WebError> {
    listener.set_nonblocking(true).map_err(WebError::Serve)?;
    // One thread: the CPUs are what is measured on.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_WORKING)
        .build()
        .map_err(WebError::Serve)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(WebError::Serve)?;
        tokio::select! {
            () = accept(listener, tls, router) => {}
            () = stopped(stop) => {}
        }
        Ok::<(), WebError>(())
    })?;
    // What is being computed for somebody is not waited for.
    runtime.shutdown_background();
    Ok(())
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        sleep(LOOKS_EVERY).await;
    }
}

async fn accept(listener: tokio::net::TcpListener, tls: Option<TlsAcceptor>, router: Router) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Of one client that is gone already, or of a process without a free file: the next may work.
                tracing::warn!("a connection was not accepted: {error}");
                sleep(LOOKS_EVERY).await;
                continue;
            }
        };
        // Data that is not taken for so long ends the connection (tcp(7), TCP_USER_TIMEOUT).
        let _ = set_tcp_user_timeout(&stream, FOR_READING.as_millis() as u32);
        let (tls, router) = (tls.clone(), router.clone());
        tokio::spawn(async move {
            let _place = place;
            match tls {
                None => answer(stream, router).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(FOR_HEAD, tls.accept(stream)).await {
                        answer(stream, router).await;
                    }
                }
            }
        });
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    // HTTP/1 alone: its clock starts before the first byte. A server that speaks HTTP/2 as well waits without end to learn which it is to be.
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(FOR_HEAD);
    // It ends with the client; what went wrong there is the client's.
    let service = TowerToHyperService::new(router);
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
