//! Blocks that were measured again: which attempt counts, how often each cell was disturbed, and what that does to the tails.

use loadline_analysis::result::{Remark, Row, RunResult, Verdict};
use loadline_analysis::{RunData, analyse};
use loadline_model::CellId;
use loadline_model::gates::{Gate, GateFailure, Late};
use loadline_model::rows::SliceRow;

use crate::made_up::MadeUp;

fn paused() -> GateFailure {
    GateFailure::Paused { ms_per_second: 200.0, most: 10.0 }
}

fn failed() -> GateFailure {
    GateFailure::Text { gate: Gate::Errors, text: "requests failed".to_owned() }
}

/// Measures cells of a block again, all undisturbed.
fn repeat(data: &mut RunData, (round, block): (u32, u32), attempt: u32, cells: &[usize]) {
    let is_repeated = |slice: &&SliceRow| {
        (slice.round, slice.block, slice.attempt) == (round, block, 0) && cells.contains(&slice.cell.0)
    };
    let mut again: Vec<SliceRow> = data.slices.iter().filter(is_repeated).cloned().collect();
    for slice in &mut again {
        slice.attempt = attempt;
        slice.at_s += 0.5;
        slice.gate_failures.clear();
    }
    data.slices.extend(again);
}

fn fail(data: &mut RunData, cell: usize, place: (u32, u32), attempt: u32, failure: GateFailure) {
    let is_it = |slice: &&mut SliceRow| {
        (slice.cell, (slice.round, slice.block), slice.attempt) == (CellId(cell), place, attempt)
    };
    data.slices.iter_mut().find(is_it).unwrap().gate_failures.push(failure);
}

/// The attempts of each cell that count in the first block.
fn counted(result: &RunResult) -> Vec<(usize, u32)> {
    let of_block = result.slices.iter().filter(|slice| (slice.round, slice.block) == (0, 0));
    let mut counted: Vec<(usize, u32)> =
        of_block.filter(|slice| slice.counted).map(|slice| (slice.cell.0, slice.attempt)).collect();
    counted.sort_unstable();
    counted
}

fn row<'a>(result: &'a RunResult, metric: &str) -> &'a Row {
    result.contrasts[0].rows.iter().find(|row| row.metric == metric).unwrap()
}

#[test]
fn all_cells_of_a_block_count_in_the_first_attempt_that_was_undisturbed() {
    let mut data = MadeUp::default().data();
    fail(&mut data, 0, (0, 0), 0, paused());
    repeat(&mut data, (0, 0), 1, &[0, 1, 2]);
    fail(&mut data, 2, (0, 0), 1, paused());
    repeat(&mut data, (0, 0), 2, &[0, 1, 2]);
    let result = analyse(&data);
    assert_eq!(counted(&result), [(0, 2), (1, 2), (2, 2)]);
    assert!(result.trust.trusted);
    assert_eq!((result.trust.slices_failed, result.trust.slices_repeated), (2, 6));
    let shown = result.slices.iter().filter(|slice| (slice.round, slice.block) == (0, 0)).count();
    assert_eq!(shown, 9, "and all attempts are shown");
}

#[test]
fn a_block_does_not_count_if_every_attempt_was_disturbed() {
    let mut data = MadeUp::default().data();
    fail(&mut data, 0, (0, 0), 0, paused());
    repeat(&mut data, (0, 0), 1, &[0, 1, 2]);
    fail(&mut data, 1, (0, 0), 1, paused());
    let result = analyse(&data);
    assert_eq!(counted(&result), []);
    assert_eq!((result.trust.repeats.left_out, result.plan.blocks_measured), (1, 23));
    assert!(result.slices.iter().all(|slice| slice.counted || (slice.round, slice.block) == (0, 0)));
}

/// A step of stolen time in a slice of 50 ms: no gate fails for that.
fn lose_time(data: &mut RunData, place: (u32, u32)) {
    let of_block = data.slices.iter_mut().find(|slice| (slice.round, slice.block) == place);
    let cpu = of_block.unwrap().cpu_use.as_mut().unwrap();
    cpu.capacity_ns = 100_000_000;
    cpu.steal_ns = 10_000_000;
}

