//! Tens of thousands of open connections to a real server, in a network namespace of their own so that there are ports for them; and what
//! is said when the system does not allow so many.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::servers::nginx::Nginx;
use crate::servers::{free_port, local};
use crate::support::{alone, options, slice};
use loadline_engine::{Endpoint, Engine, Options};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Open files that a program needs besides its connections.
const OTHER_FILES: u64 = 200;

/// How many connections one process may have here, of those that are asked for.
fn most_per_process(connections: u64) -> u64 {
    getrlimit(Resource::Nofile).maximum.map_or(connections, |limit| connections.min(limit - OTHER_FILES))
}

/// Resident memory of this process, in kB.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// nginx in a network namespace of its own, with so many processes; where the namespace is.
fn nginx_apart(port: u16, processes: u64) -> (Nginx, PathBuf) {
    let server = format!(
        "server {{ listen 0.0.0.0:{port} backlog=4096 reuseport; keepalive_timeout 600; access_log off;
            location / {{ return 200 ok; }} }}"
    );
    let nginx =
        Nginx::start_many(processes, &["unshare", "--net", "--pid", "--fork", "--kill-child"], &server);
    let namespace = PathBuf::from(format!("/proc/{}/ns/net", nginx.id()));
    let arguments = [&format!("--net={}", namespace.display()), "ip", "link", "set", "lo", "up"];
    assert!(Command::new("nsenter").args(arguments).status().unwrap().success());
    (nginx, namespace)
}

/// Enters a network namespace and says which ports it may use there.
fn entering(namespace: &Path, ports: &'static str) -> Arc<dyn Fn() -> io::Result<()> + Send + Sync> {
    let namespace = File::open(namespace).unwrap();
    Arc::new(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", ports)
    })
}

const TOLD: [&str; 5] = ["NAMESPACE", "PORT", "SOURCE", "CONNECTIONS", "RATE"];

/// Not a test: opens connections and drives them for 5 s, in a process that does nothing else, as its memory is looked at. Prints how
/// much of that it took.
#[test]
#[ignore = "started by the tests below"]
fn a_part_of_the_connections() {
    let [namespace, port, source, connections, rate] = TOLD.map(|name| std::env::var(name).unwrap());
    let source: IpAddr = source.parse().unwrap();
    let connections = connections.parse().unwrap();
    let before = resident_kb();
    let on_thread_start = entering(Path::new(&namespace), "1024 65535");
    let timeout = Duration::from_secs(60);
    let endpoint = Endpoint { source: Some(source), ..Endpoint::from(local(port.parse().unwrap())) };
    let mut engine =
        Engine::start(&Options { on_thread_start, timeout, ..options(endpoint, connections) }).unwrap();
    let begun = Instant::now();
    engine.prepare().unwrap();
    let opened_in = begun.elapsed();
    let record = engine.drive(slice(&rate, 5.0)).unwrap();
    let memory = resident_kb().saturating_sub(before);
    println!(
        "{connections} connections: {memory} kB, open after {:.1} s, {rate}: send lag p99 {} µs, service time p50 {} µs",
        opened_in.as_secs_f64(),
        record.send_lag.value_at_quantile(0.99) / 1000,
        record.service.value_at_quantile(0.5) / 1000,
    );
    assert_eq!((record.answered, record.errors.total()), (record.due, 0), "{:?}", record.errors);
    assert_eq!((record.connect.len(), record.reconnects), (connections as u64, 0));
}

/// A process of so many connections from this address.
fn start_part(namespace: &Path, port: u16, source: &str, connections: u64, rate: u64) -> Child {
    let values = [
        namespace.display().to_string(),
        port.to_string(),
        source.to_owned(),
        connections.to_string(),
        format!("{rate}/s"),
    ];
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "many_connections::a_part_of_the_connections", "--ignored", "--nocapture"])
        .envs(TOLD.into_iter().zip(values))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for its end, which must be a success; how much memory it took, in kB.
fn memory_of(part: Child) -> u64 {
    let output = part.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let line = said.lines().find(|line| line.contains(" connections: ")).unwrap_or_else(|| panic!("{said}"));
    println!("{line}");
    let memory = line.split(" connections: ").nth(1).and_then(|rest| rest.split(' ').next());
    memory.unwrap().parse().unwrap()
}

#[test]
fn ten_thousand_connections_take_at_most_100_mb() {
    let _alone = alone();
    let port = free_port();
    let (_nginx, namespace) = nginx_apart(port, 1);
    let memory = memory_of(start_part(&namespace, port, "127.0.0.1", 10_000, 2000));
    assert!(memory <= 100_000, "{memory} kB");
}

/// By as many processes as it takes where one may not open so many files, each with a source address of its own: the kernel's search for
/// a free port gets long when few are left for an address.
#[test]
fn fifty_thousand_connections_are_opened_and_driven_without_an_error() {
    const CONNECTIONS: u64 = 50_000;
    let _alone = alone();
    let port = free_port();
    let processes = CONNECTIONS.div_ceil(most_per_process(20_000));
    // The kernel gives connections to nginx's processes at random, so that none gets more than half as much again.
    let (_nginx, namespace) = nginx_apart(port, processes.div_ceil(2) * 3);
    let parts: Vec<Child> = (0..processes)
        .map(|part| {
            let connections = CONNECTIONS / processes + u64::from(part < CONNECTIONS % processes);
            start_part(&namespace, port, &format!("127.0.0.{}", part + 1), connections, 2000 / processes)
        })
        .collect();
    for part in parts {
        memory_of(part);
    }
}

#[test]
fn too_few_local_ports_are_said_to_be_that() {
    let _alone = alone();
    let port = free_port();
    let (_nginx, namespace) = nginx_apart(port, 1);
    let on_thread_start = entering(&namespace, "60000 60099");
    let options = Options { on_thread_start, timeout: Duration::from_secs(5), ..options(local(port), 500) };
    let error = Engine::start(&options).unwrap().prepare().unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("no local port is left") && error.contains("ip_local_port_range"), "{error}");
}

/// Not a test: what a process says that may open 1,000 files.
#[test]
#[ignore = "started by the test below"]
fn an_engine_of_5000_connections() {
    println!("{}", Engine::start(&options(local(1), 5000)).err().unwrap());
}

#[test]
fn a_limit_of_open_files_is_said_before_anything_is_opened() {
    let program = std::env::current_exe().unwrap();
    let output = Command::new("prlimit")
        .args(["--nofile=1000:1000", "--"])
        .arg(program)
        .args(["--exact", "many_connections::an_engine_of_5000_connections", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("cannot open 5000 connections: they need 5100 open files and the limit is 1000"),
        "{said}"
    );
}

#[test]
fn a_soft_limit_of_open_files_is_raised() {
    let program = std::env::current_exe().unwrap();
    let output = Command::new("prlimit")
        .args(["--nofile=100:", "--"])
        .arg(program)
        .args(["--exact", "many_connections::an_engine_of_5000_connections", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    // The engine starts, and then there is no error to print.
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("None") && !said.contains("open files"), "{said}");
}
