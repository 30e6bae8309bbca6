//! The service process: where it runs, its arguments and environment, how it ends, and the errors when it cannot start.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt};

use loadline_local::{Host, Local, LocalError};
use loadline_machine::{Cgroup, Environment, Error};
use loadline_model::platform::{Layer, Limits, preset};
use loadline_platform::{Platform, PlatformError, Service};
use loadline_test_support::{
    Node, allowed_cpus, caller_seen, cgroup_of, pid_of, processes_of, wait_until, who_called,
};

fn command(argv: &[&str]) -> Service {
    Service { argv: argv.iter().map(|word| (*word).to_owned()).collect(), ..Service::default() }
}

fn refusal(environment: &Environment, service: &Service) -> PlatformError {
    match Host::default().deploy(environment, service, &mut |_| {}) {
        Ok(_) => panic!("{:?} was started", service.argv),
        Err(error) => error,
    }
}

#[test]
fn the_service_is_pinned_to_its_cpus_on_every_platform() {
    let node = Node::enter_new();
    let environment = node.environment();
    for platform in
        [&Host::default() as &dyn Platform, &Local { layers: preset("pod").unwrap(), own_node: false }]
    {
        let deployment = platform.deploy(&environment, &who_called(), &mut |_| {}).unwrap();
        assert_eq!(allowed_cpus(pid_of(&*deployment)), "0");
    }
}

#[test]
fn limits_are_in_the_cgroup_files_and_the_process_is_in_the_cgroup() {
    let node = Node::enter_new();
    let environment = node.environment();
    let limits = Limits { cpus: Some(0.5), memory_bytes: Some(64 << 20) };
    let service = Service { limits, ..who_called() };
    for platform in
        [&Host::default() as &dyn Platform, &Local { layers: preset("pod").unwrap(), own_node: false }]
    {
        let deployment = platform.deploy(&environment, &service, &mut |_| {}).unwrap();
        let read =
            |dir: &std::path::Path, name: &str| fs::read_to_string(dir.join(name)).unwrap().trim().to_owned();
        let pid = pid_of(&*deployment).to_string();
        match &cgroup_of(&*deployment).expect("a cgroup") {
            Cgroup::V1 { cpu, cpuacct, cpuset, memory } => {
                assert_eq!(read(cpu, "cpu.cfs_quota_us"), "50000");
                assert_eq!(read(memory.as_ref().unwrap(), "memory.limit_in_bytes"), (64 << 20).to_string());
                assert_eq!(read(cpuset.as_ref().unwrap(), "cpuset.cpus"), "0");
                assert_eq!(read(cpuacct, "cgroup.procs"), pid);
            }
            Cgroup::V2 { dir } => {
                assert_eq!(read(dir, "cpu.max"), "50000 100000");
                assert_eq!(read(dir, "memory.max"), (64 << 20).to_string());
                assert_eq!(read(dir, "cgroup.procs"), pid);
            }
        }
        caller_seen(&environment, deployment.address());
    }
}

#[test]
fn without_limits_a_host_service_has_no_cgroup() {
    let node = Node::enter_new();
    let environment = node.environment();
    let deployment = Host::default().deploy(&environment, &who_called(), &mut |_| {}).unwrap();
    assert_eq!(cgroup_of(&*deployment), None);
}

#[test]
fn host_and_port_are_in_the_environment_and_in_values_of_variables() {
    let node = Node::enter_new();
    let environment = node.environment();
    let mut service = command(&["sh", "-c", "echo $HOST:$PORT=$BOTH; exec sleep 1000"]);
    service.env = vec![("BOTH".to_owned(), "{host}:{port}".to_owned())];
    let deployment = Local { layers: vec![Layer::Veth], own_node: false }
        .deploy(&environment, &service, &mut |_| {})
        .unwrap();
    let expected = format!("{0}={0}\n", deployment.address());
    wait_until("the output", || deployment.output_tail() == expected);
}

