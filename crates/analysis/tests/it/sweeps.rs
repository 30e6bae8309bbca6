//! Cells that differ in one number alone.

use loadline_analysis::analyse;
use loadline_analysis::result::{Sweep, Unit};
use loadline_model::experiment::{Experiment, LoadSpec, Platform, PlatformKind, Service, Start};
use loadline_model::load::Load;
use loadline_model::platform::Limits;

use crate::made_up::MadeUp;
use crate::made_up::searched::objectives;

/// The sweeps of an experiment that is changed like this.
fn sweeps(change: fn(&mut Experiment)) -> Vec<Sweep> {
    analyse(&MadeUp { rounds: 2, change, ..MadeUp::default() }.data()).sweeps
}

/// All cells anew, of what there is now.
fn measure_all(experiment: &mut Experiment) {
    let all = Experiment { cells: Vec::new(), contrasts: Vec::new(), ..experiment.clone() };
    *experiment = all.with_every_cell();
}

fn limited(name: &str, cpus: f64, variable: Option<&str>) -> Platform {
    Platform {
        limits: Limits { cpus: Some(cpus), memory_bytes: None },
        env: variable.map(|value| ("GOMAXPROCS".to_owned(), value.to_owned())).into_iter().collect(),
        ..Platform::new(name, PlatformKind::Host)
    }
}

fn values(sweep: &Sweep) -> Vec<f64> {
    sweep.points.iter().map(|point| point.value).collect()
}

#[test]
fn platforms_that_differ_in_a_limit_are_a_curve_under_each_load() {
    let found = sweeps(|experiment| {
        experiment.platforms = vec![
            limited("host, 1 CPU", 1.0, None),
            limited("host, 0.25 CPU", 0.25, None),
            limited("host, 0.5 CPU", 0.5, None),
            // It differs in two numbers.
            limited("host, 2 CPU", 2.0, Some("4")),
        ];
        experiment.loads.push(LoadSpec::new(Load::Closed { think: None }, 16));
        measure_all(experiment);
    });
    let described: Vec<(&str, &str)> =
        found.iter().map(|sweep| (sweep.over.as_str(), sweep.label.as_str())).collect();
    assert_eq!(
        described,
        [("limits.cpu", "orders on host, 200/s Poisson"), ("limits.cpu", "orders on host, closed loop")]
    );
    for sweep in &found {
        assert_eq!(values(sweep), [0.25, 0.5, 1.0], "twins and strangers are left out, and it is sorted");
        assert_eq!(sweep.unit, Unit::Count);
    }
}

#[test]
fn numbers_of_the_environment_and_of_the_command_line_are_swept_alike() {
    let found = sweeps(|experiment| {
        let numbers = ["1", "4", "16"];
        experiment.platforms =
            numbers.map(|number| limited(&format!("host, GOMAXPROCS={number}"), 1.0, Some(number))).to_vec();
        measure_all(experiment);
    });
    let [sweep] = &found[..] else { panic!("{found:?}") };
    assert_eq!((sweep.over.as_str(), values(sweep)), ("env.GOMAXPROCS", vec![1.0, 4.0, 16.0]));

    let found = sweeps(|experiment| {
        let service = experiment.services[0].clone();
        let with = |orders: &str| {
            let args = vec!["--orders".to_owned(), orders.to_owned(), "--delay=2".to_owned()];
            let start = Some(Start::Builtin { name: "orders".to_owned(), args });
            let name = format!("orders, args=--orders {orders}");
            Service { name, start, ..service.clone() }
        };
        experiment.services = ["500", "12", "100"].map(with).to_vec();
        measure_all(experiment);
    });
    let described: Vec<_> =
        found.iter().map(|sweep| (sweep.over.as_str(), sweep.label.as_str(), values(sweep))).collect();
    let each = |platform: &'static str| ("--orders", platform, vec![12.0, 100.0, 500.0]);
    assert_eq!(
        described,
        [each("orders on host, 200/s Poisson"), each("orders on pod, 200/s Poisson")],
        "a curve on each platform"
    );
}

#[test]
fn rates_and_connections_are_swept_where_nothing_else_changes() {
    let found = sweeps(|experiment| {
        let open = experiment.loads[0].clone();
        let at = |rate: &str| {
            let Load::Open { arrivals, .. } = open.load else { unreachable!() };
            LoadSpec { load: Load::Open { rate: rate.parse().unwrap(), arrivals }, ..open.clone() }
        };
        let closed = |connections| LoadSpec::new(Load::Closed { think: None }, connections);
        experiment.loads = vec![at("600/min"), at("100/s"), at("1000/s"), closed(8), closed(1), closed(64)];
        measure_all(experiment);
    });
    let on_host: Vec<_> = found
        .iter()
        .filter(|sweep| sweep.label.contains("host"))
        .map(|sweep| (sweep.over.as_str(), values(sweep), sweep.unit))
        .collect();
    assert_eq!(
        on_host,
        [
            ("rate", vec![10.0, 100.0, 1000.0], Unit::PerSecond),
            ("connections", vec![1.0, 8.0, 64.0], Unit::Count)
        ]
    );
}

#[test]
fn cells_of_a_search_are_a_curve_over_what_they_differ_in_but_where_it_begins() {
    let found = sweeps(|experiment| {
        experiment.capacity = Some(objectives());
        let open = experiment.loads[0].clone();
        let Load::Open { arrivals, .. } = open.load else { unreachable!() };
        let from = |rate: &str| LoadSpec {
            load: Load::Open { rate: rate.parse().unwrap(), arrivals },
            ..open.clone()
        };
        experiment.loads = ["100/s", "200/s", "300/s"].map(from).to_vec();
        experiment.platforms =
            [0.25, 0.5, 1.0].map(|cpus| limited(&format!("host, {cpus} CPU"), cpus, None)).to_vec();
        measure_all(experiment);
    });
    let described: Vec<(&str, &str)> =
        found.iter().map(|sweep| (sweep.over.as_str(), sweep.label.as_str())).collect();
    assert_eq!(described, [("limits.cpu", "orders on host"); 3], "one for each load");
}

#[test]
fn two_values_are_no_curve() {
    let found = sweeps(|experiment| {
        experiment.platforms = vec![limited("small", 0.5, None), limited("large", 1.0, None)];
        measure_all(experiment);
    });
    assert_eq!(found, []);
}
