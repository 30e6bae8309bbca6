//! A synchronous client of one cluster, with a timeout for every request, which retries while a server restarts.
//! All requests of the platform go through [`Cluster::call`].

use std::{
    cell::Cell,
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
    ErrorContext, Netns,
    wait::{self, CLUSTER_INTERVAL},
};

use crate::{
    api_failure::{ApiFailure, RequestContext},
    error::ClusterError,
    kubeconfig::ClusterRecord,
};

/// How long one request may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request with a transient failure is retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(15);
/// The same if a server that has answered before cannot be reached: it restarts in about 5 s, on a busy machine in half a minute.
const RESTART_TIMEOUT: Duration = Duration::from_secs(60);

/// A cluster of the kubeconfig.
pub(crate) struct Cluster {
    mark: ClusterRecord,
    server: String,
    client: Client,
    /// Whether the server has ever answered.
    has_answered: AtomicBool,
    /// A runtime with one thread, which is in the node's network namespace, wherever the callers are.
    handle: Handle,
    _runtime: Stopping,
}

/// A runtime that shuts down without waiting for connections that the server keeps open.
struct Stopping(Option<Runtime>);

impl Drop for Stopping {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Cluster {
    /// Reads the credentials. Nothing is sent yet, but a credential plugin is run.
    pub fn connect(mark: ClusterRecord, node: &Netns) -> Result<Cluster, ClusterError> {
        let runtime = node.run(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1).thread_name("cluster").enable_all();
            builder.build().with_context(|| "start a runtime")
        })?;
        let handle = runtime.handle().clone();
        let runtime = Stopping(Some(runtime));
        let task = async move {
            let mut config = mark.config().await?;
            config.connect_timeout = Some(CALL_TIMEOUT);
            // Retries are done in one place, here.
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
                let context =
                    RequestContext { what: "use the kubeconfig", server: &server, context: &mark.context };
                Err(match ApiFailure::Request(error).explain(&context) {
                    ClusterError::Unreachable { reason, .. } => {
                        let files = mark.kubeconfig.iter().map(|f| f.display().to_string());
                        ClusterError::BadKubeconfig { files: files.collect::<Vec<_>>().join(", "), reason }
                    }
                    other => other,
                })
            }
        }
    }

    /// The cluster, as the registry records it.
    pub fn mark(&self) -> &ClusterRecord {
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

    /// Makes a request and retries it while the failure is transient. It must be idempotent. `what` completes the sentence
    /// "cannot …".
    pub fn call<T, F>(&self, what: &str, request: impl Fn(Client) -> F) -> Result<T, ClusterError>
    where
        T: Send + 'static,
        F: Future<Output = kube::Result<T>> + Send + 'static,
    {
        self.attempt(request).map_err(|failure| self.explain(what, failure))
    }

    /// As [`Cluster::call`], for callers that expect some failures.
    pub fn attempt<T, F>(&self, request: impl Fn(Client) -> F) -> Result<T, ApiFailure>
    where
        T: Send + 'static,
        F: Future<Output = kube::Result<T>> + Send + 'static,
    {
        // From the first failure of each kind on: a server that was away for half a minute may refuse for some seconds more.
        let (away, refused) = (Cell::new(None), Cell::new(None));
        let may_retry = |failure: &ApiFailure| {
            let first = if failure.is_answer() { &refused } else { &away };
            let since = first.get().unwrap_or_else(Instant::now);
            first.set(Some(since));
            failure.is_transient() && since.elapsed() < self.retry_timeout(failure)
        };
        wait::retry(RESTART_TIMEOUT + RETRY_TIMEOUT, CLUSTER_INTERVAL, may_retry, || {
            let outcome = self.once(CALL_TIMEOUT, request(self.client.clone()));
            if outcome.as_ref().err().is_none_or(ApiFailure::is_answer) {
                self.has_answered.store(true, Ordering::Relaxed);
            }
            outcome
        })
    }

    fn retry_timeout(&self, failure: &ApiFailure) -> Duration {
        let is_away = !failure.is_answer() && self.has_answered.load(Ordering::Relaxed);
        if is_away { RESTART_TIMEOUT } else { RETRY_TIMEOUT }
    }

    /// Makes a request once.
    pub fn once<T, F>(&self, limit: Duration, request: F) -> Result<T, ApiFailure>
    where
        T: Send + 'static,
        F: Future<Output = kube::Result<T>> + Send + 'static,
    {
        let limited = async move { tokio::time::timeout(limit, request).await };
        match perform(&self.handle, limited) {
            Some(Ok(outcome)) => outcome.map_err(ApiFailure::Request),
            Some(Err(_)) | None => Err(ApiFailure::TimedOut),
        }
    }

    /// The error of a failed request.
    pub fn explain(&self, what: &str, failure: ApiFailure) -> ClusterError {
        failure.explain(&RequestContext { what, server: &self.server, context: &self.mark.context })
    }

    /// For background tasks: watching, copying.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }
}

/// Runs `work` on the runtime's own thread, so that sockets are created in its network namespace. `None` if it panicked.
fn perform<T: Send + 'static>(runtime: &Handle, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let (done, outcome) = mpsc::channel();
    runtime.spawn(async move {
        // The caller may be gone.
        let _ = done.send(work.await);
    });
    outcome.recv().ok()
}
