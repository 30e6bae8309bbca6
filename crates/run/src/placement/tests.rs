use std::time::Duration;

use loadline_model::experiment::{
    CellSpec, Experiment, LoadSpec, PlanSpec, Platform, PlatformKind, Ready, Service, ServiceCpus,
};
use loadline_model::load::{Arrivals, Load, Rate};
use loadline_model::platform::Limits;

use super::*;

/// A service on host and pod.
fn experiment(placement: Placement) -> Experiment {
    Experiment {
        name: "placed".to_owned(),
        question: None,
        services: vec![Service {
            name: "hello".to_owned(),
            start: None,
            image: None,
            directory: None,
            metrics: None,
            needs: Vec::new(),
            env: Vec::new(),
            limits: Limits::default(),
            cpus: None,
            port: None,
            requests: Vec::new(),
            feed: None,
            expect: Vec::new(),
            https: false,
            tls: None,
            ready: Ready { path: None, within: Duration::from_secs(1) },
        }],
        limits: Limits::default(),
        env: Vec::new(),
        platforms: ["host", "pod"].map(|name| Platform::new(name, PlatformKind::Host)).into(),
        loads: vec![LoadSpec::new(Load::Closed { think: None }, 1)],
        cells: Vec::new(),
        contrasts: Vec::new(),
        plan: PlanSpec { blocks: 1, deployments: 1, ..PlanSpec::default() },
        placement,
        claims: Vec::new(),
        fail_if: Vec::new(),
        hooks: Default::default(),
        capacity: None,
    }
    .with_every_cell()
}

fn given(load: Option<&[usize]>, service: Option<&[usize]>) -> Placement {
    Placement {
        load_cpus: load.map(<[usize]>::to_vec),
        service_cpus: service.map(<[usize]>::to_vec),
        service_sees_all: false,
    }
}

fn chosen(
    load: Option<&[usize]>,
    service: Option<&[usize]>,
    allowed: &[usize],
    pairs: bool,
) -> (Vec<usize>, Vec<usize>) {
    let siblings = move |cpu: usize| if pairs { vec![cpu ^ 1] } else { Vec::new() };
    let cpus = choose(&experiment(given(load, service)), allowed, &|| false, &siblings);
    assert_eq!(cpus.pins(ServiceId(0), PlatformId(1)), cpus.service, "the same on every platform");
    (cpus.service, cpus.load)
}

/// As [`chosen`] on CPUs 0 to 2 without siblings.
fn placed(experiment: &Experiment, may_run_first: bool) -> Cpus {
    choose(experiment, &[0, 1, 2], &|| may_run_first, &|_| Vec::new())
}

#[test]
fn load_takes_the_last_cpu_and_the_service_the_others() {
    assert_eq!(chosen(None, None, &[0, 1], false), (vec![0], vec![1]));
    assert_eq!(chosen(None, None, &[0, 1, 2, 3], false), (vec![0, 1, 2], vec![3]));
}

#[test]
fn a_hardware_thread_beside_the_load_is_left_idle() {
    assert_eq!(chosen(None, None, &[0, 1, 2, 3], true), (vec![0, 1], vec![3]));
    assert_eq!(chosen(None, None, &[0, 1], true), (vec![0], vec![1]), "unless nothing else is left");
}

#[test]
fn what_is_asked_for_is_kept() {
    assert_eq!(chosen(Some(&[0]), None, &[0, 1], false), (vec![1], vec![0]));
    assert_eq!(chosen(None, Some(&[1]), &[0, 1], false), (vec![1], vec![0]));
    assert_eq!(chosen(Some(&[2]), Some(&[1]), &[0, 1, 2], false), (vec![1], vec![2]));
}

#[test]
fn a_service_that_sees_all_is_not_pinned_and_the_load_goes_first_where_it_may() {
    let wanted = Placement { service_sees_all: true, ..Placement::default() };
    for may in [true, false] {
        let cpus = placed(&experiment(wanted.clone()), may);
        let pins = cpus.pins(ServiceId(0), PlatformId(0));
        assert_eq!((pins, cpus.load.as_slice(), cpus.load_runs_first), (&[][..], &[2][..], may));
        assert_eq!(cpus.service, [0, 1, 2]);
        assert_eq!(cpus.notes, [Note::ServiceSeesAll { load_runs_first: may }]);
    }
}

#[test]
fn a_platform_has_cpus_of_its_own_and_the_load_keeps_off_all_of_them() {
    let mut experiment = experiment(Placement::default());
    experiment.platforms[1].cpus = Some(ServiceCpus::Pinned(vec![2]));
    let cpus = placed(&experiment, true);
    assert_eq!(cpus.load, [1], "the last one that no service is given");
    assert_eq!(cpus.pins(ServiceId(0), PlatformId(0)), [0, 2]);
    assert_eq!(cpus.pins(ServiceId(0), PlatformId(1)), [2]);
    assert!(cpus.notes.is_empty());
}

#[test]
fn a_load_that_sleeps_goes_first_where_it_may_and_no_service_is_pinned_to_its_cpus() {
    let open = |rate: f64| Load::Open { rate: Rate::per_second(rate).unwrap(), arrivals: Arrivals::Poisson };
    let goes_first = |allowed: &[usize], may: bool, load: Load| {
        let loads = [Load::Closed { think: None }, load].map(|load| LoadSpec::new(load, 1)).into();
        let experiment = Experiment { loads, ..experiment(Placement::default()) };
        choose(&experiment, allowed, &|| may, &|_| Vec::new()).load_runs_first
    };
    assert!(goes_first(&[0, 1], true, open(5_000.0)));
    assert!(!goes_first(&[0, 1], true, open(5_001.0)), "nor does the closed loop of the same experiment");
    assert!(!goes_first(&[0, 1], false, open(5_000.0)));
    assert!(!goes_first(&[0], true, open(5_000.0)), "the service would hardly run");
}

#[test]
fn one_platform_sees_all_while_the_other_is_pinned() {
    let mut experiment = experiment(given(None, Some(&[0])));
    experiment.platforms[1].cpus = Some(ServiceCpus::All);
    let cpus = placed(&experiment, true);
    assert_eq!(cpus.pins(ServiceId(0), PlatformId(0)), [0]);
    assert_eq!(cpus.pins(ServiceId(0), PlatformId(1)), &[] as &[usize]);
    assert_eq!((cpus.load, cpus.load_runs_first), (vec![2], true), "one and the same load for both");
}

#[test]
fn what_is_not_measured_takes_no_cpu() {
    let mut experiment = experiment(Placement::default());
    experiment.platforms[1].cpus = Some(ServiceCpus::Pinned(vec![2]));
    let host = CellSpec { service: ServiceId(0), platform: PlatformId(0), load: loadline_model::LoadId(0) };
    let cpus = placed(&experiment.with_cells(vec![host]), false);
    assert_eq!((cpus.service, cpus.load), (vec![0, 1], vec![2]));
}

#[test]
fn a_single_cpu_is_shared_and_said_to_be() {
    let cpus = choose(&experiment(Placement::default()), &[4], &|| false, &|_| Vec::new());
    assert_eq!((cpus.service, cpus.load), (vec![4], vec![4]));
    assert_eq!(cpus.notes, [Note::SharedCpu]);
}
