//! What can go wrong between loadline and a Docker daemon.
//! Every variant says what failed, what Docker or the system reported, and what to do.

use std::{net::SocketAddrV4, path::PathBuf};

use loadline_model::platform::{DockerNetwork, Publish};
use loadline_platform::PlatformError;

/// A container could not be started or removed.
#[derive(Debug, thiserror::Error)]
pub enum DockerError {
    /// Something could not be created on this machine, or removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// The service has a command, but no image.
    #[error(
        "cannot start a container: the service has no image: name one, or give an archive or a static program"
    )]
    NoImage,
    /// An unsupported kind of address, or TLS.
    #[error(
        "`{uri}` is not an address of Docker's API that loadline supports: DOCKER_HOST can be unix:///PATH or, without TLS, tcp://HOST:PORT"
    )]
    Endpoint {
        /// As given.
        uri: String,
    },
    /// Nothing accepts connections at any of the addresses.
    #[error("cannot connect to Docker: {}. {hint}", tried.join(", "))]
    NotFound {
        /// The addresses that were tried, each with the reason.
        tried: Vec<String>,
        /// What to do.
        hint: &'static str,
    },
    /// The daemon's network namespace is not the node's.
    #[error(
        "cannot reach containers of the Docker daemon at {endpoint}: it runs in another network namespace: run loadline as root, on the daemon's machine and in its network namespace"
    )]
    OtherNetworkNamespace {
        /// The daemon.
        endpoint: String,
    },
    /// The daemon stopped answering.
    #[error("cannot {what}: the Docker daemon at {endpoint} does not answer ({reason})")]
    Gone {
        /// What was being done.
        what: String,
        /// The daemon.
        endpoint: String,
        /// The system's reason.
        reason: String,
    },
    /// The daemon rejected the request.
    #[error("cannot {what}: Docker says: {message}")]
    Refused {
        /// What was being done.
        what: String,
        /// The status of its HTTP response; none if it failed while sending one.
        status: Option<u16>,
        /// Its message.
        message: String,
    },
    /// It sent an answer that its API does not define.
    #[error(
        "cannot {what}: the Docker daemon at {endpoint} sent an answer that loadline does not understand ({reason})"
    )]
    UnexpectedAnswer {
        /// What was being done.
        what: String,
        /// The daemon.
        endpoint: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// A transfer stalled.
    #[error("cannot {what}: no progress for {seconds} s")]
    Stalled {
        /// What was being done.
        what: String,
        /// For how long.
        seconds: u64,
    },
    /// Not a valid image name.
    #[error("`{0}` is not an image name, such as nginx:1.27 or registry.example.org/team/orders:1.0")]
    BadImageName(String),
    /// The image is not on this machine, and could not be pulled.
    #[error(
        "cannot pull the image `{name}`, which is not present: {reason}. Run `docker pull {name}` (after `docker login`, if the registry requires it), or give an archive of it, as written by `docker save` or `loadline image`"
    )]
    NoSuchImage {
        /// Its name.
        name: String,
        /// Why it could not be pulled.
        reason: String,
    },
    /// A file that is not an image archive.
    #[error("{} is not an image archive: {reason}", path.display())]
    BadArchive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Loading would take the name of an image that is not loadline's.
    #[error(
        "{} contains an image `{name}`, but Docker has a different one of that name: name that image instead of the archive, remove it (`docker image rm {name}`), or save the archive under another name",
        path.display()
    )]
    ImageNameTaken {
        /// The archive.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The userland proxy needs a published port.
    #[error("`publish: userland-proxy` cannot be combined with `network: {}`: only a container on a bridge publishes a port", network.name())]
    NothingToPublish {
        /// The network.
        network: DockerNetwork,
    },
    /// Docker runs no docker-proxy for the published port.
    #[error(
        "`publish: userland-proxy` needs docker-proxy, which this daemon does not run (dockerd does unless started with --userland-proxy=false; Podman never does)"
    )]
    NoUserlandProxy,
    /// Packets to the container's own address are dropped.
    #[error(
        "cannot reach the container's own address {address} from outside the node ({reason}): Docker 28 and later drop such packets unless dockerd is started with --allow-direct-routing; otherwise use `publish: port`"
    )]
    NoDirectAccess {
        /// The address and the port of the service.
        address: SocketAddrV4,
        /// Why connecting failed.
        reason: String,
    },
    /// The service ended right after its start.
    #[error("{why}{}", last_output(output))]
    EndedAtOnce {
        /// How it ended.
        why: String,
        /// The end of its output.
        output: String,
    },
    /// The container runs, but not on this machine.
    #[error("`network: {}` needs the container on this machine, but its process was not found here", network.name())]
    NoProcess {
        /// The network.
        network: DockerNetwork,
    },
    /// Docker's description of a container is incomplete.
    #[error("Docker does not report {what} of the container (network: {}, publish: {})", network.name(), publish.name())]
    NotReported {
        /// What is missing.
        what: &'static str,
        /// The network.
        network: DockerNetwork,
        /// How it is published.
        publish: Publish,
    },
    /// The daemon does not answer, so that objects in it remain.
    #[error(
        "cannot remove everything of {owner}: Docker at {endpoint} does not answer ({reason}), so containers, networks or images may remain: run `loadline clean` once it does (if that daemon is gone for good, delete the run's folder in loadline's registry, /run/loadline for root)"
    )]
    Remains {
        /// The run, or the deployment.
        owner: String,
        /// The daemon.
        endpoint: String,
        /// The system's reason.
        reason: String,
    },
    /// No image can be made of the program.
    #[error(
        "cannot make an image of the service's program: {0}. Or name an image that has the service: --image NAME or --image FILE.tar"
    )]
    Image(#[from] loadline_image::ImageError),
}

impl From<DockerError> for PlatformError {
    fn from(error: DockerError) -> PlatformError {
        match error {
            DockerError::Machine(error) => PlatformError::Machine(error),
            error => PlatformError::of(error),
        }
    }
}

/// For a cleaner, whose errors are those of the machine.
impl From<DockerError> for loadline_machine::Error {
    fn from(error: DockerError) -> loadline_machine::Error {
        match error {
            DockerError::Machine(error) => error,
            error => loadline_machine::Error::Cleaner(Box::new(error)),
        }
    }
}

impl DockerError {
    /// Whether Docker reports that the object does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, DockerError::Refused { status: Some(404), .. })
    }
}

/// The end of a service's output, as part of a message.
fn last_output(output: &str) -> String {
    const LINES: usize = 10;
    let lines: Vec<&str> = output.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        ". It printed nothing".to_owned()
    } else {
        format!("; its last output:\n{}", last.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_the_output_are_shown() {
        let output: String = (1..=12).map(|line| format!("line {line}\n")).collect();
        let shown = DockerError::EndedAtOnce { why: "it ended".to_owned(), output }.to_string();
        assert!(
            shown.starts_with("it ended; its last output:\nline 3\n") && shown.ends_with("line 12"),
            "{shown}"
        );
        let silent = DockerError::EndedAtOnce { why: "it ended".to_owned(), output: String::new() };
        assert_eq!(silent.to_string(), "it ended. It printed nothing");
    }
}
