//! However a container ends, it is noticed and reported; and however its daemon ends, everything stays registered.

use super::*;

#[test]
fn the_output_can_be_read_while_it_runs_and_after_its_end() {
    let stand = Stand::docker();
    let environment = stand.environment();
    let mut deployment =
        deploy(&Docker::default(), &environment, &helper(&["exit-when-called", "{host}", "{port}", "3"]));
    assert_eq!((deployment.ended(), deployment.output_tail().as_str()), (None, ""));
    call(&environment, &*deployment);
    assert_eq!(end_of(&mut *deployment), "the service exited on its own (exit status: 3)");
    assert_eq!(deployment.output_tail(), "I was called\n");
    deployment.stop().unwrap();
}

#[test]
fn a_service_that_ends_at_once_is_reported_with_its_last_output() {
    let stand = Stand::docker();
    let environment = stand.environment();
    // Depending on the timing it is rejected, or it is deployed and has ended.
    match environment.platform(&Docker::default()).deploy(
        &environment,
        &helper(&["exit", "7", "no database"]),
        &mut |_| {},
    ) {
        Ok(mut deployment) => {
            assert_eq!(end_of(&mut *deployment), "the service exited on its own (exit status: 7)");
            assert_eq!(deployment.output_tail(), "no database\n");
        }
        Err(error) => {
            let told = "the service exited on its own (exit status: 7); its last output:\nno database";
            assert_eq!(error.to_string(), told);
        }
    }
}

#[test]
fn a_service_that_exceeds_its_memory_limit_is_reported_so() {
    let stand = Stand::docker();
    let environment = stand.environment();
    let limits = Limits { cpus: None, memory_bytes: Some(64 << 20) };
    let service = Service { limits, ..helper(&["eat-when-called", "{host}", "{port}"]) };
    let mut deployment = deploy(&Docker::default(), &environment, &service);
    call(&environment, &*deployment);
    let told = "the service was killed because it exceeded its memory limit of 64 MiB";
    assert_eq!(end_of(&mut *deployment), told);
    deployment.stop().unwrap();
}

#[test]
fn a_killed_container_is_distinguished_from_a_removed_one() {
    let stand = Stand::docker();
    let environment = stand.environment();
    let name = |slot| format!("loadline-{}-{slot}", environment.run());
    let [mut killed, mut removed] =
        [(), ()].map(|()| deploy(&Docker::default(), &environment, &who_called()));
    stand.engine.cli(&["kill", &name(1)]);
    assert_eq!(end_of(&mut *killed), "the service was killed (signal: 9 (SIGKILL))");
    assert_eq!(removed.ended(), None);
    stand.engine.cli(&["rm", "--force", &name(2)]);
    assert_eq!(end_of(&mut *removed), "something else removed the service's container");
    killed.stop().unwrap();
    removed.stop().unwrap();
}

#[test]
fn a_daemon_that_is_stopped_takes_the_service_with_it_and_the_run_stays_registered() {
    let mut stand = Stand::docker();
    let before = stand.engine.inventory();
    let environment = stand.environment();
    let run = environment.run().to_string();
    let mut deployment = deploy(&Docker::default(), &environment, &who_called());
    stand.engine.stop();
    let told = end_of(&mut *deployment);
    assert!(told.contains("the Docker daemon at unix://") && told.contains("does not answer"), "{told}");

    let error = deployment.stop().unwrap_err().to_string();
    assert!(
        error.contains(&format!("cannot remove everything of loadline-{run}-1: Docker at unix://")),
        "{error}"
    );
    assert!(error.contains("run `loadline clean` once it does"), "{error}");
    assert!(environment.remove().is_err());
    assert!(stand.node.registry.clean(CLEANERS).is_err());

    stand.engine.restart();
    let removed: Vec<String> =
        stand.node.registry.clean(CLEANERS).unwrap().iter().map(ToString::to_string).collect();
    assert!(removed.contains(&format!("container loadline-{run}-1")), "{removed:?}");
    assert_eq!(stand.engine.inventory(), before);
    assert!(stand.node.registry.clean(CLEANERS).unwrap().is_empty());
}

#[test]
fn a_daemon_that_is_killed_leaves_the_service_running_until_its_run_ends() {
    let mut stand = Stand::docker();
    let before = stand.engine.inventory();
    let environment = stand.environment();
    let run = environment.run().to_string();
    let mut deployment = deploy(&Docker::default(), &environment, &who_called());
    stand.engine.kill();
    caller_seen(&environment, deployment.address());
    assert_eq!(deployment.ended(), None);
    assert!(deployment.stop().is_err());
    assert!(loadline_test_support::processes_of(&run).is_empty(), "the service lives on without its run");
    assert!(environment.remove().is_err());
    stand.engine.restart();
    stand.node.registry.clean(CLEANERS).unwrap();
    assert_eq!(stand.engine.inventory(), before);
}

/// Connects until the service has noticed.
fn call(environment: &Environment, deployment: &dyn Deployment) {
    let address = deployment.address();
    let called = || environment.client().run(|| Ok(std::net::TcpStream::connect(address).is_ok())).unwrap();
    wait_until("a connection", called);
}
