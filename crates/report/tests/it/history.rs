//! The history of a metric on a terminal.

use loadline_model::metrics::Unit;
use loadline_model::result::history::{Change, HISTORY_SCHEMA, History, LeftOut, Point, Series};
use loadline_report::history;

/// A p50 of about 80 µs that rises by 10 % with the fifth run, and again with the tenth.
fn made_up(runs: usize) -> History {
    let level = |run: usize| [80e3, 88e3, 97e3][usize::from(run >= 4) + usize::from(run >= 9)];
    let point = |run: usize| {
        let value = level(run) + 300.0 * (run % 3) as f64;
        Point {
            run: run as i64 + 1,
            started: format!("2026-11-{:02}T08:00:00Z", run + 1),
            value,
            interval: (run != 2).then_some([value - 1500.0, value + 1500.0]),
            deployments: 5,
            untrusted: run == 7,
        }
    };
    let change = |at: usize, settled: bool| Change {
        at,
        before: level(at - 1),
        after: level(at),
        relative: Some(level(at) / level(at - 1) - 1.0),
        p_value: 0.004,
        settled,
    };
    let changes = [change(4, true), change(9, false)];
    History {
        schema: HISTORY_SCHEMA.to_owned(),
        metric: "response.p50".to_owned(),
        least_points: 8,
        series: vec![Series {
            label: "orders on pod".to_owned(),
            load: "2000/s Poisson, 16 connections".to_owned(),
            machine: "Example CPU, 2 CPUs, Linux 6.12".to_owned(),
            unit: Unit::Nanoseconds,
            points: (0..runs).map(point).collect(),
            changes: changes.into_iter().filter(|change| change.at < runs).collect(),
        }],
        left_out: vec![LeftOut { run: 17, reason: "it was not completed".to_owned() }],
    }
}

fn shown(runs: usize) -> String {
    history(&made_up(runs), 100, false, |started| started[..10].to_owned())
}

#[test]
fn runs_stand_below_each_other_with_the_changes_between_them() {
    insta::assert_snapshot!(shown(12));
}

#[test]
fn too_few_runs_are_said_to_show_no_change_because_they_could_not() {
    let few = shown(3);
    assert!(few.contains("fewer than 8 runs, in which no change could be seen"), "{few}");
}
