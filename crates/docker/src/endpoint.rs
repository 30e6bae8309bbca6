//! Where Docker's API is: where DOCKER_HOST says, or at the usual sockets of Docker and Podman.
//! A daemon of another network namespace is of no use: its containers are out of the client's reach.

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

const START_IT: &str = "Start it (`systemctl start docker`, or `systemctl start podman.socket`), or say where it is in DOCKER_HOST";
const MAY_NOT: &str = "Join the group that may use it (`usermod -aG docker USER` as root, then log in again), or run loadline as root";

/// The address of the API, which somebody answers at: `given`, or DOCKER_HOST, or the first of the usual ones.
pub(crate) async fn find(given: Option<&str>, node: &Netns) -> Result<String, DockerError> {
    let host = env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
    let candidates = match given.map(str::to_owned).or(host) {
        Some(uri) => vec![uri],
        None => usual_sockets().iter().map(|path| format!("unix://{}", path.display())).collect(),
    };
    let (mut tried, mut hint) = (Vec::new(), START_IT);
    for uri in candidates {
        let Some(path) = uri.strip_prefix("unix://") else {
            // Whether anybody answers there shows with the first call.
            return if is_plain_tcp(&uri) { Ok(uri) } else { Err(DockerError::Endpoint { uri }) };
        };
        match UnixStream::connect(path).await {
            Ok(stream) if is_elsewhere(&stream, node) => {
                return Err(DockerError::Elsewhere { endpoint: uri });
            }
            Ok(_) => return Ok(uri),
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    hint = MAY_NOT;
                }
                tried.push(format!("{path} ({error})"));
            }
        }
    }
    Err(DockerError::NotThere { tried, hint })
}

fn usual_sockets() -> Vec<PathBuf> {
    let own = env::var_os("XDG_RUNTIME_DIR").map(|dir| Path::new(&dir).join("podman/podman.sock"));
    [Some(DOCKER_SOCKET.into()), own, Some(PODMAN_SOCKET.into())].into_iter().flatten().collect()
}

fn is_plain_tcp(uri: &str) -> bool {
    let with_tls = env::var_os("DOCKER_TLS_VERIFY").is_some_and(|value| !value.is_empty());
    uri.starts_with("http://") || uri.starts_with("tcp://") && !with_tls
}

/// Whether who listens there (systemd in its place, if it opened the socket) is known to have another network namespace.
fn is_elsewhere(stream: &UnixStream, node: &Netns) -> bool {
    // A process that is invisible from here has the number 0.
    let Some(pid) = stream.peer_cred().ok().and_then(|peer| peer.pid()).filter(|pid| *pid > 0) else {
        return false;
    };
    match is_in(node, pid.unsigned_abs()) {
        Ok(inside) => !inside,
        // Only root of a user namespace is root and refused the look, and has a network namespace of its own. An ordinary user can't know.
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied && rustix::process::geteuid().is_root(),
    }
}
