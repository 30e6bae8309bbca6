//! A metric over made-up runs: which runs have a point, in which series, and where a series changed.

use std::num::NonZeroUsize;
use std::time::Duration;

use loadline_analysis::Chronicle;
use loadline_analysis::result::history::{History, Series};
use loadline_model::RunState;
use loadline_model::experiment::Capacity;
use loadline_model::gates::{GateFailure, Late};
use loadline_model::load::{Load, LoadSpec, Protocol, Rate, Reuse, Timestamps};
use loadline_model::metrics::{MetricDeclaration, Unit};
use loadline_model::rows::RunData;

use crate::capacity::search_of;
use crate::made_up::MadeUp;

/// A run whose pod is so much slower than its host, which takes about 100 µs.
fn run(id: u64, shift_us: f64) -> RunData {
    let mut data = MadeUp { seed: id, shift_us, ..MadeUp::default() }.data();
    data.run.id = id as i64;
    data
}

fn history(metric: &str, runs: impl IntoIterator<Item = RunData>) -> History {
    let mut chronicle = Chronicle::new(metric);
    runs.into_iter().for_each(|run| chronicle.add(&run));
    chronicle.finish()
}

/// Ten runs, then `after` of a pod that is 10 µs slower.
fn changed(after: u64) -> History {
    let shift_us = |id| if id > 10 { 10.0 } else { 0.0 };
    history("response.p50", (1..=10 + after).map(|id| run(id, shift_us(id))))
}

/// Nightly runs of a pod, whose figure is about 100 µs.
#[derive(Clone, Copy)]
pub struct Nights {
    pub name: &'static str,
    deployments: fn(night: u64) -> u32,
    /// Standard deviation between the deployments of a night, µs.
    apart_us: fn(night: u64) -> f64,
}

/// Nights whose figures vary by 1 % where all are alike. Of three deployments an interval says little of how sure a figure is.
pub const NIGHTS: [Nights; 5] = [
    Nights { name: "3 deployments", deployments: |_| 3, apart_us: |_| 1.5 },
    Nights { name: "8 deployments", deployments: |_| 8, apart_us: |_| 2.7 },
    Nights {
        name: "3 or 8 deployments",
        deployments: |night| if night.is_multiple_of(2) { 3 } else { 8 },
        apart_us: |_| 1.5,
    },
    Nights {
        name: "3 or 8 deployments, in a quarter of the nights three times as far apart",
        deployments: |night| if night.is_multiple_of(2) { 3 } else { 8 },
        apart_us: |night| if (night / 2).is_multiple_of(4) { 4.5 } else { 1.5 },
    },
    Nights {
        name: "3 deployments, and 8 from the middle on",
        deployments: |night| if night < LENGTH / 2 { 3 } else { 8 },
        apart_us: |_| 1.5,
    },
];

/// Nights of which two weeks are less sure than the others: their figures lie farther apart, which is no change of what is measured.
pub const LOUD_WEEKS: Nights = Nights {
    name: "3 or 8 deployments, in two weeks three times as far apart",
    deployments: |night| if night.is_multiple_of(2) { 3 } else { 8 },
    apart_us: |night| if (13..27).contains(&night) { 4.5 } else { 1.5 },
};

/// Nights of a series.
const LENGTH: u64 = 40;
/// What is planted, µs: 3 %.
const CHANGE_US: f64 = 3.0;
/// A change is found where it is if it is found within so many nights of there.
const NEAR: u64 = 2;

/// The series of the pod, which is slower by so much from one of the nights on.
fn nightly(nights: Nights, seed: u64, from: u64, change_us: f64) -> Series {
    let run = |night: u64| {
        let mut data = MadeUp {
            seed: seed * LENGTH + night,
            rounds: (nights.deployments)(night),
            blocks: 1,
            shift_us: if night >= from { change_us } else { 0.0 },
            deployment_noise_us: (nights.apart_us)(night),
            change: |experiment| experiment.plan.twin = false,
            ..MadeUp::default()
        }
        .data();
        data.run.id = night as i64;
        data
    };
    history("response.p50", (0..LENGTH).map(run)).series.swap_remove(1)
}

/// In how many series a planted change is found where it is.
pub fn found(nights: Nights, count: u64) -> usize {
    let is_found = |seed: &u64| {
        // With six nights at either end at least.
        let from = 6 + seed % (LENGTH - 11);
        let changes = nightly(nights, *seed, from, CHANGE_US).changes;
        changes.iter().any(|change| (change.at as u64).abs_diff(from) <= NEAR)
    };
    (0..count).filter(is_found).count()
}

/// In how many series without a change one is found.
pub fn false_alarms(nights: Nights, count: u64) -> usize {
    (0..count).filter(|seed| !nightly(nights, 1_000_000 + seed, 0, 0.0).changes.is_empty()).count()
}

