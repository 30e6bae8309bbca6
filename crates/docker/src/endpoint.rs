//! The address of Docker's API: DOCKER_HOST, or the default sockets of Docker and Podman.
//! A daemon in another network namespace cannot be used: the client could not reach its containers.

use std::{
    env, io,
    path::{Path, PathBuf},
};

use tokio::net::UnixStream;

use loadline_machine::{Netns, is_in};

use crate::error::DockerError;

/// Docker's own socket.
const DOCKER_SOCKET: &str = "/var/run/docker.sock";
/// Podman's, when root has started `podman.socket`.
const PODMAN_SOCKET: &str = "/run/podman/podman.sock";

const HINT_START: &str =
    "Start it (`systemctl start docker`, or `systemctl start podman.socket`), or set DOCKER_HOST";
const HINT_PERMISSION: &str = "Join the group that may use it (`usermod -aG docker USER` as root, then log in again), or run loadline as root";

/// The address of an API that accepts connections: `given`, or DOCKER_HOST, or the first of the default ones.
pub(crate) async fn find(given: Option<&str>, node: &Netns) -> Result<String, DockerError> {
    let host = env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
    let candidates = match given.map(str::to_owned).or(host) {
        Some(uri) => vec![uri],
        None => default_sockets().iter().map(|path| format!("unix://{}", path.display())).collect(),
    };
    let (mut tried, mut hint) = (Vec::new(), HINT_START);
    for uri in candidates {
        let Some(path) = uri.strip_prefix("unix://") else {
            // The first call shows whether anything listens there.
            return if is_plain_tcp(&uri) { Ok(uri) } else { Err(DockerError::Endpoint { uri }) };
        };
        match UnixStream::connect(path).await {
            Ok(stream) if is_in_other_namespace(&stream, node) => {
                return Err(DockerError::OtherNetworkNamespace { endpoint: uri });
            }
            Ok(_) => return Ok(uri),
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    hint = HINT_PERMISSION;
                }
                tried.push(format!("{path} ({error})"));
            }
        }
    }
    Err(DockerError::NotFound { tried, hint })
}

fn default_sockets() -> Vec<PathBuf> {
    let own = env::var_os("XDG_RUNTIME_DIR").map(|dir| Path::new(&dir).join("podman/podman.sock"));
    [Some(DOCKER_SOCKET.into()), own, Some(PODMAN_SOCKET.into())].into_iter().flatten().collect()
}

fn is_plain_tcp(uri: &str) -> bool {
    let with_tls = env::var_os("DOCKER_TLS_VERIFY").is_some_and(|value| !value.is_empty());
    uri.starts_with("http://") || uri.starts_with("tcp://") && !with_tls
}

/// Whether the listening process (systemd, if it opened the socket) is known to be in another network namespace.
fn is_in_other_namespace(stream: &UnixStream, node: &Netns) -> bool {
    // A process that is invisible from here has the id 0.
    let Some(pid) = stream.peer_cred().ok().and_then(|peer| peer.pid()).filter(|pid| *pid > 0) else {
        return false;
    };
    match is_in(node, pid.unsigned_abs()) {
        Ok(inside) => !inside,
        // Only root in a user namespace, which has a network namespace of its own, is root and may not look. An ordinary user cannot know.
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied && rustix::process::geteuid().is_root(),
    }
}
