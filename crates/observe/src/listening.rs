//! The TCP ports that a service listens on: sockets in the state LISTEN of `/proc/PID/net/tcp` and `tcp6` (proc_pid_net(5)) whose inode is among the
//! descriptors of one of its processes.

use std::collections::BTreeSet;
use std::fs;

use crate::procfs::Proc;

/// `TCP_LISTEN` in the kernel's `include/net/tcp_states.h`.
const LISTEN: &str = "0A";

/// The ports that these processes listen on if none of them is the port that they were given in `$PORT`; empty otherwise, and where that is not known.
pub fn listening_elsewhere(pids: &[u32]) -> BTreeSet<u16> {
    let proc = Proc::default();
    let given = pids.iter().find_map(|pid| given_port(&proc.read(&format!("{pid}/environ"))?));
    let listening: BTreeSet<u16> = pids.iter().flat_map(|pid| listening(&proc, *pid)).collect();
    match given {
        Some(given) if !listening.contains(&given) => listening,
        _ => BTreeSet::new(),
    }
}

/// The ports that a process listens on; none where that is not known.
pub fn listening_ports(pid: u32) -> BTreeSet<u16> {
    listening(&Proc::default(), pid)
}

fn given_port(environ: &str) -> Option<u16> {
    environ.split('\0').find_map(|variable| variable.strip_prefix("PORT=")?.parse().ok())
}

fn listening(proc: &Proc, pid: u32) -> BTreeSet<u16> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    let inodes: BTreeSet<u64> = links
        .filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
        .collect();
    ["tcp", "tcp6"]
        .iter()
        .filter_map(|table| proc.read(&format!("{pid}/net/{table}")))
        .flat_map(|table| table.lines().filter_map(listener).collect::<Vec<_>>())
        .filter(|(_, inode)| inodes.contains(inode))
        .map(|(port, _)| port)
        .collect()
}

/// Port and inode of a line's socket, if it is listening.
fn listener(line: &str) -> Option<(u16, u64)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (local, state, inode) = (words.get(1)?, words.get(3)?, words.get(9)?);
    let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
    (*state == LISTEN).then_some((port, inode.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn ports_are_those_of_the_process() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let own = std::process::id();
        assert!(listening(&Proc::default(), own).contains(&port));
        drop(listener);
        assert!(!listening(&Proc::default(), own).contains(&port));
        assert!(listening_elsewhere(&[u32::MAX]).is_empty(), "there is no such process");
    }

    #[test]
    fn only_listening_sockets_count() {
        let at = |state| {
            format!(
                "   0: 0100007F:1F90 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 4242 1"
            )
        };
        assert_eq!(listener(&at("0A")), Some((8080, 4242)));
        assert_eq!(listener(&at("01")), None);
        assert_eq!(listener("  sl  local_address rem_address   st tx_queue rx_queue"), None);
    }

    #[test]
    fn the_given_port_is_a_variable() {
        assert_eq!(given_port("A=1\0PORT=8080\0B=2\0"), Some(8080));
        assert_eq!(given_port("SUPPORT=1\0PORT=x\0"), None);
    }
}
