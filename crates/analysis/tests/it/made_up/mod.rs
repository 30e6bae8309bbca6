//! Runs made up from a seed: host, its twin, a pod that is slower by a known shift, and a static pod if there is one.

pub mod noise;
pub mod searched;

use std::time::Duration;

use loadline_analysis::RunData;
use loadline_model::experiment::{
    Claim, Experiment, Interleave, Isolation, LoadSpec, Nodes, OnFailure, Placement, PlanSpec, Platform,
    PlatformKind, Ready, RequestSpec, Service, Start,
};
use loadline_model::gates::CpuUse;
use loadline_model::load::{Arrivals, Load};
use loadline_model::metrics::{HigherIs, MetricDeclaration, SERVICE_CPU, Unit};
use loadline_model::plan::Plan;
use loadline_model::platform::{Limits, preset};
use loadline_model::rows::{DeploymentRow, RunRow, SliceRow, StartupRow, WarmUpRow};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, Machine, Observations, PlatformId, RunState, SparseHistogram};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use noise::{Noise, normal, shuffle};

/// What a made-up run is like.
pub struct MadeUp {
    pub seed: u64,
    pub rounds: u32,
    pub blocks: u32,
    /// How much slower the pod is.
    pub shift_us: f64,
    /// How much slower the static pod is, if there is one.
    pub static_pod_us: Option<f64>,
    /// Whether the static pod stands above the pod, as the top of a ladder.
    pub ladder: bool,
    /// Standard deviation between deployments of the same thing.
    pub deployment_noise_us: f64,
    /// Standard deviation of the CPU per request from slice to slice; counts of events then vary by chance, too.
    pub cpu_noise_us: f64,
    /// What disturbs it.
    pub noise: Noise,
    /// Requests of a slice.
    pub requests: u64,
    pub claims: Vec<Claim>,
    /// What else is different in the experiment.
    pub change: fn(&mut Experiment),
}

impl Default for MadeUp {
    fn default() -> MadeUp {
        MadeUp {
            seed: 1,
            rounds: 8,
            blocks: 3,
            shift_us: 0.0,
            static_pod_us: None,
            ladder: false,
            deployment_noise_us: 0.3,
            cpu_noise_us: 0.0,
            noise: Noise::QUIET,
            requests: 200,
            claims: Vec::new(),
            change: |_| (),
        }
    }
}

impl MadeUp {
    pub fn data(&self) -> RunData {
        let mut experiment = self.experiment();
        (self.change)(&mut experiment);
        let plan = Plan::new(&experiment);
        let mut random = Pcg64::seed_from_u64(self.seed);
        let mut data = RunData {
            run: run_row(experiment, plan.clone()),
            deployments: Vec::new(),
            warm_ups: Vec::new(),
            slices: Vec::new(),
            profiles: Vec::new(),
            tails: Vec::new(),
            joined: Vec::new(),
        };
        let mut at_s = 0.0;
        for round in 0..self.rounds {
            for site in plan.site_ids() {
                let left_out = Vec::new();
                data.deployments.push(DeploymentRow {
                    site,
                    round,
                    at_s,
                    ready_ms: 12.0,
                    left_out,
                    startup: StartupRow::default(),
                    runtime: Runtime::default(),
                });
                let figures = vec![60_000.0; 8];
                data.warm_ups.push(WarmUpRow {
                    cell: CellId(site.0),
                    round,
                    seconds: 1.2,
                    stationary: true,
                    figures,
                });
            }
            let deployment: Vec<f64> = plan.sites.iter().map(|_| self.deployment_us(&mut random)).collect();
            let mut weather = self.noise.weather(&mut random);
            for block in 0..self.blocks {
                let mut order: Vec<CellId> = plan.cell_ids().collect();
                shuffle(&mut order, &mut random);
                for (position, cell) in order.into_iter().enumerate() {
                    let shift = match plan.site_of(cell).platform.0 {
                        1 => self.shift_us,
                        2 => self.static_pod_us.unwrap_or_default(),
                        _ => 0.0,
                    };
                    let is_candidate = plan.site_of(cell).platform.0 > 0;
                    let level = weather.next(is_candidate, &mut random);
                    let base = 100.0 + deployment[plan.cell(cell).site.0] + shift + level;
                    let mut response = SparseHistogram::default();
                    for ns in self.noise.responses_ns(base, is_candidate, self.requests, &mut random) {
                        response.record_n(ns, 1);
                    }
                    let disturbed =
                        if self.cpu_noise_us > 0.0 { self.cpu_noise_us * normal(&mut random) } else { 0.0 };
                    let cpu_us = 40.0 + shift + disturbed + 0.2 * level;
                    let softirqs = if shift > 0.0 { 4.0 } else { 2.0 } * self.requests as f64;
                    let by_chance =
                        if self.cpu_noise_us > 0.0 { softirqs.sqrt() * normal(&mut random) } else { 0.0 };
                    let place = (round, block, position as u32);
                    let softirqs = (softirqs + by_chance).max(0.0) as u64;
                    data.slices.push(slice(cell, place, at_s, response, cpu_us, softirqs));
                    at_s += 1.0;
                }
            }
        }
        data
    }

