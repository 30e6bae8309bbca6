//! What can go wrong between loadline and a cluster.
//! Every variant names the cluster or the object, and what to do about it.

use std::path::PathBuf;

use loadline_platform::PlatformError;

/// A request to a cluster failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Something could not be created on this machine, or removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// There is no kubeconfig.
    #[error(
        "there is no kubeconfig at {}: set KUBECONFIG, or create one with your cluster's tool (`kubectl config view` shows the current one)",
        path.display()
    )]
    NoKubeconfig {
        /// Where it was searched.
        path: PathBuf,
    },
    /// The kubeconfig is not usable.
    #[error("cannot use the kubeconfig {files}: {reason}")]
    BadKubeconfig {
        /// The files.
        files: String,
        /// What is wrong with them.
        reason: String,
    },
    /// The kubeconfig has no context of that name.
    #[error("the kubeconfig {files} has no context `{context}`; it has {known}")]
    NoContext {
        /// The files.
        files: String,
        /// The requested context.
        context: String,
        /// The contexts that it has.
        known: String,
    },
    /// No context was requested and the kubeconfig has no current one.
    #[error(
        "the kubeconfig {files} has no current context: name one, or set it with `kubectl config use-context`; it has {known}"
    )]
    NoCurrentContext {
        /// The files.
        files: String,
        /// The contexts that it has.
        known: String,
    },
    /// The API server did not answer in time.
    #[error("cannot {what}: the API server at {server} is unreachable ({reason}){hint}")]
    Unreachable {
        /// What was being done.
        what: String,
        /// The server's URL.
        server: String,
        /// The last failure.
        reason: String,
        /// A possible cause, with its own separator.
        hint: &'static str,
    },
    /// The kubeconfig does not trust the server's certificate.
    #[error(
        "the certificate of the API server at {server} is not trusted ({reason}): the kubeconfig is for another cluster or out of date; fetch it again"
    )]
    BadCertificate {
        /// The server's URL.
        server: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// The server does not accept the credentials.
    #[error(
        "the API server at {server} rejects the credentials of context `{context}` ({reason}): they have expired or were revoked; log in again, or fetch the kubeconfig again"
    )]
    Unauthorized {
        /// The server's URL.
        server: String,
        /// The context used.
        context: String,
        /// The message of the server or of the credential plugin.
        reason: String,
    },
    /// Permissions found missing before anything was created.
    #[error(
        "context `{context}` lacks permissions in the cluster at {server}: {}. Ask an administrator to grant them with a Role or ClusterRole",
        missing.join(", ")
    )]
    RightsMissing {
        /// The server's URL.
        server: String,
        /// The context used.
        context: String,
        /// Each permission, such as `create deployments.apps in namespace loadline-3fa90c`.
        missing: Vec<String>,
    },
    /// The server rejected a request for lack of permission.
    #[error("cannot {what}: the cluster at {server} rejected it ({message})")]
    Forbidden {
        /// What was being done.
        what: String,
        /// The server's URL.
        server: String,
        /// The server's message.
        message: String,
    },
    /// The server rejected an object, or failed.
    #[error("cannot {what}: {message}")]
    Refused {
        /// What was being done.
        what: String,
        /// The server's message.
        message: String,
    },
    /// A namespace with the run's name is not the run's.
    #[error(
        "cannot use the namespace {name}: it exists and is not this run's (it lacks the label {label}); it was left unchanged"
    )]
    ForeignNamespace {
        /// Its name.
        name: String,
        /// The label that it lacks.
        label: String,
    },
    /// The namespace was not removed in time.
    #[error("the namespace {name} is still being removed after {seconds} s: {remaining}")]
    NamespaceHeld {
        /// Its name.
        name: String,
        /// The time that was waited.
        seconds: u64,
        /// What the cluster reports as remaining in it.
        remaining: String,
    },
    /// A run's namespace could not be removed from one of its clusters.
    #[error(
        "the namespace {namespace} remains in the cluster of context `{context}`: {reason} (if that cluster is gone for good, delete the run's folder in loadline's registry, /run/loadline for root)"
    )]
    NamespaceLeft {
        /// Its name.
        namespace: String,
        /// The context of the kubeconfig.
        context: String,
        /// Why it could not be removed.
        reason: String,
    },
    /// Pods were not removed in time.
    #[error("the pods {pods} still exist {seconds} s after their deletion was requested")]
    PodsRemain {
        /// Their names.
        pods: String,
        /// The time that was waited.
        seconds: u64,
    },
    /// No node can run a pod.
    #[error("no node of the cluster can run a pod: {why}")]
    NoNode {
        /// The reason for each node, or that there are no nodes.
        why: String,
    },
    /// The requested placement is not possible.
    #[error("`placement: {placement}` is not possible: {why}")]
    Placement {
        /// The placement as requested.
        placement: &'static str,
        /// Why not, and what to do.
        why: String,
    },
    /// Options that conflict with each other or with the cluster.
    #[error("{0}")]
    Unfit(String),
    /// The pod cannot start, and the cluster says why.
    #[error("the pod {pod} cannot start: {why}")]
    Stuck {
        /// Its name.
        pod: String,
        /// The cluster's message, and what to do.
        why: String,
    },
    /// The pod did not become ready in time, without a reported reason.
    #[error("the pods of {workload} were not ready after {seconds} s: {state}")]
    NotReady {
        /// The workload of the pods.
        workload: String,
        /// The time that was waited.
        seconds: u64,
        /// Their last known state.
        state: String,
    },
    /// The user's manifests are not usable.
    #[error("{}: {why}", file.display())]
    Manifests {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        why: String,
    },
    /// No image can be made of the program.
    #[error(
        "cannot make an image of the service's program: {0}. Or name an image that has the service: --image NAME or --image FILE.tar"
    )]
    Program(#[from] loadline_image::ImageError),
    /// The file is not an image archive.
    #[error("{} is not an image archive: {why} (`docker save` and `loadline image` write them)", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl From<ClusterError> for PlatformError {
    fn from(error: ClusterError) -> PlatformError {
        match error {
            ClusterError::Machine(error) => PlatformError::Machine(error),
            error => PlatformError::of(error),
        }
    }
}

/// For a cleaner, whose errors are those of the machine.
impl From<ClusterError> for loadline_machine::Error {
    fn from(error: ClusterError) -> loadline_machine::Error {
        match error {
            ClusterError::Machine(error) => error,
            error => loadline_machine::Error::Cleaner(Box::new(error)),
        }
    }
}
