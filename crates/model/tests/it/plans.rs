//! Cells and contrasts of an experiment, and the plan that follows from them.

use std::time::Duration;

use loadline_model::experiment::{
    CellSpec, ContrastSpec, Experiment, LoadSpec, Placement, PlanSpec, Platform, PlatformKind, Ready,
    Service, ServiceCpus,
};
use loadline_model::load::{Arrivals, Load};
use loadline_model::plan::{ContrastKind, Plan, Role};
use loadline_model::platform::Limits;
use loadline_model::{CellId, LoadId, PlatformId, ServiceId};

fn service(name: &str) -> Service {
    Service {
        name: name.to_owned(),
        start: None,
        image: None,
        directory: None,
        env: Vec::new(),
        metrics: None,
        needs: Vec::new(),
        limits: Limits::default(),
        cpus: None,
        port: None,
        requests: Vec::new(),
        feed: None,
        expect: Vec::new(),
        https: false,
        tls: None,
        ready: Ready { path: None, within: Duration::from_secs(1) },
    }
}

fn load(rate: &str) -> LoadSpec {
    let load = Load::Open { rate: rate.parse().unwrap(), arrivals: Arrivals::Poisson };
    LoadSpec::new(load, 16)
}

/// The services a and b on host, docker and pod at 10/s and 20/s.
fn experiment() -> Experiment {
    Experiment {
        name: "cells".to_owned(),
        question: None,
        services: vec![service("a"), service("b")],
        limits: Limits::default(),
        env: Vec::new(),
        platforms: ["host", "docker", "pod"].map(|name| Platform::new(name, PlatformKind::Host)).into(),
        loads: vec![load("10/s"), load("20/s")],
        cells: Vec::new(),
        contrasts: Vec::new(),
        plan: PlanSpec { blocks: 1, deployments: 1, ..PlanSpec::default() },
        placement: Placement::default(),
        claims: Vec::new(),
        fail_if: Vec::new(),
        hooks: Default::default(),
        capacity: None,
    }
    .with_every_cell()
}

fn cell(service: usize, platform: usize, load: usize) -> CellSpec {
    CellSpec { service: ServiceId(service), platform: PlatformId(platform), load: LoadId(load) }
}

fn contrast(candidate: CellSpec, baseline: CellSpec) -> ContrastSpec {
    ContrastSpec { candidate, baseline }
}

/// A cell as `a on host at 0`.
fn name(experiment: &Experiment, plan: &Plan, cell: CellId) -> String {
    format!("{} at {}", plan.site_of(cell).label(experiment), plan.load_of(cell))
}

fn cells(experiment: &Experiment, plan: &Plan, role: Role) -> Vec<String> {
    plan.cells_as(role).map(|(cell, _)| name(experiment, plan, cell)).collect()
}

fn contrasts(experiment: &Experiment, plan: &Plan, kind: ContrastKind) -> Vec<(String, String)> {
    let of_kind = plan.contrasts.iter().filter(|contrast| contrast.kind == kind);
    of_kind
        .map(|contrast| {
            let named = |cell| name(experiment, plan, cell);
            (named(contrast.candidate), named(contrast.baseline))
        })
        .collect()
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(candidate, baseline)| (candidate.to_owned(), baseline.to_owned())).into()
}

#[test]
fn without_further_words_all_is_measured_and_compared_with_the_first() {
    let mut experiment = experiment();
    experiment.loads.truncate(1);
    let experiment = experiment.with_every_cell();
    let plan = Plan::new(&experiment);
    let labels: Vec<String> = plan.sites.iter().map(|site| site.label(&experiment)).collect();
    let sites =
        ["a on host", "a on host′", "a on docker", "a on pod", "b on host", "b on docker", "b on pod"];
    assert_eq!(labels, sites);
    let planned = pairs([
        ("a on docker at 0", "a on host at 0"),
        ("a on pod at 0", "a on host at 0"),
        ("b on host at 0", "a on host at 0"),
        ("b on docker at 0", "b on host at 0"),
        ("b on pod at 0", "b on host at 0"),
    ]);
    assert_eq!(contrasts(&experiment, &plan, ContrastKind::Planned), planned);
    let noise = pairs([("a on host′ at 0", "a on host at 0")]);
    assert_eq!(contrasts(&experiment, &plan, ContrastKind::Noise), noise);
}

