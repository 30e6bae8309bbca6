//! A connection to one cluster: asked synchronously, with a time limit on every request and patience with a server that restarts.
//! All requests of the platform go through [`Cluster::call`].

use std::{
    future::Future,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use kube::Client;
use tokio::runtime::{Handle, Runtime};

use loadline_machine::{
    Doing, Netns,
    wait::{self, CLUSTER_INTERVAL},
};

use crate::{
    error::ClusterError,
    failure::{Asked, Failure},
    kubeconfig::ClusterMark,
};

/// How long one request may take.
const CALL_LIMIT: Duration = Duration::from_secs(10);
/// How long a request is repeated that fails in a way that may pass.
const RETRY_TIMEOUT: Duration = Duration::from_secs(15);
/// The same while a server that has answered before is away: it restarts in about 5 s, on a busy machine in half a minute.
const RESTART_TIMEOUT: Duration = Duration::from_secs(60);

/// A cluster of the kubeconfig.
pub(crate) struct Cluster {
    mark: ClusterMark,
    server: String,
    client: Client,
    /// Whether the server has ever answered.
    has_answered: AtomicBool,
    /// Of one thread, in the node's network namespace wherever the callers are.
    handle: Handle,
    _runtime: Stopping,
}

/// A runtime that ends without waiting for connections that the server keeps open.
struct Stopping(Option<Runtime>);

impl Drop for Stopping {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Cluster {
    /// Reads the credentials. Nothing is sent yet, but a program that gives credentials is run.
    pub fn connect(mark: ClusterMark, node: &Netns) -> Result<Cluster, ClusterError> {
        let runtime = node.run(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1).thread_name("cluster").enable_all();
            builder.build().doing(|| "start a runtime")
        })?;
        let handle = runtime.handle().clone();
        let runtime = Stopping(Some(runtime));
        let task = async move {
            let mut config = mark.config().await?;
            config.connect_timeout = Some(CALL_LIMIT);
            // Repeating is done here, in one place.
            config.default_retry = false;
            let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
            let client = Client::try_from(config);
            Ok::<_, ClusterError>((mark, server, client))
        };
        let (mark, server, client) = perform(&handle, task)
            .unwrap_or_else(|| Err(ClusterError::Unfit("reading the kubeconfig failed".to_owned())))?;
        match client {
            Ok(client) => Ok(Cluster {
                mark,
                server,
                client,
                has_answered: AtomicBool::new(false),
                handle,
                _runtime: runtime,
            }),
            Err(error) => {
                let asked = Asked { what: "use the kubeconfig", server: &server, context: &mark.context };
                Err(match Failure::Request(error).explain(&asked) {
                    ClusterError::Unreachable { reason, .. } => {
                        let files = mark.kubeconfig.iter().map(|f| f.display().to_string());
                        ClusterError::BadKubeconfig { files: files.collect::<Vec<_>>().join(", "), reason }
                    }
                    other => other,
                })
            }
        }
    }

    /// Where it is, for the registry.
    pub fn mark(&self) -> &ClusterMark {
        &self.mark
    }

    /// The API server's URL.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The name of the context.
    pub fn context(&self) -> &str {
        &self.mark.context
    }

    /// Makes a request, again and again while it fails in a way that may pass. It must be one that can be made twice.
    /// `what` completes the sentence "could not …".
    pub fn call<T, F>(&self, what: &str, request: impl Fn(Client) -> F) -> Result<T, ClusterError>
    where
        T: Send + 'static,
        F: Future<Output = kube::Result<T>> + Send + 'static,
    {
        self.attempt(request).map_err(|failure| self.explain(what, failure))
    }

    /// As [`Cluster::call`], for callers to whom some failures are answers.
    pub fn attempt<T, F>(&self, request: impl Fn(Client) -> F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = kube::Result<T>> + Send + 'static,
    {
        let first = Instant::now();
        let may_pass =
            |failure: &Failure| failure.may_pass() && first.elapsed() < self.retry_timeout(failure);
        wait::retry(RESTART_TIMEOUT, CLUSTER_INTERVAL, may_pass, || {
            let outcome = self.once(CALL_LIMIT, request(self.client.clone()));
            if outcome.as_ref().err().is_none_or(Failure::is_answer) {
                self.has_answered.store(true, Ordering::Relaxed);
            }
            outcome
        })
    }

    fn retry_timeout(&self, failure: &Failure) -> Duration {
        let is_away = !failure.is_answer() && self.has_answered.load(Ordering::Relaxed);
        if is_away { RESTART_TIMEOUT } else { RETRY_TIMEOUT }
    }

    /// Makes a request once.
    pub fn once<T, F>(&self, limit: Duration, request: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = kube::Result<T>> + Send + 'static,
    {
        let limited = async move { tokio::time::timeout(limit, request).await };
        match perform(&self.handle, limited) {
            Some(Ok(outcome)) => outcome.map_err(Failure::Request),
            Some(Err(_)) | None => Err(Failure::TimedOut),
        }
    }

    /// What a failed request means.
    pub fn explain(&self, what: &str, failure: Failure) -> ClusterError {
        failure.explain(&Asked { what, server: &self.server, context: &self.mark.context })
    }

    /// For what goes on by itself: watching, copying.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }
}

/// Has the runtime's own thread do the work, so that sockets are made in its network namespace. `None` if it panicked.
fn perform<T: Send + 'static>(runtime: &Handle, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let (done, outcome) = mpsc::channel();
    runtime.spawn(async move {
        // A caller that is gone needs no answer.
        let _ = done.send(work.await);
    });
    outcome.recv().ok()
}