#[test]
fn a_planted_change_is_found_and_none_that_was_not_however_unequal_the_intervals_are() {
    for nights in NIGHTS {
        let (found, alarms) = (found(nights, 20), false_alarms(nights, 20));
        println!("{}: {found} of 20, and {alarms} that are none", nights.name);
        // Of 20 with 95 % each, fewer than 16 is one case in 400.
        assert!(found >= 16 && alarms <= 2, "{}: {found}, {alarms}", nights.name);
    }
}

#[test]
fn a_change_is_found_where_it_is_and_in_its_own_series() {
    let found = changed(10);
    let [host, pod] = &found.series[..] else { panic!("{:?}", found.series) };
    assert_eq!((host.label.as_str(), pod.label.as_str()), ("orders on host", "orders on pod"), "and no twin");
    assert_eq!((host.points.len(), pod.points.len()), (20, 20));
    assert!(host.changes.is_empty(), "{:?}", host.changes);
    let [change] = &pod.changes[..] else { panic!("{:?}", pod.changes) };
    assert_eq!(pod.points[change.at].run, 11, "the first run of the slower one");
    let relative = change.relative.expect("a baseline other than zero");
    assert!((0.08..0.12).contains(&relative) && change.settled, "{change:?}");
    assert!(pod.points.iter().all(|point| point.interval.is_some()), "as sure as each run was");
}

#[test]
fn a_change_with_few_runs_after_it_is_not_settled_and_a_short_series_has_none() {
    let settled: Vec<bool> = changed(5).series[1].changes.iter().map(|change| change.settled).collect();
    assert_eq!(settled, [false], "five runs");
    let short = history("response.p50", (1..=6).map(|id| run(id, if id > 3 { 10.0 } else { 0.0 })));
    assert!(short.series[1].changes.is_empty(), "six runs");
}

#[test]
fn what_ran_elsewhere_with_other_limits_or_under_another_load_is_another_series() {
    let elsewhere = |id, change: fn(&mut RunData)| {
        let mut data = run(id, 0.0);
        change(&mut data);
        data
    };
    let runs = [
        run(1, 0.0),
        elsewhere(2, |data| data.run.machine.kernel = Some("6.1".to_owned())),
        elsewhere(3, |data| data.run.machine.cpus = Some(64)),
        elsewhere(4, |data| data.run.experiment.loads[0].connections = 99),
        run(5, 0.0),
        elsewhere(6, |data| data.run.experiment.services[0].requests[0].path = "/other".to_owned()),
        elsewhere(7, |data| data.run.experiment.services[0].requests[0].body = Some("{}".to_owned())),
        elsewhere(8, |data| data.run.experiment.services[0].requests[0].body = Some("[]".to_owned())),
        elsewhere(9, |data| data.run.experiment.limits.cpus = Some(0.5)),
        elsewhere(10, |data| data.run.experiment.loads[0].reuse = Reuse::Never),
        elsewhere(11, |data| {
            data.run.experiment.loads[0].protocol = Protocol::Http2 { streams: NonZeroUsize::MIN }
        }),
        elsewhere(12, |data| data.run.experiment.loads[0].timeout = Duration::from_secs(2)),
        elsewhere(13, |data| data.run.experiment.loads[0].timestamps = Timestamps::Kernel),
    ];
    let found = history("response.p50", runs);
    let of_host = found.series.iter().filter(|series| series.label.starts_with("orders on host"));
    let runs: Vec<Vec<i64>> =
        of_host.map(|series| series.points.iter().map(|point| point.run).collect()).collect();
    let other = (2..=13).filter(|run| *run != 5).map(|run| vec![run]);
    assert_eq!(runs, [vec![1, 5]].into_iter().chain(other).collect::<Vec<Vec<i64>>>());
    assert!(found.series.iter().any(|series| series.label == "orders on host, 0.5 CPUs"));
    assert!(found.series.iter().any(|series| series.load.ends_with(", GET /other")));
    for part in [", a new connection per request, ", ", HTTP/2, ", ", time-out 2s, ", ", kernel timestamps, "]
    {
        assert!(found.series.iter().any(|series| series.load.contains(part)), "{part}: {:?}", found.series);
    }
}

#[test]
fn a_figure_whose_gates_failed_is_marked_and_counts() {
    let mut late = run(2, 0.0);
    for slice in &mut late.slices {
        slice.gate_failures.push(GateFailure::Late(Late { p99_us: 500.0, bound_us: 100.0 }));
        slice.sent_in_time = slice.due / 2;
    }
    let found = history("response.p50", [run(1, 0.0), late]);
    let untrusted: Vec<bool> = found.series[0].points.iter().map(|point| point.untrusted).collect();
    assert_eq!(untrusted, [false, true]);
}

