//! What a container is given, and what its start reports.

use super::*;

#[test]
fn limits_cpus_user_and_mounts_are_as_requested() {
    let stand = Stand::docker();
    let environment = stand.environment();
    let limits = Limits { cpus: Some(0.5), memory_bytes: Some(64 << 20) };
    let env = vec![("WHERE".to_owned(), "{host}:{port}".to_owned())];
    let service = Service { limits, cpus: vec![1], port: Some(8765), env, ..who_called() };
    let source = stand.node.dir.path().to_owned();
    let mounts = vec![Mount { source: source.clone(), target: "/data".to_owned(), read_only: true }];
    let docker = Docker { user: Some("1234:5678".to_owned()), mounts, ..Docker::default() };
    let deployment = deploy(&docker, &environment, &service);
    caller_seen(&environment, deployment.address());

    let pid = pid_of(&*deployment);
    let proc = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
    assert_eq!(allowed_cpus(pid), "1");
    assert!(
        proc("status").contains("Uid:\t1234\t") && proc("status").contains("Gid:\t5678\t"),
        "{}",
        proc("status")
    );
    let variables = proc("environ");
    let variables: Vec<&str> = variables.split('\0').collect();
    for variable in ["WHERE=0.0.0.0:8765", "HOST=0.0.0.0", "PORT=8765"] {
        assert!(variables.contains(&variable), "{variable} is not among {variables:?}");
    }
    assert_eq!(proc("cmdline").split('\0').skip(1).collect::<Vec<_>>(), ["serve", "0.0.0.0", "8765", ""]);
    let mount = proc("mountinfo").lines().find(|line| line.contains(" /data ")).map(str::to_owned).unwrap();
    assert!(mount.contains(" /data ro"), "{mount}");

    let read = |dir: &Path, name: &str| fs::read_to_string(dir.join(name)).unwrap().trim().to_owned();
    match &cgroup_of(&*deployment).expect("a cgroup") {
        Cgroup::V1 { cpu, cpuacct, cpuset, memory } => {
            assert_eq!(read(cpu, "cpu.cfs_quota_us"), "50000");
            assert_eq!(read(cpu, "cpu.cfs_period_us"), "100000");
            let memory = memory.as_ref().unwrap();
            assert_eq!(read(memory, "memory.limit_in_bytes"), (64 << 20).to_string());
            let with_swap = memory.join("memory.memsw.limit_in_bytes");
            assert!(
                !with_swap.exists() || read(memory, "memory.memsw.limit_in_bytes") == (64 << 20).to_string()
            );
            assert_eq!(read(cpuset.as_ref().unwrap(), "cpuset.cpus"), "1");
            assert_eq!(read(cpuacct, "cgroup.procs"), pid.to_string());
        }
        Cgroup::V2 { dir } => {
            assert_eq!(read(dir, "cpu.max"), "50000 100000");
            assert_eq!(read(dir, "memory.max"), (64 << 20).to_string());
            assert_eq!(read(dir, "memory.swap.max"), "0");
            assert_eq!(read(dir, "cgroup.procs"), pid.to_string());
        }
    }
}

#[test]
fn a_start_reports_its_phases_in_order_and_the_images_size() {
    let stand = Stand::docker();
    let environment = stand.environment();
    let mut deployment = deploy(&Docker::default(), &environment, &who_called());
    let startup = deployment.startup();
    let names: Vec<&str> = startup.phases.iter().map(|phase| phase.name).collect();
    assert_eq!(names, ["image", "created", "started"]);
    assert!(startup.phases.is_sorted_by_key(|phase| phase.after));
    let program = fs::metadata(loadline_test_support::helper()).unwrap().len();
    let image = startup.image_bytes.unwrap();
    assert!((program..program + 100_000).contains(&image), "{image} for a program of {program} bytes");
}

#[test]
fn a_daemon_is_reached_over_tcp_as_well() {
    let stand = Stand::with(|| Engine::docker(&["--host", "tcp://127.0.0.1:2375", "--tls=false"]));
    let environment = Run { endpoint: "tcp://127.0.0.1:2375".to_owned(), ..stand.environment() };
    let deployment = deploy(&Docker::default(), &environment, &who_called());
    caller_seen(&environment, deployment.address());
    assert!(root_pid(&*deployment).is_some());
    deployment.stop().unwrap();
    environment.remove().unwrap();
}

#[test]
fn where_docker_has_other_process_ids_docker_is_asked() {
    let stand = Stand::with(Engine::docker_with_other_pids);
    let environment = stand.environment();
    let mut deployment = deploy(&Docker::default(), &environment, &who_called());
    caller_seen(&environment, deployment.address());
    assert_eq!((root_pid(&*deployment), cgroup_of(&*deployment)), (None, None));
    assert_eq!(deployment.ended(), None);
    stand.engine.cli(&["kill", &format!("loadline-{}-1", environment.run())]);
    assert_eq!(end_of(&mut *deployment), "the service was killed (signal: 9 (SIGKILL))");
    deployment.stop().unwrap();
    let error = refusal(&on(DockerNetwork::NoneWithWire, Publish::None), &environment, &who_called());
    assert!(error.contains("its process was not found here"), "{error}");
}
