//! Calls of Docker's API, one after the other, for a caller that knows nothing of futures.
//! Every call has a time limit, and an error that says what was wanted.

use std::time::Duration;

use bollard::{API_DEFAULT_VERSION, errors::Error as Failure};
use tokio::{runtime::Runtime, time::timeout};

use loadline_machine::{Doing, Error, Netns};

use crate::{endpoint, error::DockerError};

/// How long Docker may take for anything but a transfer of an image. It needs milliseconds, or seconds on a slow disk.
const CALL_PATIENCE: Duration = Duration::from_secs(10);
/// bollard's own limit, which would end an image's transfer: out of the way.
const NO_LIMIT_S: u64 = 1 << 32;

/// A way to one Docker daemon. Nothing stays connected between two calls.
pub(crate) struct Client {
    api: bollard::Docker,
    endpoint: String,
    runtime: Runtime,
}

impl Client {
    /// The daemon at `given`, or else the one that this machine is set up for; it is there.
    pub fn connect(given: Option<&str>, node: &Netns) -> Result<Client, DockerError> {
        let runtime = runtime()?;
        let endpoint = runtime.block_on(endpoint::find(given, node))?;
        Client::new(runtime, endpoint)
    }

    /// The daemon at an address that an earlier [`Client::connect`] found.
    pub fn at(endpoint: &str) -> Result<Client, DockerError> {
        Client::new(runtime()?, endpoint.to_owned())
    }

    fn new(runtime: Runtime, endpoint: String) -> Result<Client, DockerError> {
        let what = "agree with Docker on a version of its API";
        let api = match endpoint.strip_prefix("unix://") {
            Some(path) => bollard::Docker::connect_with_unix(path, NO_LIMIT_S, API_DEFAULT_VERSION),
            None => bollard::Docker::connect_with_http(&endpoint, NO_LIMIT_S, API_DEFAULT_VERSION),
        };
        let api = api.map_err(|failure| explain(what, &endpoint, failure))?;
        let client = Client { api, endpoint, runtime };
        // What is agreed on is kept for all clones.
        client.call(what, |api| api.clone().negotiate_version())?;
        Ok(client)
    }

    /// Where the daemon is, as a URI.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// One call. `what` completes the sentence "could not …".
    pub fn call<'a, T, F>(
        &'a self,
        what: &str,
        call: impl FnOnce(&'a bollard::Docker) -> F,
    ) -> Result<T, DockerError>
    where
        F: Future<Output = Result<T, Failure>> + 'a,
    {
        let answered = self.runtime.block_on(async { timeout(CALL_PATIENCE, call(&self.api)).await });
        let too_late = |_| DockerError::Gone {
            what: what.to_owned(),
            endpoint: self.endpoint.clone(),
            reason: format!("no answer within {} s", CALL_PATIENCE.as_secs()),
        };
        answered.map_err(too_late)?.map_err(|failure| self.explain(what, failure))
    }

    /// As [`Client::call`], with `None` for what isn't there.
    pub fn look<'a, T, F>(
        &'a self,
        what: &str,
        call: impl FnOnce(&'a bollard::Docker) -> F,
    ) -> Result<Option<T>, DockerError>
    where
        F: Future<Output = Result<T, Failure>> + 'a,
    {
        match self.call(what, call) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A conversation of many parts, which sees to its own end.
    pub fn converse<'a, T, F>(&'a self, conversation: impl FnOnce(&'a bollard::Docker) -> F) -> T
    where
        F: Future<Output = T> + 'a,
    {
        self.runtime.block_on(async { conversation(&self.api).await })
    }

    pub fn explain(&self, what: &str, failure: Failure) -> DockerError {
        explain(what, &self.endpoint, failure)
    }
}

fn runtime() -> Result<Runtime, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().doing(|| "start a runtime")
}

fn explain(what: &str, endpoint: &str, failure: Failure) -> DockerError {
    let (what, endpoint) = (what.to_owned(), endpoint.to_owned());
    match failure {
        Failure::DockerResponseServerError { status_code, message } => {
            DockerError::Refused { what, status: Some(status_code), message: message.trim().to_owned() }
        }
        Failure::DockerStreamError { error } => {
            DockerError::Refused { what, status: None, message: error.trim().to_owned() }
        }
        Failure::SocketNotFoundError(path) => {
            DockerError::Gone { what, endpoint, reason: format!("there is no {path}") }
        }
        Failure::HyperLegacyError { .. } | Failure::HyperResponseError { .. } | Failure::IOError { .. } => {
            DockerError::Gone { what, endpoint, reason: root_cause(&failure) }
        }
        other => DockerError::Nonsense { what, endpoint, reason: other.to_string() },
    }
}

/// The innermost error, which is the system's own.
fn root_cause(failure: &Failure) -> String {
    let mut cause: &dyn std::error::Error = failure;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
