//! The layer `userland-proxy`: Docker's own docker-proxy, a process of the node that accepts the client's connections and copies what
//! passes to connections of its own to the pod.

use std::{
    io::{self, PipeReader, Read},
    net::SocketAddrV4,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use loadline_machine::{Doing, Environment, Launch, Netns, Place, Running, tool};

use super::{Layer, lacking::missing};
use crate::error::LocalError;

const PROGRAM: &str = "docker-proxy";
/// Where Docker's packages put programs that are nobody's commands, beside PATH (moby, daemon/config: `lookupBinPath`).
const FOLDERS: [&str; 4] =
    ["/usr/local/libexec/docker", "/usr/libexec/docker", "/usr/local/lib/docker", "/usr/lib/docker"];
/// How long it may take to listen; it needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts it in the namespace `node`, listening on `listen` when this returns.
pub(crate) fn lay(
    environment: &Environment,
    beside: &Place,
    node: &Netns,
    listen: SocketAddrV4,
    pod: SocketAddrV4,
) -> Result<Running, LocalError> {
    let path = find()?;
    let (report, third) = io::pipe().doing(|| "make a pipe")?;
    let arguments = arguments(listen, pod).into_iter().map(Into::into).collect();
    let variables = std::env::vars_os().collect();
    let launch = Launch { path, arguments, variables, working_dir: None, third: Some(third.into()) };
    let proxy = Running::start(environment, launch, &Place { netns: Some(node), ..*beside })?;
    match until_it_listens(report) {
        Ok(()) => Ok(proxy),
        Err(why) => {
            let why = format!("{why} ({listen} to {pod})\n{}", proxy.output_tail());
            proxy.stop()?;
            Err(failed(why.trim_end().to_owned()))
        }
    }
}

fn failed(why: String) -> LocalError {
    LocalError::Proxy { layer: Layer::UserlandProxy, program: PROGRAM, why }
}

/// The program, or that it is missing.
pub(crate) fn find() -> Result<PathBuf, LocalError> {
    let mut in_folders = FOLDERS.iter().map(|folder| Path::new(folder).join(PROGRAM));
    let found = tool::find(PROGRAM).or_else(|| in_folders.find(|file| tool::is_executable(file)));
    found.ok_or_else(|| {
        let why = format!("the program `{PROGRAM}` is not installed (package `docker.io`, or Docker's own)");
        missing(&Layer::UserlandProxy, why)
    })
}

/// As the Docker daemon starts it (moby, daemon/libnetwork/portmapper/proxy_linux.go).
fn arguments(listen: SocketAddrV4, pod: SocketAddrV4) -> Vec<String> {
    let [host, port] = [listen.ip().to_string(), listen.port().to_string()];
    let [container, container_port] = [pod.ip().to_string(), pod.port().to_string()];
    let words = [PROGRAM, "-proto", "tcp", "-host-ip", &host, "-host-port", &port];
    let to = ["-container-ip", &container, "-container-port", &container_port];
    words.iter().chain(&to).map(|word| (*word).to_owned()).collect()
}

/// Reads what it says on its descriptor 3: `0` and a line's end once it listens, or `1`, a line's end and why not (moby,
/// cmd/docker-proxy/main_linux.go). The error completes the sentence that begins with its name.
fn until_it_listens(mut report: PipeReader) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    let mut said = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&report, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Err(format!("did not say within {PATIENCE:?} that it listens")),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(format!("can't be heard: {error}")),
            Ok(_) => {}
        }
        let mut chunk = [0; 4096];
        match report.read(&mut chunk) {
            Ok(0) => return judge(&said),
            Ok(length) => said.extend(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("can't be heard: {error}")),
        }
        if said == b"0\n" {
            return Ok(());
        }
    }
}

/// What its whole report means.
fn judge(said: &[u8]) -> Result<(), String> {
    match said {
        b"0\n" => Ok(()),
        [b'1', b'\n', why @ ..] => Err(format!("says: {}", String::from_utf8_lossy(why).trim())),
        _ => Err("ended before it listened".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_good_bad_or_missing() {
        assert_eq!(judge(b"0\n"), Ok(()));
        assert_eq!(judge(b"1\nbind: in use\n"), Err("says: bind: in use".to_owned()));
        assert_eq!(judge(b""), Err("ended before it listened".to_owned()));
    }

    #[test]
    fn it_is_told_both_ends_by_address_and_port() {
        let words =
            arguments("198.18.0.1:30001".parse().unwrap(), "198.18.0.18:8080".parse().unwrap()).join(" ");
        assert_eq!(
            words,
            "docker-proxy -proto tcp -host-ip 198.18.0.1 -host-port 30001 -container-ip 198.18.0.18 -container-port 8080"
        );
    }
}