#[test]
fn a_load_is_the_same_under_another_name_and_a_search_wherever_it_begins() {
    let mut named = run(2, 0.0);
    named.run.experiment.loads[0].name = Some("peak".to_owned());
    let found = history("response.p50", [run(1, 0.0), named]);
    assert!(found.series.iter().all(|series| series.points.len() == 2), "{:?}", found.series);

    let search = |id, change: fn(&mut LoadSpec)| {
        let mut data = search_of(|_, _, _| ());
        data.run.id = id;
        data.run.experiment.loads.iter_mut().for_each(change);
        data
    };
    let begun_at = |load: &mut LoadSpec| {
        let Load::Open { rate, .. } = &mut load.load else { panic!("{load:?}") };
        *rate = Rate::per_second(123.0).expect("a rate");
    };
    let runs = [search(1, |_| ()), search(2, begun_at), search(3, |load| load.reuse = Reuse::Never)];
    let found = history("capacity", runs);
    let of_host = found.series.iter().filter(|series| series.label == "orders on host");
    let runs: Vec<Vec<i64>> =
        of_host.map(|series| series.points.iter().map(|point| point.run).collect()).collect();
    assert_eq!(runs, [vec![1, 2], vec![3]]);
}

#[test]
fn a_metric_that_no_table_shows_has_a_history_and_one_that_no_run_has_is_known_to_be_none() {
    let runs = || {
        let mut data = run(1, 0.0);
        data.run.metrics.push(MetricDeclaration::counter("app.misses_total", Unit::Count));
        data.slices
            .iter_mut()
            .for_each(|slice| slice.observations.set("app.misses_total", 3 * slice.answered));
        [data, run(2, 0.0)]
    };
    let found = history("app.misses_total", runs());
    let values: Vec<f64> = found.series.iter().map(|series| series.points[0].value).collect();
    assert_eq!(values, [3.0, 3.0]);
    assert_eq!(found.left_out.iter().map(|left| left.run).collect::<Vec<i64>>(), [2]);
    let mut chronicle = Chronicle::new("app.mises_total");
    runs().iter().for_each(|run| chronicle.add(run));
    let known = chronicle.known_instead().expect("none of them has it");
    assert!(known.contains("app.misses_total") && known.contains("start.answered"), "{known:?}");
}

#[test]
fn a_run_without_a_point_is_left_out_with_its_reason() {
    let mut interrupted = run(1, 0.0);
    interrupted.run.state = RunState::Interrupted;
    let mut searching = run(2, 0.0);
    searching.run.experiment.capacity =
        Some(Capacity { objectives: Vec::new(), precision: 0.02, most: None });
    let reasons = |metric, runs: Vec<RunData>| -> Vec<(i64, String)> {
        history(metric, runs).left_out.into_iter().map(|left| (left.run, left.reason)).collect()
    };
    assert_eq!(
        reasons("response.p50", vec![interrupted, searching, run(3, 0.0)]),
        [(1, "it was not completed".to_owned()), (2, "it searched for a capacity".to_owned())]
    );
    assert_eq!(reasons("jvm.gc.pause", vec![run(4, 0.0)]), [(4, "it does not have this metric".to_owned())]);
}

#[test]
fn capacities_are_a_history_of_the_runs_that_search() {
    let search = |id, objective: &str| {
        let mut data = search_of(|_, _, _| ());
        data.run.id = id;
        let capacity = data.run.experiment.capacity.as_mut().expect("a search");
        capacity.objectives[1].text = objective.to_owned();
        data
    };
    let runs = [search(1, "p99 <= 50ms"), run(2, 0.0), search(3, "p99 <= 50ms"), search(4, "p99 <= 40ms")];
    let found = history("capacity", runs);
    let of_host: Vec<_> = found.series.iter().filter(|series| series.label == "orders on host").collect();
    let [first, other] = of_host[..] else { panic!("{:?}", found.series) };
    let of = |series: &Series| series.points.iter().map(|point| point.run).collect::<Vec<i64>>();
    assert_eq!((of(first), of(other)), (vec![1, 3], vec![4]), "another objective is another capacity");
    assert!(first.load.starts_with("success >= 99%, p99 <= 50ms, sent >= 99% to ±2 %, "), "{}", first.load);
    let point = &first.points[0];
    assert!((950.0..1050.0).contains(&point.value) && point.interval.is_some(), "{point:?}");
    let left_out: Vec<(i64, &str)> =
        found.left_out.iter().map(|left| (left.run, left.reason.as_str())).collect();
    assert_eq!(left_out, [(2, "it did not search for a capacity")]);
}