#[test]
fn what_is_not_measured_is_no_cell_and_a_site_without_cells_is_not_deployed() {
    let base = experiment();
    let left_out = |cell: &CellSpec| {
        cell.service == ServiceId(1) || (cell.platform == PlatformId(2) && cell.load == LoadId(1))
    };
    let kept: Vec<CellSpec> = base.cells.iter().copied().filter(|cell| !left_out(cell)).collect();
    let experiment = base.with_cells(kept);
    let plan = Plan::new(&experiment);
    let labels: Vec<String> = plan.sites.iter().map(|site| site.label(&experiment)).collect();
    assert_eq!(labels, ["a on host", "a on host′", "a on docker", "a on pod"]);
    let all: Vec<String> = plan.cell_ids().map(|cell| name(&experiment, &plan, cell)).collect();
    let expected = [
        "a on host at 0",
        "a on host′ at 0",
        "a on docker at 0",
        "a on pod at 0",
        "a on host at 1",
        "a on host′ at 1",
        "a on docker at 1",
    ];
    assert_eq!(all, expected);
    let pod = plan.sites.iter().position(|site| site.platform == PlatformId(2)).unwrap();
    let loads: Vec<LoadId> = plan.cells_of(loadline_model::SiteId(pod)).map(|(_, load)| load).collect();
    assert_eq!(loads, [LoadId(0)]);
}

#[test]
fn a_cell_is_compared_with_several_others_and_with_none() {
    let mut experiment = experiment();
    experiment.contrasts = vec![
        contrast(cell(0, 2, 0), cell(0, 1, 0)),
        contrast(cell(1, 2, 0), cell(0, 2, 0)),
        contrast(cell(1, 2, 0), cell(1, 1, 0)),
    ];
    let plan = Plan::new(&experiment);
    let planned = pairs([
        ("a on pod at 0", "a on docker at 0"),
        ("b on pod at 0", "a on pod at 0"),
        ("b on pod at 0", "b on docker at 0"),
    ]);
    assert_eq!(contrasts(&experiment, &plan, ContrastKind::Planned), planned);
    // Each baseline that is compared with nothing itself has its own twin, under the loads at which it is one.
    let noise = pairs([("a on docker′ at 0", "a on docker at 0"), ("b on docker′ at 0", "b on docker at 0")]);
    assert_eq!(contrasts(&experiment, &plan, ContrastKind::Noise), noise);
    assert_eq!(cells(&experiment, &plan, Role::Baseline), ["a on docker at 0", "b on docker at 0"]);
    assert_eq!(cells(&experiment, &plan, Role::Candidate), ["a on pod at 0", "b on pod at 0"]);
    let uncompared = cells(&experiment, &plan, Role::Uncompared);
    assert_eq!(uncompared.len(), 8);
    assert!(uncompared.contains(&"a on host at 0".to_owned()), "{uncompared:?}");
    assert_eq!(plan.sites[0].label(&experiment), "a on docker", "the first baseline is the first site");
}

#[test]
fn without_anything_to_compare_the_first_site_has_a_twin() {
    let mut experiment = experiment().with_cells(vec![cell(0, 1, 0), cell(0, 1, 1)]);
    experiment.contrasts.clear();
    let plan = Plan::new(&experiment);
    assert_eq!(plan.sites.len(), 2);
    assert_eq!(cells(&experiment, &plan, Role::Baseline), ["a on docker at 0", "a on docker at 1"]);
    assert_eq!(cells(&experiment, &plan, Role::Twin), ["a on docker′ at 0", "a on docker′ at 1"]);
    experiment.plan.twin = false;
    let plan = Plan::new(&experiment);
    assert_eq!((plan.sites.len(), plan.contrasts.len()), (1, 0));
    assert_eq!(cells(&experiment, &plan, Role::Uncompared).len(), 2);
}

