//! Calls of Docker's API, one at a time, for synchronous callers.
//! Every call has a timeout, and an error that says what failed.

use std::time::Duration;

use bollard::{API_DEFAULT_VERSION, errors::Error as Failure};
use tokio::{runtime::Runtime, time::timeout};

use loadline_machine::{Error, ErrorContext, Netns};

use crate::{endpoint, error::DockerError};

/// How long Docker may take for anything except the transfer of an image. It needs milliseconds, or seconds on a slow disk.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// bollard's own timeout, which would end the transfer of an image: practically disabled.
const NO_LIMIT_S: u64 = 1 << 32;

/// A client of one Docker daemon. No connection is kept between calls.
pub(crate) struct Client {
    api: bollard::Docker,
    endpoint: String,
    runtime: Runtime,
}

impl Client {
    /// Connects to the daemon at `given`, or else to the one that this machine is configured for.
    pub fn connect(given: Option<&str>, node: &Netns) -> Result<Client, DockerError> {
        let runtime = runtime()?;
        let endpoint = runtime.block_on(endpoint::find(given, node))?;
        Client::new(runtime, endpoint)
    }

    /// A client of the daemon at an address that an earlier [`Client::connect`] found.
    pub fn at(endpoint: &str) -> Result<Client, DockerError> {
        Client::new(runtime()?, endpoint.to_owned())
    }

    fn new(runtime: Runtime, endpoint: String) -> Result<Client, DockerError> {
        let what = "negotiate an API version with Docker";
        let api = match endpoint.strip_prefix("unix://") {
            Some(path) => bollard::Docker::connect_with_unix(path, NO_LIMIT_S, API_DEFAULT_VERSION),
            None => bollard::Docker::connect_with_http(&endpoint, NO_LIMIT_S, API_DEFAULT_VERSION),
        };
        let api = api.map_err(|failure| explain(what, &endpoint, failure))?;
        let client = Client { api, endpoint, runtime };
        // All clones use the negotiated version.
        client.call(what, |api| api.clone().negotiate_version())?;
        Ok(client)
    }

    /// Where the daemon is, as a URI.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// One call. `what` completes the sentence "cannot …".
    pub fn call<'a, T, F>(
        &'a self,
        what: &str,
        call: impl FnOnce(&'a bollard::Docker) -> F,
    ) -> Result<T, DockerError>
    where
        F: Future<Output = Result<T, Failure>> + 'a,
    {
        let answered = self.runtime.block_on(async { timeout(CALL_TIMEOUT, call(&self.api)).await });
        let too_late = |_| DockerError::Gone {
            what: what.to_owned(),
            endpoint: self.endpoint.clone(),
            reason: format!("no answer within {} s", CALL_TIMEOUT.as_secs()),
        };
        answered.map_err(too_late)?.map_err(|failure| self.explain(what, failure))
    }

    /// As [`Client::call`], with `None` for what does not exist.
    pub fn find<'a, T, F>(
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

    /// Runs a sequence of calls that has its own timeouts.
    pub fn block_on<'a, T, F>(&'a self, calls: impl FnOnce(&'a bollard::Docker) -> F) -> T
    where
        F: Future<Output = T> + 'a,
    {
        self.runtime.block_on(async { calls(&self.api).await })
    }

    pub fn explain(&self, what: &str, failure: Failure) -> DockerError {
        explain(what, &self.endpoint, failure)
    }
}

fn runtime() -> Result<Runtime, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().with_context(|| "start a runtime")
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
        other => DockerError::UnexpectedAnswer { what, endpoint, reason: other.to_string() },
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
