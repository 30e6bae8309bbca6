//! What validation asks of the machine: built-in services, CPUs, the search path, listening ports and names; and a random seed.
//!
//! It only looks; nothing is started, bound or created.

use std::ffi::OsString;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use loadline_model::metrics::MetricDeclaration;

/// Names the folder of the reference services.
const SERVICES: &str = "LOADLINE_SERVICES";
/// Where they are in a checkout.
const DEFAULT_SERVICES: &str = "target/services";

/// Checks the arguments of a built-in service; the error says what is wrong with them.
pub type CheckBuiltin<'a> = &'a dyn Fn(&str, &[String]) -> Result<(), String>;

/// The machine that an experiment is validated for.
#[derive(Clone)]
pub struct Machine<'a> {
    /// Checks the name and arguments of a built-in service.
    pub check_builtin: CheckBuiltin<'a>,
    /// CPUs that this process may use, ascending.
    pub cpus: Vec<usize>,
    /// Where programs are looked for, as in `$PATH`.
    pub path: OsString,
    /// Where `make services` left the reference services.
    pub services: PathBuf,
    /// Whether something listens on a TCP port.
    pub listens: &'a dyn Fn(u16) -> bool,
    /// Addresses of a host name with a port; empty if there are none.
    pub resolve: &'a dyn Fn(&str, u16) -> Vec<SocketAddr>,
    /// Seed of an experiment that has none.
    pub seed: u64,
    /// The metrics that probes may declare, but those that services show themselves.
    pub metrics: Vec<MetricDeclaration>,
}

impl<'a> Machine<'a> {
    /// This machine as this process sees it, without probes.
    pub fn this(check_builtin: CheckBuiltin<'a>) -> Machine<'a> {
        Machine {
            check_builtin,
            cpus: affinity(),
            path: std::env::var_os("PATH").unwrap_or_default(),
            services: std::env::var_os(SERVICES).map_or_else(|| DEFAULT_SERVICES.into(), PathBuf::from),
            listens: &listens,
            resolve: &resolve,
            seed: draw_seed(),
            metrics: Vec::new(),
        }
    }
}

impl fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("cpus", &self.cpus).field("path", &self.path).finish_non_exhaustive()
    }
}

/// A random seed, short enough to be typed again.
fn draw_seed() -> u64 {
    // The keys of a RandomState come from the operating system's random source.
    RandomState::new().build_hasher().finish() & 0xffff_ffff
}

/// CPUs that this process may use (sched_getaffinity(2)), which cpusets and taskset(1) make fewer than the machine has.
fn affinity() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Whether a socket listens on the port, by the kernel's own tables; a table that cannot be read means no.
fn listens(port: u16) -> bool {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .any(|table| table_shows_listener(&table, port))
}

/// Reads a table of proc_pid_net(5): `sl local_address rem_address st …` with `ADDRESS:PORT` in hexadecimal, where
/// state 0A is TCP_LISTEN (include/net/tcp_states.h).
fn table_shows_listener(table: &str, port: u16) -> bool {
    table.lines().skip(1).any(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let local_port = columns.next().and_then(|local| local.rsplit_once(':')).map(|(_, port)| port);
        let state = columns.nth(1);
        state == Some("0A") && local_port.and_then(|text| u16::from_str_radix(text, 16).ok()) == Some(port)
    })
}

fn resolve(host: &str, port: u16) -> Vec<SocketAddr> {
    (host, port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_port_is_seen_as_listening() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listens(port));
    }

    #[test]
    fn only_listening_sockets_count() {
        let table = "  sl  local_address rem_address   st tx_queue\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n   \
            1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000\n";
        assert!(table_shows_listener(table, 8080));
        assert!(!table_shows_listener(table, 8081));
        assert!(!table_shows_listener("", 8080));
    }

    #[test]
    fn seeds_are_drawn_anew() {
        let drawn: std::collections::BTreeSet<u64> = (0..10).map(|_| draw_seed()).collect();
        assert!(drawn.len() > 1, "{drawn:?}");
    }

    #[test]
    fn this_process_has_a_cpu() {
        assert!(!affinity().is_empty());
    }
}
