//! The layer `userland-proxy`: Docker's own docker-proxy, a process of the node that accepts the client's connections and copies the data
//! to its own connections to the pod.

use std::{
    io::{self, PipeReader, Read},
    net::SocketAddrV4,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use loadline_machine::{ChildProcess, Environment, ErrorContext, Launch, Netns, ProcessPlacement, tool};

use super::{Layer, unavailable::unavailable};
use crate::error::LocalError;

const PROGRAM: &str = "docker-proxy";
/// Where Docker's packages install internal programs, besides PATH (moby, daemon/config: `lookupBinPath`).
const FOLDERS: [&str; 4] =
    ["/usr/local/libexec/docker", "/usr/libexec/docker", "/usr/local/lib/docker", "/usr/lib/docker"];
/// How long it may take until it listens; it needs milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Starts it in the namespace `node`; it listens on `listen` when this returns.
pub(crate) fn start(
    environment: &Environment,
    placement: &ProcessPlacement,
    node: &Netns,
    listen: SocketAddrV4,
    pod: SocketAddrV4,
) -> Result<ChildProcess, LocalError> {
    let path = find()?;
    let (report, third) = io::pipe().with_context(|| "make a pipe")?;
    let arguments = arguments(listen, pod).into_iter().map(Into::into).collect();
    let variables = std::env::vars_os().collect();
    let launch = Launch { path, arguments, variables, working_dir: None, third: Some(third.into()) };
    let proxy =
        ChildProcess::start(environment, launch, &ProcessPlacement { netns: Some(node), ..*placement })?;
    match wait_until_listening(report) {
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

/// The program, or the error that it is not installed.
pub(crate) fn find() -> Result<PathBuf, LocalError> {
    let mut in_folders = FOLDERS.iter().map(|folder| Path::new(folder).join(PROGRAM));
    let found = tool::find(PROGRAM).or_else(|| in_folders.find(|file| tool::is_executable(file)));
    found.ok_or_else(|| {
        let why = format!("the program `{PROGRAM}` is not installed (package `docker.io`, or Docker's own)");
        unavailable(&Layer::UserlandProxy, why)
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

/// Reads its report on descriptor 3: `0` and a newline once it listens, or `1`, a newline and the reason (moby,
/// cmd/docker-proxy/main_linux.go). The error completes the sentence that begins with the program's name.
fn wait_until_listening(mut report: PipeReader) -> Result<(), String> {
    let deadline = Instant::now() + TIMEOUT;
    let mut said = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&report, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Err(format!("did not report within {TIMEOUT:?} that it listens")),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(format!("cannot be read from: {error}")),
            Ok(_) => {}
        }
        let mut chunk = [0; 4096];
        match report.read(&mut chunk) {
            Ok(0) => return parse_report(&said),
            Ok(length) => said.extend(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot be read from: {error}")),
        }
        if said == b"0\n" {
            return Ok(());
        }
    }
}

/// Interprets its complete report.
fn parse_report(said: &[u8]) -> Result<(), String> {
    match said {
        b"0\n" => Ok(()),
        [b'1', b'\n', why @ ..] => Err(format!("reports: {}", String::from_utf8_lossy(why).trim())),
        _ => Err("exited before it listened".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_good_bad_or_missing() {
        assert_eq!(parse_report(b"0\n"), Ok(()));
        assert_eq!(parse_report(b"1\nbind: in use\n"), Err("reports: bind: in use".to_owned()));
        assert_eq!(parse_report(b""), Err("exited before it listened".to_owned()));
    }

    #[test]
    fn it_gets_the_address_and_port_of_both_ends() {
        let words =
            arguments("198.18.0.1:30001".parse().unwrap(), "198.18.0.18:8080".parse().unwrap()).join(" ");
        assert_eq!(
            words,
            "docker-proxy -proto tcp -host-ip 198.18.0.1 -host-port 30001 -container-ip 198.18.0.18 -container-port 8080"
        );
    }
}
