//! A ladder's arithmetic on made-up runs: each rung against the one below it, the sum, and the same measured anew.

use crate::judging::most_by_chance;
use crate::made_up::MadeUp;
use loadline_analysis::analyse;
use loadline_analysis::result::{RunResult, SumRow, Verdict};
use loadline_model::metrics::SERVICE_CPU;
use loadline_model::rows::RunData;
use loadline_model::{CellId, SparseHistogram};
use loadline_stats::Levels;

/// A pod 5 µs above the host, a static pod 3 µs above the pod.
fn ladder() -> MadeUp {
    MadeUp { shift_us: 5.0, static_pod_us: Some(8.0), ladder: true, ..MadeUp::default() }
}

fn row<'a>(result: &'a RunResult, metric: &str) -> &'a SumRow {
    result.ladders[0].sums[0].rows.iter().find(|row| row.metric == metric).expect(metric)
}

#[test]
fn a_rung_costs_what_it_adds_to_the_one_below() {
    let result = analyse(&ladder().data());
    let labels: Vec<(&str, &str)> = result.ladders[0]
        .rungs
        .iter()
        .map(|rung| (result.cells[rung.cell].label.as_str(), result.cells[rung.below].label.as_str()))
        .collect();
    assert_eq!(labels, [("pod", "host"), ("static pod", "pod")]);
    let costs: Vec<f64> = result
        .contrasts
        .iter()
        .map(|contrast| contrast.rows.iter().find(|row| row.metric == "cpu.path").unwrap().difference / 1e3)
        .collect();
    // The made-up service uses as much more CPU as it is slower.
    assert_eq!(costs, [5.0, 3.0]);
    let p50 = result.contrasts[1].rows.iter().find(|row| row.metric == "response.p50").unwrap();
    assert_eq!(p50.verdict, Verdict::Slower, "{p50:?}");
    assert!(result.contrasts.iter().all(|contrast| contrast.twin.is_none()), "rungs add up to the sum");
}

#[test]
fn the_sum_is_held_against_second_deployments_of_bottom_and_top() {
    let result = analyse(&ladder().data());
    let sum = &result.ladders[0].sums[0];
    assert_eq!(sum.path, [0, 3, 4].map(CellId), "host, pod, static pod; the twins between are no rungs");
    let p50 = row(&result, "response.p50.paired");
    let (end_to_end, residual) = (p50.end_to_end.unwrap(), p50.residual.unwrap());
    assert!((residual.value - (end_to_end.value - p50.sum.value)).abs() < 1e-6, "{p50:?}");
    assert_ne!(residual.value, 0.0, "other deployments give another figure");
    assert_eq!(p50.closes, Some(true), "{p50:?}");
    assert!((p50.margin / (2.0 * 0.01 * result.cells[0].figures[0].value) - 1.0).abs() < 0.02, "{p50:?}");
}

#[test]
fn a_residual_that_may_be_larger_than_the_margin_neither_closes_nor_stays_open() {
    let result = analyse(&MadeUp { deployment_noise_us: 10.0, ..ladder() }.data());
    let p50 = row(&result, "response.p50.paired");
    let [low, high] = p50.residual.unwrap().interval.unwrap();
    assert!(low < -p50.margin && p50.margin < high, "the noise is larger than the margin: {p50:?}");
    assert_eq!(p50.closes, None, "{p50:?}");
}

#[test]
fn layers_that_add_up_are_seldom_left_open() {
    let runs = 30;
    let is_open = |seed: &u64| {
        let run = MadeUp { seed: *seed, deployment_noise_us: 4.0, cpu_noise_us: 5.0, ..ladder() };
        let result = analyse(&run.data());
        result.ladders[0].sums.iter().flat_map(|sum| &sum.rows).any(|row| row.closes == Some(false))
    };
    let open = (0..runs).filter(is_open).count();
    assert!(open as f64 <= most_by_chance(Levels::DEFAULT.difference, runs), "{open} of {runs}");
}

#[test]
fn a_top_that_is_slower_when_it_is_deployed_anew_leaves_the_sum_open() {
    let mut data = ladder().data();
    // The top's twin is cell 2.
    for slice in data.slices.iter_mut().filter(|slice| slice.cell == CellId(2)) {
        let used = slice.observations.service_cpu_ns().unwrap() + 4_000 * slice.answered;
        slice.observations.set(SERVICE_CPU, used);
    }
    let result = analyse(&data);
    let cpu = row(&result, "cpu.path");
    assert_eq!(cpu.closes, Some(false), "{cpu:?}");
    assert!((cpu.residual.unwrap().value - 4_000.0).abs() < 1.0, "{cpu:?}");
}

#[test]
fn platforms_that_are_all_compared_with_the_first_are_no_ladder() {
    let result = analyse(&MadeUp { ladder: false, ..ladder() }.data());
    assert!(result.ladders.is_empty());
}

#[test]
fn what_the_machine_does_to_a_whole_block_is_in_no_paired_difference() {
    let run = MadeUp { requests: 800, ..ladder() };
    let mut data = run.data();
    // Each block is slower by something else, up to 100 µs, for all of its cells.
    for slice in &mut data.slices {
        let more = u64::from((7 * slice.round + 3 * slice.block) % 11) * 10_000;
        let mut slower = SparseHistogram::default();
        slice.response.iter().for_each(|(ns, count)| slower.record_n(ns + more, count));
        slice.response = slower;
    }
    let [quiet, loud] = [run.data(), data].map(|data| analyse(&data));
    let row = |result: &RunResult, metric: &str| {
        let row = result.contrasts[0].rows.iter().find(|row| row.metric == metric).expect(metric);
        let [low, high] = row.interval.expect("an interval");
        (row.difference / 1e3, (high - low) / 2e3)
    };
    let (undisturbed, _) = row(&quiet, "response.p50.paired");
    let (paired, half_width) = row(&loud, "response.p50.paired");
    assert!((paired - undisturbed).abs() < 1.0, "{paired} {undisturbed}");
    let (_, of_all_requests) = row(&loud, "response.p50");
    assert!(half_width < 0.75 * of_all_requests, "{half_width} {of_all_requests}");
}

#[test]
fn a_deployment_that_the_machine_hardly_left_alone_does_not_count() {
    let mut data = ladder().data();
    let steal = |data: &mut RunData, round: u32, share: f64| {
        let of_round = data.slices.iter_mut().filter(|slice| slice.round == round);
        let slices: Vec<_> = of_round.collect();
        let loud = (slices.len() as f64 * share) as usize;
        for slice in slices.into_iter().take(loud) {
            let cpu = slice.cpu_use.as_mut().unwrap();
            (cpu.capacity_ns, cpu.steal_ns) = (100_000_000, 10_000_000);
        }
    };
    let left_out = |data: &RunData| analyse(data).trust.repeats.left_out;
    steal(&mut data, 3, 0.6);
    assert_eq!(left_out(&data), 0, "what few slices lose is cut off");
    let of_deployment = data.run.experiment.plan.blocks as usize;
    steal(&mut data, 3, 0.8);
    assert_eq!(left_out(&data), of_deployment);
    steal(&mut data, 5, 1.0);
    assert_eq!(left_out(&data), 2 * of_deployment);
    steal(&mut data, 6, 1.0);
    assert_eq!(left_out(&data), 0, "too few of eight would be left");
}
