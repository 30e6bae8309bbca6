use std::time::Duration;

use loadline_model::experiment::{
    Experiment, Interleave, Isolation, LoadSpec, Nodes, OnFailure, Placement, PlanSpec, Platform,
    PlatformKind, Ready, RequestSpec, Service, Start,
};
use loadline_model::load::{Arrivals, Load};
use loadline_model::platform::{Layer, Limits};

/// Two platforms and a twin of the first under one load: sites and cells 0 (host), 1 (its twin) and 2 (pod); two deployments of three
/// blocks of 100 ms.
pub fn experiment() -> Experiment {
    let load = Load::Open { rate: "2000/s".parse().unwrap(), arrivals: Arrivals::Uniform };
    Experiment {
        name: "made up".to_owned(),
        question: None,
        services: vec![Service {
            name: "hello".to_owned(),
            start: Some(Start::Command(vec!["hello".to_owned()])),
            image: None,
            directory: None,
            metrics: None,
            needs: Vec::new(),
            env: Vec::new(),
            limits: Limits::default(),
            cpus: None,
            port: None,
            requests: vec![RequestSpec {
                method: "GET".to_owned(),
                path: "/".to_owned(),
                headers: Vec::new(),
                body: None,
                weight: 1,
            }],
            feed: None,
            expect: Vec::new(),
            https: false,
            tls: None,
            ready: Ready { path: Some("/healthz".to_owned()), within: Duration::from_secs(30) },
        }],
        limits: Limits::default(),
        env: Vec::new(),
        platforms: vec![
            Platform::new("host", PlatformKind::Host),
            Platform::new("pod", PlatformKind::Local(vec![Layer::Veth])),
        ],
        loads: vec![LoadSpec::new(load, 4)],
        cells: Vec::new(),
        contrasts: Vec::new(),
        plan: PlanSpec {
            slice: Duration::from_millis(100),
            blocks: 3,
            slices: Vec::new(),
            deployments: 2,
            seed: 7,
            until: None,
            within: None,
            twin: true,
            isolation: Isolation::Shared,
            interleave: Interleave::Auto,
            warmup: Duration::from_secs(3),
            repeats: 1,
            margin: None,
            on_failure: OnFailure::End,
            nodes: Nodes::Shared,
            profile: None,
            tails: None,
        },
        placement: Placement::default(),
        claims: Vec::new(),
        fail_if: Vec::new(),
        hooks: Default::default(),
        capacity: None,
    }
    .with_every_cell()
}

/// The same with so many candidates in all, in cells 2 and up.
pub fn with_candidates(candidates: usize, change: impl FnOnce(&mut PlanSpec)) -> Experiment {
    let mut experiment = with(change);
    for number in 2..=candidates {
        let local = PlatformKind::Local(vec![Layer::Veth]);
        experiment.platforms.push(Platform::new(format!("pod {number}"), local));
    }
    experiment.with_every_cell()
}

/// The same with another plan.
pub fn with(change: impl FnOnce(&mut PlanSpec)) -> Experiment {
    let mut experiment = experiment();
    change(&mut experiment.plan);
    experiment
}
