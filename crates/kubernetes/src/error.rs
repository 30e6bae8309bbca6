//! What can go wrong between loadline and a cluster.
//! Every variant names the cluster or the object, and what to do about it.

use std::path::PathBuf;

use loadline_platform::PlatformError;

/// A cluster did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Something could not be made on this machine, or not be removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// No file says where a cluster is.
    #[error(
        "there is no kubeconfig at {}: name one in KUBECONFIG, or write one with your cluster's tool (kubectl config view shows what is known)",
        path.display()
    )]
    NoKubeconfig {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is there, but says nothing useful.
    #[error("the kubeconfig {files} can't be used: {reason}")]
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
        /// The context asked for.
        context: String,
        /// Those that it has.
        known: String,
    },
    /// No context was asked for and the kubeconfig has no current one.
    #[error(
        "the kubeconfig {files} has no current context: name one, or choose it with `kubectl config use-context`; it has {known}"
    )]
    NoCurrentContext {
        /// The files.
        files: String,
        /// Those that it has.
        known: String,
    },
    /// The API server answered nothing for as long as is worth waiting.
    #[error("could not {what}: the API server at {server} can't be reached ({reason}){hint}")]
    Unreachable {
        /// What was being done.
        what: String,
        /// The server's URL.
        server: String,
        /// The last failure.
        reason: String,
        /// What may be behind it, with its own separator.
        hint: &'static str,
    },
    /// The server's certificate isn't one that the kubeconfig trusts.
    #[error(
        "the certificate of the API server at {server} isn't trusted ({reason}): the kubeconfig is of another cluster or an old one; fetch it anew"
    )]
    BadCertificate {
        /// The server's URL.
        server: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// The server doesn't know who is asking.
    #[error(
        "the API server at {server} doesn't accept the credentials of context `{context}` ({reason}): they have expired or were revoked; log in again or fetch the kubeconfig anew"
    )]
    Unauthorized {
        /// The server's URL.
        server: String,
        /// The context used.
        context: String,
        /// The server's or the login program's words.
        reason: String,
    },
    /// Rights found missing before anything was made.
    #[error(
        "context `{context}` lacks rights in the cluster at {server}: {}. Have an administrator grant them with a Role or ClusterRole",
        missing.join(", ")
    )]
    RightsMissing {
        /// The server's URL.
        server: String,
        /// The context used.
        context: String,
        /// Each right, such as `create deployments.apps in namespace loadline-3fa90c`.
        missing: Vec<String>,
    },
    /// The server refused one request for want of rights.
    #[error("could not {what}: the cluster at {server} refuses it ({message})")]
    Forbidden {
        /// What was being done.
        what: String,
        /// The server's URL.
        server: String,
        /// The server's words.
        message: String,
    },
    /// The server refused an object, or failed.
    #[error("could not {what}: {message}")]
    Refused {
        /// What was being done.
        what: String,
        /// The server's words.
        message: String,
    },
    /// Somebody else's namespace has the name of the run's.
    #[error(
        "the cluster already has a namespace {name} that isn't this run's (it lacks the label {label}): it is left alone"
    )]
    ForeignNamespace {
        /// Its name.
        name: String,
        /// The label that it lacks.
        label: String,
    },
    /// The namespace withstood its removal.
    #[error("the namespace {name} is still being removed after {seconds} s: {holds}")]
    NamespaceHeld {
        /// Its name.
        name: String,
        /// How long was waited.
        seconds: u64,
        /// What the cluster says is left in it.
        holds: String,
    },
    /// A run's namespace couldn't be removed from one of its clusters.
    #[error(
        "the namespace {namespace} in the cluster of context `{context}` is left: {reason} (if that cluster is gone for good, remove the run's folder from loadline's registry, /run/loadline for root)"
    )]
    NamespaceLeft {
        /// Its name.
        namespace: String,
        /// The context of the kubeconfig.
        context: String,
        /// Why it couldn't be removed.
        reason: String,
    },
    /// Pods withstood their removal.
    #[error("the pods {pods} are still there {seconds} s after their removal was asked for")]
    PodsRemain {
        /// Their names.
        pods: String,
        /// How long was waited.
        seconds: u64,
    },
    /// No node takes pods.
    #[error("no node of the cluster can take a pod: {why}")]
    NoNode {
        /// What is wrong with each, or that there is none.
        why: String,
    },
    /// The asked-for placement is impossible.
    #[error("`placement: {placement}` can't be: {why}")]
    Placement {
        /// As it was asked for.
        placement: &'static str,
        /// Why not, and what to do.
        why: String,
    },
    /// Options that exclude each other or the cluster.
    #[error("{0}")]
    Unfit(String),
    /// The pod can't start, and the cluster says why.
    #[error("the pod {pod} can't start: {why}")]
    Stuck {
        /// Its name.
        pod: String,
        /// The cluster's words, and what to do.
        why: String,
    },
    /// The pod neither started nor said why.
    #[error("the pods of {workload} weren't ready after {seconds} s: {state}")]
    NotReady {
        /// Whose pods.
        workload: String,
        /// How long was waited.
        seconds: u64,
        /// What they were at last.
        state: String,
    },
    /// The user's manifests can't be used.
    #[error("{}: {why}", file.display())]
    Manifests {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        why: String,
    },
    /// The program can't be made into an image.
    #[error("{0}")]
    Program(#[from] loadline_image::ImageError),
    /// The archive isn't one of an image.
    #[error("{} isn't an image's archive: {why} (`docker save` and `loadline image` write such)", path.display())]
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

/// For a cleaner, which fails as the machine does.
impl From<ClusterError> for loadline_machine::Error {
    fn from(error: ClusterError) -> loadline_machine::Error {
        match error {
            ClusterError::Machine(error) => error,
            error => loadline_machine::Error::Cleaner(Box::new(error)),
        }
    }
}