#[test]
fn a_block_does_not_count_if_time_was_stolen_from_it() {
    let mut data = MadeUp::default().data();
    lose_time(&mut data, (0, 0));
    let result = analyse(&data);
    assert_eq!((counted(&result), result.trust.repeats.left_out), (vec![], 1));
    assert_eq!(result.trust.repeats.disturbed, 1);
    repeat(&mut data, (0, 0), 1, &[0, 1, 2]);
    lose_time(&mut data, (0, 0));
    data.slices.iter_mut().filter(|slice| slice.attempt == 1).for_each(|slice| {
        slice.cpu_use.as_mut().unwrap().steal_ns = 0;
    });
    let result = analyse(&data);
    let expected = (vec![], 1);
    assert_eq!((counted(&result), result.trust.repeats.left_out), expected, "no gate asked for this attempt");
}

#[test]
fn every_block_counts_on_a_machine_that_is_too_loud() {
    let mut data = MadeUp::default().data();
    // Of the three blocks of each deployment one is quiet: a third of all. One fewer is too few.
    for (round, block) in (0..8).flat_map(|round| (0..2).map(move |block| (round, block))) {
        lose_time(&mut data, (round, block));
    }
    assert_eq!(analyse(&data).trust.repeats.left_out, 16);
    lose_time(&mut data, (7, 2));
    assert_eq!(analyse(&data).trust.repeats.left_out, 0);
}

#[test]
fn a_deployment_without_a_quiet_block_does_not_count_if_few_are_like_it() {
    let mut data = MadeUp::default().data();
    for (round, block) in (0..2).flat_map(|round| (0..3).map(move |block| (round, block))) {
        lose_time(&mut data, (round, block));
    }
    let result = analyse(&data);
    assert_eq!((result.trust.repeats.left_out, result.plan.deployments), (6, 6));
    for block in 0..3 {
        lose_time(&mut data, (2, block));
    }
    let result = analyse(&data);
    assert_eq!((result.trust.repeats.left_out, result.plan.deployments), (0, 8));
}

#[test]
fn a_tail_that_differs_with_the_blocks_that_are_left_out_is_shown_beside() {
    let mut data = MadeUp::default().data();
    for round in 0..8 {
        lose_time(&mut data, (round, 0));
        let candidate = |slice: &&mut SliceRow| (slice.cell.0, slice.round, slice.block) == (2, round, 0);
        data.slices.iter_mut().find(candidate).unwrap().response.record_n(20_000_000, 20);
    }
    let result = analyse(&data);
    assert_eq!(result.trust.repeats.left_out, 8);
    let row = row(&result, "response.mean");
    assert!(row.first_attempts.unwrap() > row.difference + 100_000.0, "{row:?}");
}

#[test]
fn a_block_counts_for_those_of_its_comparisons_that_were_quiet() {
    let mut data = MadeUp { static_pod_us: Some(5.0), ..MadeUp::default() }.data();
    let static_pod = 3;
    // The static pod was disturbed in both attempts, the pod in the first one alone.
    fail(&mut data, static_pod, (0, 0), 0, paused());
    fail(&mut data, 2, (0, 0), 0, paused());
    repeat(&mut data, (0, 0), 1, &[0, 1, 2, 3]);
    fail(&mut data, static_pod, (0, 0), 1, paused());
    // All comparisons need baseline and twin.
    fail(&mut data, 1, (0, 1), 0, paused());
    let result = analyse(&data);
    assert_eq!(counted(&result), [(0, 1), (1, 1), (2, 1)]);
    assert!(result.slices.iter().all(|slice| !slice.counted || (slice.round, slice.block) != (0, 1)));
    assert_eq!((result.trust.repeats.left_out, result.trust.repeats.in_part), (1, 1));
    assert!(result.trust.trusted);
}