#[test]
fn a_service_that_dies_is_reported_with_its_last_output() {
    let node = Node::enter_new();
    let environment = node.environment();
    let mut deployment = Host::default()
        .deploy(&environment, &command(&["sh", "-c", "echo no database >&2; exit 3"]), &mut |_| {})
        .unwrap();
    let mut status = None;
    for _ in 0..3000 {
        status = deployment.ended();
        if status.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let why = "the service exited on its own (exit status: 3)";
    assert_eq!(status.as_deref(), Some(why));
    assert_eq!(deployment.output_tail(), "no database\n");
    assert_eq!(deployment.ended().as_deref(), Some(why));
    deployment.stop().unwrap();
}

#[test]
fn a_service_that_ignores_sigterm_is_stopped_with_children_in_other_sessions() {
    let node = Node::enter_new();
    let environment = node.environment();
    let script = "trap '' TERM; setsid sleep 1000 & sleep 1000 & echo up; while :; do sleep 1; done";
    let deployment =
        Host::default().deploy(&environment, &command(&["sh", "-c", script]), &mut |_| {}).unwrap();
    wait_until("the output", || deployment.output_tail() == "up\n");
    let run = environment.run().to_string();
    assert!(processes_of(&run).len() >= 3);
    deployment.stop().unwrap();
    assert!(processes_of(&run).is_empty());
}

#[test]
fn a_chatty_service_never_blocks() {
    let node = Node::enter_new();
    let environment = node.environment();
    let script = "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo done; exec sleep 1000";
    let deployment =
        Host::default().deploy(&environment, &command(&["sh", "-c", script]), &mut |_| {}).unwrap();
    wait_until("the end of the output", || deployment.output_tail().ends_with("\ndone\n"));
    assert!(deployment.output_tail().len() <= 64 * 1024);
}

#[test]
fn a_missing_command_is_named_with_where_it_was_searched() {
    let node = Node::enter_new();
    let environment = node.environment();
    let error = refusal(&environment, &command(&["no-such-service"]));
    assert!(matches!(error.reason(), Some(LocalError::CommandNotFound { .. })));
    assert!(
        error.to_string().contains("cannot find the command `no-such-service` (searched PATH: "),
        "{error}"
    );
    let error = refusal(&environment, &command(&["./no-such-service"]));
    assert!(error.to_string().contains("there is no such file"), "{error}");
    assert!(matches!(refusal(&environment, &command(&[])).reason(), Some(LocalError::EmptyCommand)));
}

#[test]
fn a_file_that_is_not_a_program_is_rejected() {
    let node = Node::enter_new();
    let environment = node.environment();
    let file = node.dir.path().join("service");
    fs::write(&file, "not a program").unwrap();
    let path = file.display().to_string();
    assert!(matches!(
        refusal(&environment, &command(&[&path])).reason(),
        Some(LocalError::NotExecutable { .. })
    ));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let error = refusal(&environment, &command(&[&path]));
    let expected = matches!(error, PlatformError::Machine(Error::Start { step: "starting the program", .. }));
    assert!(expected, "{error}");
}

#[test]
fn a_cpu_that_does_not_exist_is_refused_by_the_step_that_failed() {
    let node = Node::enter_new();
    let environment = node.environment();
    for cpus in [vec![999], vec![100_000]] {
        let error = refusal(&environment, &Service { cpus, ..who_called() });
        assert!(error.to_string().contains("pinning it to its CPUs"), "{error}");
    }
}

#[test]
fn a_port_in_use_is_refused_before_the_start() {
    let node = Node::enter_new();
    let environment = node.environment();
    let listener = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let service = Service { port: Some(port), ..who_called() };
    let error = refusal(&environment, &service);
    assert!(error.to_string().contains(&format!("port {port} is in use")), "{error}");
    // A pod has all ports to itself.
    let pod = Local { layers: vec![Layer::Veth], own_node: false }
        .deploy(&environment, &service, &mut |_| {})
        .unwrap();
    assert_eq!(pod.address().port(), port);
    caller_seen(&environment, pod.address());
}

#[test]
fn a_failed_start_leaves_nothing_of_its_layers() {
    let node = Node::enter_new();
    let before = loadline_test_support::inventory("");
    let environment = node.environment();
    let run = environment.run().to_string();
    let failed = Local { layers: preset("pod").unwrap(), own_node: false }.deploy(
        &environment,
        &command(&["no-such-service"]),
        &mut |_| {},
    );
    assert!(failed.is_err());
    let left: Vec<_> = loadline_test_support::inventory(&run)
        .into_iter()
        .filter(|t| t.contains(&format!("{run}-1")))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    environment.remove().unwrap();
    loadline_test_support::assert_same(&loadline_test_support::inventory(&run), &before);
}