    /// What a deployment adds to its requests.
    pub fn deployment_us(&self, random: &mut Pcg64) -> f64 {
        let own = self.deployment_noise_us * normal(random);
        own + self.noise.deployments.next(random)
    }

    fn experiment(&self) -> Experiment {
        let local = |name: &str| Platform::new(name, PlatformKind::Local(preset("pod").unwrap()));
        let mut platforms = vec![Platform::new("host", PlatformKind::Host), local("pod")];
        let above = self.ladder.then_some(PlatformId(1));
        let top = self.ladder;
        platforms.extend(self.static_pod_us.map(|_| Platform { above, top, ..local("static pod") }));
        Experiment {
            name: "made up".to_owned(),
            question: None,
            services: vec![Service {
                name: "orders".to_owned(),
                start: Some(Start::Builtin { name: "orders".to_owned(), args: Vec::new() }),
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
                ready: Ready { path: None, within: Duration::from_secs(30) },
            }],
            limits: Limits::default(),
            env: Vec::new(),
            platforms,
            loads: vec![LoadSpec::new(open_load(), 16)],
            cells: Vec::new(),
            contrasts: Vec::new(),
            plan: PlanSpec {
                slice: Duration::from_secs(1),
                blocks: self.blocks,
                slices: Vec::new(),
                deployments: self.rounds,
                seed: self.seed,
                until: None,
                within: None,
                twin: true,
                isolation: Isolation::Shared,
                interleave: Interleave::Auto,
                warmup: Duration::from_secs(30),
                repeats: 2,
                margin: None,
                on_failure: OnFailure::End,
                nodes: Nodes::Shared,
                profile: None,
                tails: None,
            },
            placement: Placement::default(),
            claims: self.claims.clone(),
            fail_if: Vec::new(),
            hooks: Default::default(),
            capacity: None,
        }
        .with_every_cell()
    }
}

fn run_row(experiment: Experiment, plan: Plan) -> RunRow {
    RunRow {
        id: 1,
        label: "3fa9c1".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        finished: Some("2026-01-02T03:06:05Z".to_owned()),
        state: RunState::Complete,
        version: "0.1.0".to_owned(),
        command_line: vec!["loadline".to_owned()],
        experiment,
        plan,
        machine: Machine::default(),
        service_cpus: vec![0],
        load_cpus: vec![1],
        metrics: declared(),
        side_by_side: Vec::new(),
        notes: Vec::new(),
        failures: Vec::new(),
        surroundings: Default::default(),
        time_spent: None,
        tags: Vec::new(),
    }
}

fn open_load() -> Load {
    Load::Open { rate: "200/s".parse().unwrap(), arrivals: Arrivals::Poisson }
}

/// What is seen in the slices, and a metric that is not.
fn declared() -> Vec<MetricDeclaration> {
    let cost =
        |name, label| MetricDeclaration::counter(name, Unit::Nanoseconds).shown_as(label, HigherIs::Costlier);
    let softirqs = |name, label| {
        MetricDeclaration::counter(name, Unit::Count).of_the_machine().shown_as(label, HigherIs::More)
    };
    vec![
        cost(SERVICE_CPU, "CPU per request").primary(),
        cost("cpu.machine", "machine's CPU per request").of_the_machine(),
        softirqs("softirqs.net_rx", "  NET_RX"),
        softirqs("softirqs.net_tx", "  NET_TX"),
    ]
}

fn slice(
    cell: CellId,
    (round, block, position): (u32, u32, u32),
    at_s: f64,
    response: SparseHistogram,
    cpu_us: f64,
    softirqs: u64,
) -> SliceRow {
    let requests = response.len();
    let mut send_lag = SparseHistogram::default();
    send_lag.record_n(1_000, requests);
    let observations = Observations::default()
        .with(SERVICE_CPU, (cpu_us.max(1.0) * 1e3) as u64 * requests)
        .with("softirqs.net_rx", softirqs)
        .with("softirqs.net_tx", 0);
    SliceRow {
        cell,
        load: open_load(),
        round,
        block,
        attempt: 0,
        position,
        at_s,
        duration_s: 1.0,
        due: requests,
        sent_in_time: requests,
        answered: requests,
        answered_in_time: requests,
        waited: 0,
        reconnects: 0,
        received_bytes: requests * 1000,
        load_cpu_ns: 20_000 * requests,
        load_spun_ns: Some(0),
        by_request: Vec::new(),
        errors: Default::default(),
        service: response.clone(),
        response,
        send_lag,
        observations,
        cpu_use: Some(CpuUse {
            capacity_ns: 2_000_000_000,
            steal_ns: 1_000_000,
            most_stolen: None,
            foreign_ns: Some(10_000_000),
        }),
        gate_failures: Vec::new(),
        trial: None,
    }
}
