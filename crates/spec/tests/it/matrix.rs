//! `matrix:` of services, platforms and loads.

use loadline_spec::{Experiment, SpecError, from_yaml, to_yaml};

use crate::support;

fn read(yaml: &str) -> Result<Experiment, SpecError> {
    let programs = support::programs();
    from_yaml("mine.yaml", yaml.as_bytes(), &support::machine(&programs))
}

fn good(yaml: &str) -> Experiment {
    let experiment = read(yaml).unwrap_or_else(|error| panic!("{error}"));
    let written = to_yaml(&experiment);
    assert!(!written.contains("matrix"), "{written}");
    assert_eq!(read(&written).as_ref(), Ok(&experiment), "what it stands for is written: {written}");
    experiment
}

fn refused(yaml: &str) -> String {
    let error = read(yaml).expect_err(yaml);
    assert!(error.problems().iter().all(|problem| problem.help.is_some()), "{error}");
    error.render(false)
}

#[test]
fn one_of_each_with_every_combination_is_measured() {
    let experiment = good(
        "
service: {builtin: orders, matrix: {args: [[--orders, '12'], [--orders, '500']]}}
platforms:
  - host:
    matrix: {limits.cpu: [0.5, 1], env.THREADS: [1, 4], exclude: [{limits.cpu: 1, env.THREADS: 1}]}
  - pod
loads: [{closed: true, matrix: {connections: [1, 8, 64]}}, {rate: 100/s}]
",
    );
    let services: Vec<&str> = experiment.services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(services, ["orders, args=--orders 12", "orders, args=--orders 500"]);
    let platforms: Vec<&str> = experiment.platforms.iter().map(|platform| platform.name.as_str()).collect();
    assert_eq!(
        platforms,
        ["host, 0.5 CPU, THREADS=1", "host, 0.5 CPU, THREADS=4", "host, 1 CPU, THREADS=4", "pod"]
    );
    let limits: Vec<Option<f64>> = experiment.platforms.iter().map(|platform| platform.limits.cpus).collect();
    assert_eq!(limits, [Some(0.5), Some(0.5), Some(1.0), None]);
    assert_eq!(experiment.platforms[1].env, [("THREADS".to_owned(), "4".to_owned())]);
    let connections: Vec<usize> = experiment.loads.iter().map(|load| load.connections).collect();
    assert_eq!(connections, [1, 8, 64, 16]);
    assert_eq!(experiment.cells.len(), 2 * 4 * 4);
}

#[test]
fn a_name_of_ones_own_begins_each_name() {
    let experiment = good(
        "
service: {builtin: orders}
platforms: [{name: small, pod: , matrix: {limits.memory: [64Mi, 1Gi]}}]
loads: [{name: steady, rate: 100/s, matrix: {connections: [2, 4]}}]
",
    );
    assert_eq!(experiment.platforms[1].name, "small, 1Gi");
    assert_eq!(experiment.loads[0].name.as_deref(), Some("steady, connections=2"));
}

#[test]
fn what_is_wrong_with_a_matrix_is_said_where_it_stands() {
    let file = |platform: &str| {
        format!("service: {{builtin: orders}}\nplatforms:\n  - {platform}\nloads: [{{rate: 100/s}}]\n")
    };
    let many: String = (0..40).map(|number| format!("{number}, ")).collect();
    for (platform, message) in [
        ("{host: , matrix: {}}", "the matrix is empty"),
        ("{host: , matrix: [1]}", "`matrix` must be a map, not a list"),
        ("{host: , matrix: {limits.cpu: 1}}", "`limits.cpu` must be a list, not a single value"),
        ("{host: , matrix: {limits.cpu: []}}", "`limits.cpu` has no values"),
        ("{local: [cgroup], matrix: {limits.cpu: [1]}}", "one of the platforms has a matrix and no name"),
        (
            "{host: , matrix: {limits.cpu: [1], exclude: [{limits.memory: 1Gi}]}}",
            "`limits.memory` is excluded and not in the matrix",
        ),
        (
            "{host: , matrix: {limits.cpu: [1], exclude: [{limits.cpu: 1}]}}",
            "this matrix excludes all that it stands for",
        ),
        (
            &format!("{{host: , matrix: {{env.A: [{many}], env.B: [{many}]}}}}"),
            "this matrix stands for 1600 platforms, more than 1000",
        ),
    ] {
        let said = refused(&file(platform));
        assert!(said.contains(message) && said.contains("mine.yaml:3:"), "{platform}: {said}");
    }
    let misspelt = read(&file("{host: , matrix: {limts.cpu: [1, 2, 4]}}")).expect_err("a slip");
    assert_eq!(misspelt.problems().len(), 1, "said once: {misspelt}");
}

#[test]
fn an_experiment_of_too_many_cells_is_refused_with_their_number_and_time() {
    let numbers = |count: usize| (1..=count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let file = |platforms, loads, more: &str| {
        let platforms = format!("{{host: , matrix: {{env.A: [{}]}}}}", numbers(platforms));
        let loads = format!("{{closed: true, matrix: {{connections: [{}]}}}}", numbers(loads));
        format!(
            "service: {{builtin: orders}}\nplatforms: [{platforms}]\nloads: [{loads}]\nplan: {{deployments: 8}}\n{more}"
        )
    };
    let said = refused(&file(100, 100, ""));
    // Each is measured for 1.5 s in each deployment.
    assert!(said.contains("this is 10000 cells, more than 1000: their slices would take 33h"), "{said}");
    let selected = |loads| format!("cells: [{{load: [{loads}]}}]\n");
    let one = selected("\"closed loop, 3 connections\"");
    assert_eq!(read(&file(100, 100, &one)).map(|experiment| experiment.cells.len()), Ok(100));
    let said = refused(&file(100, 100, "cells: {exclude: [{platform: 'host, A=1'}]}\n"));
    assert!(said.contains("this is 9900 cells, more than 1000"), "{said}");
    assert_eq!(read(&file(40, 25, "")).map(|experiment| experiment.cells.len()), Ok(1000));
}