#[test]
fn rungs_of_a_ladder_are_compared_with_the_one_below_and_its_top_has_a_twin() {
    let mut experiment = experiment();
    experiment.services.truncate(1);
    experiment.platforms[2].above = Some(PlatformId(1));
    experiment.platforms[2].top = true;
    let experiment = experiment.with_every_cell();
    let plan = Plan::new(&experiment);
    let labels: Vec<String> = plan.sites.iter().map(|site| site.label(&experiment)).collect();
    assert_eq!(labels, ["a on host", "a on host′", "a on pod′", "a on docker", "a on pod"]);
    let planned = contrasts(&experiment, &plan, ContrastKind::Planned);
    assert!(planned.contains(&("a on pod at 1".to_owned(), "a on docker at 1".to_owned())), "{planned:?}");
    assert_eq!(plan.noise_contrasts().count(), 4);
}

#[test]
fn what_a_platform_says_counts_before_what_a_service_says_and_this_before_what_is_common() {
    let mut experiment = experiment();
    let limits = |cpus: Option<f64>, memory_bytes| Limits { cpus, memory_bytes };
    experiment.limits = limits(Some(1.0), Some(1 << 20));
    experiment.services[1].limits = limits(Some(2.0), None);
    experiment.platforms[2].limits = limits(None, Some(2 << 20));
    let of = |service, platform| experiment.limits_of(ServiceId(service), PlatformId(platform));
    assert_eq!(of(0, 0), limits(Some(1.0), Some(1 << 20)));
    assert_eq!(of(1, 0), limits(Some(2.0), Some(1 << 20)));
    assert_eq!(of(1, 2), limits(Some(2.0), Some(2 << 20)));
    experiment.platforms[2].limits = limits(Some(3.0), None);
    assert_eq!(experiment.limits_of(ServiceId(1), PlatformId(2)), limits(Some(3.0), Some(1 << 20)));
}

#[test]
fn environments_are_merged_by_name() {
    let mut experiment = experiment();
    let env = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    experiment.env = env(&[("A", "common"), ("B", "common")]);
    experiment.services[0].env = env(&[("B", "service"), ("C", "service")]);
    experiment.platforms[1].env = env(&[("C", "platform"), ("A", "platform")]);
    let of = |service, platform| experiment.env_of(ServiceId(service), PlatformId(platform));
    assert_eq!(of(1, 0), env(&[("A", "common"), ("B", "common")]));
    assert_eq!(of(0, 0), env(&[("A", "common"), ("B", "service"), ("C", "service")]));
    assert_eq!(of(0, 1), env(&[("A", "platform"), ("B", "service"), ("C", "platform")]));
}

#[test]
fn cpus_of_a_platform_replace_those_of_a_service_and_the_common_ones() {
    let mut experiment = experiment();
    experiment.placement =
        Placement { service_cpus: Some(vec![0]), service_sees_all: false, load_cpus: Some(vec![3]) };
    experiment.services[1].cpus = Some(ServiceCpus::Pinned(vec![1]));
    experiment.platforms[2].cpus = Some(ServiceCpus::All);
    let of = |service, platform| experiment.placement_of(ServiceId(service), PlatformId(platform));
    assert_eq!(of(0, 0), experiment.placement);
    assert_eq!(of(1, 0).service_cpus, Some(vec![1]));
    let all = of(1, 2);
    assert_eq!((all.service_cpus, all.service_sees_all, all.load_cpus), (None, true, Some(vec![3])));
}

#[test]
fn an_experiment_of_before_has_neither_cells_nor_anything_of_a_platforms_own() {
    let experiment = experiment();
    let mut json = serde_json::to_value(&experiment).unwrap();
    for key in ["cells", "contrasts"] {
        assert!(json.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let platform = &json["platforms"][0];
    assert!(platform.get("limits").is_none() && platform.get("cpus").is_none(), "{platform}");
    let read: Experiment = serde_json::from_value(json).unwrap();
    assert!(read.cells.is_empty() && read.contrasts.is_empty());
    assert_eq!(read.with_every_cell(), experiment);
}