#[test]
fn a_comparison_counts_in_each_attempt_in_which_it_was_quiet() {
    let mut data = MadeUp { static_pod_us: Some(5.0), ..MadeUp::default() }.data();
    fail(&mut data, 3, (0, 0), 0, paused());
    repeat(&mut data, (0, 0), 1, &[0, 1, 2, 3]);
    let result = analyse(&data);
    assert_eq!(counted(&result), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 1)]);
    assert_eq!((result.trust.repeats.left_out, result.trust.repeats.in_part), (0, 0));
    let blocks = |candidate: usize| {
        let contrast = result.contrasts.iter().find(|contrast| contrast.candidate.0 == candidate).unwrap();
        contrast.rows[0].block_differences.len()
    };
    assert_eq!((blocks(2), blocks(3)), (25, 24));
}

#[test]
fn a_comparison_that_is_hardly_ever_quiet_makes_all_of_its_load_count() {
    let mut data = MadeUp { static_pod_us: Some(5.0), ..MadeUp::default() }.data();
    for (round, block) in (0..8).flat_map(|round| (0..3).map(move |block| (round, block))) {
        fail(&mut data, 3, (round, block), 0, paused());
    }
    let repeats = analyse(&data).trust.repeats;
    assert_eq!((repeats.left_out, repeats.in_part, repeats.as_they_are), (0, 0, 24));
}

#[test]
fn what_was_compared_with_a_platform_that_could_not_be_measured_counts() {
    let mut data = MadeUp::default().data();
    data.slices.retain(|slice| slice.cell.0 != 2);
    lose_time(&mut data, (0, 0));
    let of_baseline = |data: &RunData| {
        analyse(data).slices.iter().filter(|slice| slice.counted && slice.cell.0 == 0).count()
    };
    assert_eq!(of_baseline(&data), 23, "the block in which the twin lost time does not count");
    for (round, block) in (0..8).flat_map(|round| (0..3).map(move |block| (round, block))) {
        lose_time(&mut data, (round, block));
    }
    assert_eq!(of_baseline(&data), 24);
}

#[test]
fn what_was_given_up_early_is_judged_by_what_was_measured_of_it() {
    let mut data = MadeUp::default().data();
    data.slices.retain(|slice| slice.cell.0 != 2 || slice.round < 2);
    for (round, block) in (0..2).flat_map(|round| (0..3).map(move |block| (round, block))) {
        fail(&mut data, 2, (round, block), 0, paused());
    }
    let result = analyse(&data);
    let of_candidate = result.slices.iter().filter(|slice| slice.counted && slice.cell.0 == 2).count();
    assert_eq!(of_candidate, 6, "all of it, for none of it was quiet");
}

#[test]
fn steps_of_stolen_time_select_nothing_where_every_block_counts() {
    let mut data = MadeUp { shift_us: 20.0, ..MadeUp::default() }.data();
    // All in slices of one cell.
    for (round, block) in (0..8).flat_map(|round| (0..3).map(move |block| (round, block))) {
        let pod = |slice: &&mut SliceRow| (slice.cell.0, slice.round, slice.block) == (2, round, block);
        let cpu = data.slices.iter_mut().find(pod).unwrap().cpu_use.as_mut().unwrap();
        (cpu.capacity_ns, cpu.steal_ns) = (100_000_000, 10_000_000);
    }
    let result = analyse(&data);
    assert_eq!((result.trust.repeats.left_out, result.trust.repeats.as_they_are), (0, 24));
    assert!(!result.trust.repeats.loads[0].differ);
    assert_eq!(row(&result, "response.mean").verdict, Verdict::Slower);
}

#[test]
fn a_disturbed_block_of_a_ladder_counts() {
    let mut data = MadeUp { ladder: true, static_pod_us: Some(5.0), ..MadeUp::default() }.data();
    lose_time(&mut data, (0, 0));
    assert_eq!(analyse(&data).trust.repeats.left_out, 0);
}

#[test]
fn a_repeat_that_was_cut_short_does_not_count() {
    let mut data = MadeUp::default().data();
    fail(&mut data, 0, (0, 0), 0, paused());
    repeat(&mut data, (0, 0), 1, &[0, 1]);
    assert_eq!(counted(&analyse(&data)), []);
}

#[test]
fn what_the_service_did_does_not_decide_which_attempt_counts() {
    let mut data = MadeUp::default().data();
    for failure in [failed(), GateFailure::Late(Late { p99_us: 500.0, bound_us: 100.0 })] {
        fail(&mut data, 2, (0, 0), 0, failure);
    }
    repeat(&mut data, (0, 0), 1, &[0, 1, 2]);
    assert_eq!(counted(&analyse(&data)), [(0, 0), (1, 0), (2, 0)]);
}

