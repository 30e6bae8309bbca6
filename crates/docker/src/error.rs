//! What can go wrong between loadline and a Docker daemon.
//! Every variant says what was wanted, what Docker or the machine said to it, and what to do.

use std::{net::SocketAddrV4, path::PathBuf};

use loadline_model::platform::{DockerNetwork, Publish};
use loadline_platform::PlatformError;

/// A container could not be had, or not be removed.
#[derive(Debug, thiserror::Error)]
pub enum DockerError {
    /// Something could not be made on this machine, or not be removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// The service is a command only.
    #[error(
        "a container needs an image, and the service has none: name one, or an archive, or a static program"
    )]
    NoImage,
    /// An address of another kind, or over TLS.
    #[error(
        "`{uri}` is no address for Docker's API here: DOCKER_HOST can be unix:///PATH or, without TLS, tcp://HOST:PORT"
    )]
    Endpoint {
        /// As given.
        uri: String,
    },
    /// Nobody answers at any of the usual places.
    #[error("no Docker answers: {}. {hint}", tried.join(", "))]
    NotThere {
        /// Where it was looked for, and what came of it.
        tried: Vec<String>,
        /// What to do.
        hint: &'static str,
    },
    /// The daemon's ports and links are not the node's.
    #[error(
        "the Docker daemon at {endpoint} has another network than loadline, which could not reach its containers: run loadline as \
         root, on the machine and in the network namespace of the daemon"
    )]
    Elsewhere {
        /// The daemon.
        endpoint: String,
    },
    /// The daemon was there, and is no more.
    #[error("could not {what}: the Docker daemon at {endpoint} does not answer ({reason})")]
    Gone {
        /// What was being done.
        what: String,
        /// The daemon.
        endpoint: String,
        /// What the system said.
        reason: String,
    },
    /// The daemon refused.
    #[error("could not {what}: Docker says: {message}")]
    Refused {
        /// What was being done.
        what: String,
        /// The status of its HTTP response; none when it failed in the midst of one.
        status: Option<u16>,
        /// Its own words.
        message: String,
    },
    /// It answered with something else than its API says.
    #[error("could not {what}: the answer of the Docker daemon at {endpoint} can't be understood ({reason})")]
    Nonsense {
        /// What was being done.
        what: String,
        /// The daemon.
        endpoint: String,
        /// What was wrong with it.
        reason: String,
    },
    /// A transfer came to a standstill.
    #[error("could not {what}: nothing has moved for {seconds} s")]
    Stalled {
        /// What was being done.
        what: String,
        /// For how long.
        seconds: u64,
    },
    /// Not the name of an image at all.
    #[error("`{0}` is not the name of an image, such as nginx:1.27 or registry.example.org/team/orders:1.0")]
    BadImageName(String),
    /// The image is not on this machine, and no registry gave it.
    #[error(
        "there is no image `{name}` here, and pulling it failed: {reason}. Get it with `docker pull {name}` (after `docker login`, if its \
         registry asks for that), or give an archive of it, which `docker save` or `loadline image` writes"
    )]
    NoSuchImage {
        /// Its name.
        name: String,
        /// What came of pulling it.
        reason: String,
    },
    /// A file that no image can be loaded from.
    #[error("{} is not the archive of an image: {reason}", path.display())]
    BadArchive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Loading would take a name away from an image that isn't ours.
    #[error(
        "{} holds an image `{name}`, and Docker has another one of that name: name that one instead of the archive, or remove it \
         (`docker image rm {name}`), or save the archive under another name",
        path.display()
    )]
    ImageNameTaken {
        /// The archive.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A port can be carried by a process only where there is one to be published.
    #[error("`publish: userland-proxy` and `network: {}` can't be combined: only on a bridge is a port published", network.name())]
    NothingToPublish {
        /// The network.
        network: DockerNetwork,
    },
    /// Docker runs no process for the published port.
    #[error(
        "`publish: userland-proxy` needs the process docker-proxy, and this daemon runs none for its ports (dockerd has it unless \
         started with --userland-proxy=false; Podman has none)"
    )]
    NoUserlandProxy,
    /// What is sent to a container's own address gets lost.
    #[error(
        "the container's own address {address} can't be reached from outside the node ({reason}): Docker 28 and later drop such packets \
         unless dockerd is started with --allow-direct-routing; otherwise choose `publish: port`"
    )]
    NoDirectAccess {
        /// The address and the port of the service.
        address: SocketAddrV4,
        /// What came of connecting.
        reason: String,
    },
    /// Nothing can be measured of a service that has ended.
    #[error("{why}{}", last_words(output))]
    EndedAtOnce {
        /// How it ended.
        why: String,
        /// The end of its output.
        output: String,
    },
    /// Docker has a container that runs, but not on this machine.
    #[error("`network: {}` needs the container on this machine, and its process can't be found here", network.name())]
    NoProcess {
        /// The network.
        network: DockerNetwork,
    },
    /// Docker's description of a container lacks what it must have.
    #[error("Docker does not say {what} of the container (network: {}, publish: {})", network.name(), publish.name())]
    NotSaid {
        /// What is missing.
        what: &'static str,
        /// The network.
        network: DockerNetwork,
        /// How it is published.
        publish: Publish,
    },
    /// A daemon that is away still has what was made.
    #[error(
        "containers, networks or images of {owner} may remain in Docker at {endpoint}, which does not answer ({reason}): once it does, \
         `loadline clean` removes them (if that daemon is gone for good, remove the run's folder from loadline's registry, /run/loadline \
         for root)"
    )]
    Remains {
        /// The run, or the deployment.
        owner: String,
        /// The daemon.
        endpoint: String,
        /// What the system said.
        reason: String,
    },
    /// The program can't be made into an image.
    #[error("no image can be made: {0}")]
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

/// For a cleaner, which fails as the machine does.
impl From<DockerError> for loadline_machine::Error {
    fn from(error: DockerError) -> loadline_machine::Error {
        match error {
            DockerError::Machine(error) => error,
            error => loadline_machine::Error::Cleaner(Box::new(error)),
        }
    }
}

impl DockerError {
    /// Whether Docker said that there is no such thing.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, DockerError::Refused { status: Some(404), .. })
    }
}

/// The end of a service's output, as part of a message.
fn last_words(output: &str) -> String {
    const LINES: usize = 10;
    let lines: Vec<&str> = output.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        ". It wrote nothing".to_owned()
    } else {
        format!("; its last words:\n{}", last.join("\n"))
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
            shown.starts_with("it ended; its last words:\nline 3\n") && shown.ends_with("line 12"),
            "{shown}"
        );
        let silent = DockerError::EndedAtOnce { why: "it ended".to_owned(), output: String::new() };
        assert_eq!(silent.to_string(), "it ended. It wrote nothing");
    }
}
