//! The attach protocol of HotSpot, by which `jcmd` asks a JVM (OpenJDK, src/hotspot/os/posix/attachListener_posix.cpp): a file
//! `.attach_pidN` in its `/tmp` and a SIGQUIT make it listen on the socket `.java_pidN` there. A JVM that does not would print its threads
//! for the signal, or be ended by it, so it is sent only to one that handles it and has not been told to keep to itself.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, statat};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{Pid, Signal, kill_process};

use crate::inside::{Inside, Placed};
use crate::procfs::Proc;

/// How long the JVM may take to listen: it looks for the file when the signal reaches it.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);
/// How long one answer may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
const INTERVAL: Duration = Duration::from_millis(10);
/// Far more than all flags and a thousand threads.
const LONGEST_ANSWER: usize = 16 << 20;

/// A JVM that answers.
pub(crate) struct Attached {
    folder: OwnedFd,
    socket: String,
}

/// Why one does not.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttachError {
    #[error("it does not handle SIGQUIT")]
    NoSignal,
    #[error("it was started with -XX:+DisableAttachMechanism")]
    Disabled,
    #[error("{what}: {source}")]
    Io { what: &'static str, source: io::Error },
    #[error("it did not listen within {} s", LISTENS_WITHIN.as_secs())]
    Silent,
    #[error("it answered {0:?}")]
    Refused(String),
}

fn io_error<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> AttachError {
    move |source| AttachError::Io { what, source: source.into() }
}

impl Attached {
    /// Makes a JVM listen, which has `own` as its number in its own PID namespace.
    pub(crate) fn to(proc: &Proc, pid: Pid, own: u32) -> Result<Attached, AttachError> {
        let inside = Inside::of(pid).map_err(io_error("its root folder cannot be opened"))?;
        let folder = inside.folder("tmp").map_err(io_error("its /tmp cannot be opened"))?;
        let attached = Attached { folder, socket: format!(".java_pid{own}") };
        if !attached.listens() {
            attached.wake(proc, pid, own)?;
        }
        Ok(attached)
    }

    /// Asks it to listen, and waits until it does.
    fn wake(&self, proc: &Proc, pid: Pid, own: u32) -> Result<(), AttachError> {
        if !handles_quit(proc, pid) {
            return Err(AttachError::NoSignal);
        }
        let command_line = proc.read(&format!("{pid}/cmdline")).unwrap_or_default();
        if command_line.contains("-XX:+DisableAttachMechanism") {
            return Err(AttachError::Disabled);
        }
        let asked = Placed::new(&self.folder, format!(".attach_pid{own}"));
        let _asked = asked.map_err(io_error("nothing can be written into its /tmp"))?;
        kill_process(pid, Signal::QUIT).map_err(io_error("it cannot be sent a signal"))?;
        let deadline = Instant::now() + LISTENS_WITHIN;
        while !self.listens() {
            if Instant::now() > deadline {
                return Err(AttachError::Silent);
            }
            sleep(INTERVAL);
        }
        Ok(())
    }

    /// Whether its socket is there, and no link that somebody else put into its place.
    fn listens(&self) -> bool {
        let status = statat(&self.folder, &*self.socket, AtFlags::SYMLINK_NOFOLLOW);
        status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Socket)
    }

    /// Connects to its socket, and waits neither for that nor for writing longer than an answer may take.
    fn connect(&self) -> io::Result<UnixStream> {
        // A path through the open folder is short enough for an address, and leads where it was opened.
        let path = format!("/proc/self/fd/{}/{}", self.folder.as_raw_fd(), self.socket);
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(ANSWERS_WITHIN))?;
        connect(&socket, &SocketAddrUnix::new(path)?)?;
        Ok(socket.into())
    }

    /// What it says to a command of `jcmd`, as `VM.flags -all`.
    pub(crate) fn ask(&self, command: &str) -> Result<String, AttachError> {
        let deadline = Instant::now() + ANSWERS_WITHIN;
        let mut stream = self.connect().map_err(io_error("its socket refuses"))?;
        // The version of the protocol, the verb, and three arguments, each ended by a zero.
        let question = format!("1\0jcmd\0{command}\0\0\0");
        stream.write_all(question.as_bytes()).map_err(io_error("it cannot be asked"))?;
        let answer = read_until(deadline, &mut stream).map_err(io_error("it did not answer"))?;
        let text = String::from_utf8_lossy(&answer);
        match text.split_once('\n') {
            Some(("0", rest)) => Ok(rest.to_owned()),
            _ => Err(AttachError::Refused(text.chars().take(80).collect())),
        }
    }
}

/// All that a peer sends before it closes the connection.
fn read_until(deadline: Instant, stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let (mut answer, mut part) = (Vec::new(), [0; 1 << 16]);
    while answer.len() <= LONGEST_ANSWER {
        // A peer that sends byte after byte is not waited for either.
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(ErrorKind::TimedOut)?))?;
        match stream.read(&mut part) {
            Ok(0) => return Ok(answer),
            Ok(length) => answer.extend_from_slice(&part[..length]),
            // The deadline has come, or a signal.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::FileTooLarge, format!("more than {LONGEST_ANSWER} bytes")))
}

/// Whether the process has a handler for SIGQUIT: bit 2 of `SigCgt` (proc_pid_status(5)).
fn handles_quit(proc: &Proc, pid: Pid) -> bool {
    let status = proc.read(&format!("{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << (Signal::QUIT.as_raw() - 1)) != 0)
}