#[test]
fn blocks_that_were_disturbed_are_counted() {
    let mut data = MadeUp::default().data();
    fail(&mut data, 0, (0, 0), 0, paused());
    repeat(&mut data, (0, 0), 1, &[0, 1, 2]);
    let repeats = analyse(&data).trust.repeats;
    assert_eq!((repeats.blocks, repeats.disturbed, repeats.many), (24, 1, false));
    for block in 0..3 {
        fail(&mut data, 1, (1, block), 0, paused());
        repeat(&mut data, (1, block), 1, &[0, 1, 2]);
    }
    let result = analyse(&data);
    assert_eq!((result.trust.repeats.disturbed, result.trust.repeats.many), (4, true));
    assert!(result.trust.trusted, "repeated well, but it is said");
    let of_cells: Vec<(usize, usize)> =
        result.trust.repeats.loads[0].cells.iter().map(|cell| (cell.slices, cell.disturbed)).collect();
    assert_eq!(of_cells, [(28, 1), (28, 3), (28, 0)]);
    assert!(!result.trust.repeats.loads[0].differ);
}

#[test]
fn cells_that_were_disturbed_more_often_than_others_lose_their_tails() {
    let mut data = MadeUp { shift_us: 20.0, ..MadeUp::default() }.data();
    for (round, block) in (0..8).flat_map(|round| (0..2).map(move |block| (round, block))) {
        fail(&mut data, 2, (round, block), 0, paused());
        repeat(&mut data, (round, block), 1, &[0, 1, 2]);
    }
    let result = analyse(&data);
    let load = &result.trust.repeats.loads[0];
    assert!(load.differ && load.p_holm.unwrap() < 0.001, "{load:?}");
    for metric in ["response.p99", "response.mean", "service.mean"] {
        let row = row(&result, metric);
        assert_eq!(row.verdict, Verdict::Unresolved, "{metric}");
        assert_eq!(row.note.as_ref().and_then(|note| note.what.clone()), Some(Remark::RepeatsDiffer));
    }
    assert_eq!(
        row(&result, "response.p50").verdict,
        Verdict::Slower,
        "a median is not made of a few requests"
    );
}

#[test]
fn cells_that_were_disturbed_alike_keep_their_tails() {
    let mut data = MadeUp { shift_us: 20.0, ..MadeUp::default() }.data();
    for (round, block) in (0..8).flat_map(|round| (0..2).map(move |block| (round, block))) {
        fail(&mut data, round as usize % 3, (round, block), 0, paused());
        repeat(&mut data, (round, block), 1, &[0, 1, 2]);
    }
    let result = analyse(&data);
    assert!(!result.trust.repeats.loads[0].differ);
    assert_eq!(row(&result, "response.mean").verdict, Verdict::Slower);
}

#[test]
fn a_tail_that_differs_without_the_repeats_is_shown_beside() {
    let mut data = MadeUp { shift_us: 20.0, ..MadeUp::default() }.data();
    for round in 0..8 {
        repeat(&mut data, (round, 0), 1, &[0, 1, 2]);
        fail(&mut data, 2, (round, 0), 0, paused());
        let disturbed = data.slices.iter_mut().find(|slice| slice.is_disturbed() && slice.round == round);
        disturbed.unwrap().response.record_n(20_000_000, 20);
    }
    let result = analyse(&data);
    for metric in ["response.p99", "response.mean"] {
        let row = row(&result, metric);
        let first = row.first_attempts.unwrap_or_else(|| panic!("{metric}"));
        assert!(first > row.difference + 100_000.0, "{metric}: {first} beside {}", row.difference);
    }
    assert_eq!(row(&result, "response.p50").first_attempts, None, "a median is not a tail");
    let undisturbed = analyse(&MadeUp { shift_us: 20.0, ..MadeUp::default() }.data());
    assert!(undisturbed.contrasts[0].rows.iter().all(|row| row.first_attempts.is_none()));
}
