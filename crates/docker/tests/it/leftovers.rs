//! A run removes what is its own, even after it was killed, and touches nothing else.

use super::*;

#[test]
fn what_does_not_carry_the_runs_label_is_never_touched() {
    let stand = Stand::docker();
    let engine = &stand.engine;
    let environment = stand.environment();
    let run = environment.run().to_string();
    let deployment = deploy(&Docker::default(), &environment, &who_called());
    let image = engine.cli(&["inspect", "--format", "{{.Config.Image}}", &format!("loadline-{run}-1")]);
    for (name, label) in [
        (format!("loadline-{run}-12"), "other=label".to_owned()),
        (format!("loadline-{run}-2"), "loadline.slot=2".to_owned()),
        ("stranger".to_owned(), format!("loadline.run={run}0")),
    ] {
        engine.cli(&["create", "--name", &name, "--label", &label, &image]);
        engine.cli(&["network", "create", "--label", &label, &name]);
    }
    engine.cli(&["tag", &image, "mine:1.0"]);
    let ours = format!("container loadline-{run}-1");
    let is_theirs = |thing: &String| *thing != ours && !thing.contains(&image);
    let theirs: Vec<String> = engine.inventory().into_iter().filter(is_theirs).collect();
    deployment.stop().unwrap();
    environment.remove().unwrap();
    assert_eq!(engine.inventory(), theirs);
}

#[test]
fn a_killed_run_is_cleaned_from_docker_and_the_node() {
    let stand = Stand::docker();
    let (node_before, docker_before) = (inventory(""), stand.engine.inventory());
    let behind_a_proxy = r#"{"network":"bridge","publish":"userland-proxy","user":null,"mounts":[]}"#;
    let on_a_link = r#"{"network":"macvlan","publish":"none","user":null,"mounts":[]}"#;
    for (run, peers, docker, kinds) in [
        ("08dead", "alone", behind_a_proxy, "nft table"),
        ("05dead", "alone", on_a_link, "network loadline-05dead-1"),
        ("06dead", "beside", behind_a_proxy, "network loadline-06dead"),
    ] {
        let endpoint = stand.engine.endpoint();
        let (mut killed, _) =
            held_run(&["hold-container", peers, &stand.node.registry_path(), run, &endpoint, docker]);
        assert!(stand.node.registry.clean(CLEANERS).unwrap().is_empty(), "a living run was cleaned");
        killed.kill().unwrap();
        killed.wait().unwrap();

        let removed = stand.node.registry.clean(CLEANERS).unwrap();
        let told: Vec<String> = removed.iter().map(ToString::to_string).collect();
        assert!(told.contains(&format!("container loadline-{run}-1")), "{told:?}");
        for kind in ["process ", "image localhost/loadline-test-helper:", kinds, "run "] {
            assert!(told.iter().any(|thing| thing.starts_with(kind)), "no {kind} among {told:?}");
        }
        assert_eq!(stand.engine.inventory(), docker_before);
        assert_node_is(run, &node_before);
    }
}
