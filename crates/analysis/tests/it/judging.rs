//! Made-up runs whose truth is known, judged through the one public entry.

use std::thread;
use std::time::Duration;

use crate::made_up::MadeUp;
use loadline_analysis::result::{Contrast, GateFigure, Remark, Row, RunResult, Statement, Verdict};
use loadline_analysis::{Pace, analyse, still_open};
use loadline_model::CellId;
use loadline_model::experiment::{Isolation, Precision};
use loadline_model::gates::{Gate, GateFailure, Late};
use loadline_model::notes::Note;
use loadline_model::rows::RunRow;
use loadline_stats::FALSE_CLAIMS;

fn row<'a>(contrast: &'a Contrast, metric: &str) -> &'a Row {
    contrast.rows.iter().find(|row| row.metric == metric).unwrap_or_else(|| panic!("no {metric}"))
}

fn late() -> GateFailure {
    GateFailure::Late(Late { p99_us: 500.0, bound_us: 100.0 })
}

fn p50(result: &RunResult) -> &Row {
    row(&result.contrasts[0], "response.p50")
}

#[test]
fn a_shift_is_found_and_its_interval_holds_the_truth() {
    let result = analyse(&MadeUp { shift_us: 20.0, ..MadeUp::default() }.data());
    let row = p50(&result);
    assert_eq!(row.verdict, Verdict::Slower);
    let [low, high] = row.interval.unwrap();
    assert!(low < 20_000.0 && 20_000.0 < high, "{low} {high}");
    assert!(low > 0.0);
    assert_eq!(row.block_differences.len(), 24);
}

#[test]
fn a_shift_the_other_way_is_faster() {
    let result = analyse(&MadeUp { shift_us: -20.0, ..MadeUp::default() }.data());
    assert_eq!(p50(&result).verdict, Verdict::Faster);
}

#[test]
fn the_same_twice_is_equivalent() {
    let result = analyse(&MadeUp { requests: 800, ..MadeUp::default() }.data());
    assert_eq!(p50(&result).verdict, Verdict::Equivalent);
    assert_eq!(row(&result.noise[0], "response.p50").verdict, Verdict::Equivalent);
}

#[test]
fn noise_wider_than_any_margin_leaves_the_question_open() {
    let result = analyse(&MadeUp { deployment_noise_us: 60.0, ..MadeUp::default() }.data());
    let row = p50(&result);
    assert_eq!(row.verdict, Verdict::Unresolved);
    assert!((row.margin - 0.01 * row.baseline).abs() < 1e-6, "1 %, however noisy the run is: {row:?}");
    let (bound, resolution) = (row.bound.unwrap(), row.resolution.unwrap());
    assert!(bound > row.margin && resolution > row.margin, "{row:?}");
    assert!(result.plan.seconds_to_settle.is_some());
}

#[test]
fn fewer_than_six_blocks_make_no_claim() {
    let result = analyse(&MadeUp { shift_us: 20.0, rounds: 5, blocks: 1, ..MadeUp::default() }.data());
    let row = p50(&result);
    assert_eq!((row.verdict, row.interval), (Verdict::Unresolved, None));
    assert_eq!(row.note, Some(Statement::of(Remark::FewBlocks { blocks: 5, least: 6 })));
    assert!((row.difference - 20_000.0).abs() < 5_000.0, "the figure itself is still shown");
}

#[test]
fn a_quantile_with_too_few_requests_beyond_it_makes_no_claim() {
    // 24 slices of 200 requests: 4.8 beyond p99.9.
    let result = analyse(&MadeUp { shift_us: 20.0, ..MadeUp::default() }.data());
    let row = row(&result.contrasts[0], "response.p99.9");
    assert_eq!((row.verdict, row.interval), (Verdict::Unresolved, None));
    let Some(Remark::FewBeyond { requests, least: 10.0 }) =
        row.note.as_ref().and_then(|note| note.what.clone())
    else {
        panic!("{:?}", row.note)
    };
    assert!((requests - 4.8).abs() < 1e-6, "{requests}");
}

#[test]
fn one_deployment_gives_no_verdict() {
    let result = analyse(&MadeUp { shift_us: 20.0, rounds: 1, blocks: 12, ..MadeUp::default() }.data());
    let rows = || result.contrasts.iter().chain(&result.noise).flat_map(|contrast| &contrast.rows);
    for row in rows() {
        assert_eq!((row.verdict, row.bound, row.resolution), (Verdict::Unresolved, None, None), "{row:?}");
    }
    let row = p50(&result);
    assert_eq!(row.note, Some(Statement::of(Remark::OneDeployment)));
    assert!(row.interval.is_some_and(|[low, _]| low > 0.0), "the interval over its blocks is shown");
    assert!(result.notes.contains(&Statement::of(Note::OneDeployment)), "{:?}", result.notes);
}

#[test]
fn costs_and_counts_have_words_of_their_own() {
    let result = analyse(&MadeUp { shift_us: 20.0, ..MadeUp::default() }.data());
    assert_eq!(row(&result.contrasts[0], "cpu.service").verdict, Verdict::Costlier);
    assert_eq!(row(&result.contrasts[0], "softirqs").verdict, Verdict::More);
    assert_eq!(row(&result.contrasts[0], "rate.achieved").verdict, Verdict::Equivalent);
}

#[test]
fn a_cell_that_fails_a_gate_too_often_is_not_trusted() {
    let mut data = MadeUp::default().data();
    let of_cell: Vec<usize> =
        (0..data.slices.len()).filter(|slice| data.slices[*slice].cell == CellId(2)).collect();
    let fail = |data: &mut loadline_analysis::RunData, slices: &[usize]| {
        for slice in slices {
            data.slices[*slice].gate_failures =
                vec![GateFailure::Text { gate: Gate::Errors, text: "requests failed".to_owned() }];
        }
    };
    fail(&mut data, &of_cell[..2]);
    assert!(analyse(&data).trust.trusted, "2 of 24 are tolerated");
    fail(&mut data, &of_cell[..3]);
    let result = analyse(&data);
    assert!(!result.trust.trusted, "3 of 24 are more than a tenth");
    let gate = result.trust.gates.iter().find(|gate| !gate.holds).unwrap();
    assert_eq!((gate.gate, gate.failed), (Gate::Errors, 3));
}

#[test]
fn a_gate_that_fails_for_one_platform_leaves_the_others_trusted() {
    let judged = |failing: CellId| {
        let mut data = MadeUp { static_pod_us: Some(5.0), ..MadeUp::default() }.data();
        for slice in data.slices.iter_mut().filter(|slice| slice.cell == failing) {
            slice.gate_failures =
                vec![GateFailure::Text { gate: Gate::Errors, text: "requests failed".to_owned() }];
        }
        let result = analyse(&data);
        let gate = result.trust.gates.iter().find(|gate| !gate.holds).unwrap();
        assert_eq!((gate.gate, &gate.cells[..], result.trust.trusted), (Gate::Errors, &[failing][..], false));
        let contrasts = result.contrasts.iter().chain(&result.noise);
        let trusted: Vec<Vec<bool>> = contrasts
            .map(|contrast| contrast.rows.iter().map(|row| row.trusted).collect::<Vec<_>>())
            .map(|mut rows| {
                rows.dedup();
                rows
            })
            .collect();
        (trusted, result.is_trusted_in_part())
    };
    let (pod, static_pod, twin) = (CellId(2), CellId(3), CellId(1));
    assert_eq!(judged(pod), (vec![vec![false], vec![true], vec![true]], true));
    assert_eq!(judged(static_pod), (vec![vec![true], vec![false], vec![true]], true));
    assert_eq!(judged(twin), (vec![vec![false]; 3], false), "the twin is a part of each baseline");
}

#[test]
fn what_other_programs_used_is_judged_over_the_whole_load_too() {
    let mut data = MadeUp::default().data();
    let mut used = |share: f64| {
        for (slice, rounding) in data.slices.iter_mut().zip([0.15, -0.15].into_iter().cycle()) {
            let cpu = slice.cpu_use.as_mut().unwrap();
            cpu.foreign_ns = Some((cpu.capacity_ns as f64 * (share + rounding)) as i64);
        }
        analyse(&data).trust
    };
    assert!(used(0.09).trusted);
    let trust = used(0.11);
    let gate = trust.gates.iter().find(|gate| !gate.holds).unwrap();
    let Some(GateFigure::Foreign { share: Some(share) }) = gate.figure.what else { panic!("{gate:?}") };
    assert!((share - 0.11).abs() < 5e-4, "{share}");
    assert_eq!(gate.failed, 0, "no slice failed by itself");
}

#[test]
fn late_requests_are_judged_over_the_whole_cell() {
    let mut data = MadeUp::default().data();
    let late = |data: &mut loadline_analysis::RunData, lag_ns: u64| {
        for slice in data.slices.iter_mut().filter(|slice| slice.cell == CellId(2)).take(6) {
            slice.gate_failures = vec![self::late()];
            slice.send_lag.record_n(lag_ns, 4);
        }
    };
    late(&mut data, 500_000);
    assert!(analyse(&data).trust.trusted, "24 of 4,824 requests are half a percent");
    late(&mut data, 500_000);
    late(&mut data, 500_000);
    assert!(!analyse(&data).trust.trusted, "72 of 4,872 are more than one");
    // Late by another's doing is as late: no slice failed for it.
    data.slices.iter_mut().for_each(|slice| slice.gate_failures.clear());
    assert!(!analyse(&data).trust.trusted, "their lateness is in the response times");
}

#[test]
fn requests_that_waited_for_the_service_were_not_sent_late() {
    let mut data = MadeUp::default().data();
    for slice in &mut data.slices {
        // A stall at the end of a slice kept them from a connection.
        (slice.sent_in_time, slice.waited) = (slice.due - 1, 1);
    }
    let trust = analyse(&data).trust;
    let send_lag = trust.gates.iter().find(|gate| gate.gate == Gate::SendLag).unwrap();
    assert!(send_lag.holds);
    data.slices.iter_mut().for_each(|slice| slice.waited = 0);
    assert!(!analyse(&data).trust.trusted, "connections were free");
}

#[test]
fn a_run_that_was_never_warm_is_not_trusted() {
    let mut data = MadeUp::default().data();
    for warm_up in &mut data.warm_ups {
        warm_up.stationary = false;
    }
    let result = analyse(&data);
    assert!(!result.trust.trusted);
    assert!(result.trust.gates.iter().any(|gate| gate.gate == Gate::Stationary && !gate.holds));
}

#[test]
fn a_run_that_was_to_be_cold_is_trusted_and_says_that_it_was() {
    let mut data = MadeUp::default().data();
    data.run.experiment.plan.warmup = Duration::ZERO;
    data.warm_ups.clear();
    let result = analyse(&data);
    assert!(result.trust.trusted, "{:?}", result.trust);
    assert!(result.trust.gates.iter().all(|gate| gate.gate != Gate::Stationary));
    assert!(result.notes.contains(&Statement::of(Note::Cold)), "{:?}", result.notes);
}

#[test]
fn services_that_are_deployed_one_at_a_time_have_a_block_each() {
    let mut run = MadeUp::default().data().run;
    let blocks_of = |run: &RunRow| Pace::of(&run.experiment, &run.plan.sites).blocks();
    let at_once = blocks_of(&run);
    run.experiment.plan.isolation = Isolation::Exclusive;
    assert!(run.plan.sites.len() > 1 && at_once > 0);
    assert_eq!(blocks_of(&run), at_once * run.plan.sites.len() as u64);
}

#[test]
fn a_run_without_slices_is_a_result_too() {
    let mut data = MadeUp::default().data();
    data.slices.clear();
    let result = analyse(&data);
    assert!(!result.trust.trusted);
    assert!(result.contrasts.iter().all(|contrast| contrast.rows.is_empty()));
    assert!(loadline_report::json(&result, &mut Vec::new()).is_ok());
}

#[test]
fn ending_by_width_widens_the_interval() {
    let fixed = analyse(&MadeUp { shift_us: 20.0, ..MadeUp::default() }.data());
    let mut data = MadeUp { shift_us: 20.0, ..MadeUp::default() }.data();
    data.run.experiment.plan.until = Some(vec![precision("response.p50", 0.01)]);
    let looked_at = analyse(&data);
    let width = |result: &RunResult| p50(result).interval.map(|[low, high]| high - low).unwrap();
    let wider = width(&looked_at) / width(&fixed);
    assert!((1.05..1.15).contains(&wider), "{wider}");
}

fn precision(metric: &str, within: f64) -> Precision {
    Precision { metric: metric.to_owned(), within }
}

#[test]
fn a_run_ends_when_all_that_was_asked_for_is_narrow_enough() {
    let open = |asked: &[(&str, f64)]| {
        let mut data = MadeUp { shift_us: 20.0, ..MadeUp::default() }.data();
        data.run.experiment.plan.until =
            Some(asked.iter().map(|(metric, within)| precision(metric, *within)).collect());
        still_open(&analyse(&data))
    };
    assert_eq!(open(&[("response.p50", 0.5), ("response.p99", 0.5)]), None);
    let wide = open(&[("response.p50", 0.5), ("response.p99", 1e-5)]).expect("p99 is not known to 0.001 %");
    assert_eq!((wide.label.as_str(), wide.within), ("response p99", 1e-5));
    let reached = wide.reached.expect("an interval");
    let deployments = f64::from(analyse(&MadeUp::default().data()).plan.deployments);
    // Student's t of many deployments is smaller than that of eight, and looks are 1.3 times apart.
    let by_the_root = deployments * (reached / 1e-5).powi(2);
    let times = f64::from(wide.deployments.expect("a number")) / by_the_root;
    assert!((0.6..1.31).contains(&times), "{times}");
    let unknown = open(&[("cpu.throttled", 0.5)]).expect("no slice has it");
    assert_eq!((unknown.reached, unknown.deployments), (None, None));
}

/// The metrics of which claims are counted, each of which is a family with a correction of its own.
pub const FAMILIES: [&str; 10] = [
    "response.p50",
    "response.p90",
    "response.p99",
    "response.p99.9",
    "response.mean",
    "response.mean.undisturbed",
    "response.p50.paired",
    "response.p99.paired",
    "cpu.service",
    "softirqs",
];

/// What was claimed in runs without a difference.
#[derive(Debug, Default)]
pub struct FalseClaims {
    /// Runs in which either of two candidates was claimed to differ, by family.
    pub of_families: [usize; FAMILIES.len()],
    /// Runs in which the twin was claimed to differ, in any primary metric.
    pub of_twins: usize,
}

impl FalseClaims {
    fn and(mut self, others: FalseClaims) -> FalseClaims {
        for (claims, more) in self.of_families.iter_mut().zip(others.of_families) {
            *claims += more;
        }
        self.of_twins += others.of_twins;
        self
    }
}

/// Judges so many runs in which nothing differs, and in which the noise is too large for anything to be equivalent; on all CPUs.
pub fn claims_without_a_difference(runs: u64) -> FalseClaims {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads as u64)
            .map(|first| scope.spawn(move || claims_in((first..runs).step_by(threads))))
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().expect("claims"))
            .fold(FalseClaims::default(), FalseClaims::and)
    })
}

fn claims_in(seeds: impl Iterator<Item = u64>) -> FalseClaims {
    let mut claims = FalseClaims::default();
    for seed in seeds {
        let run = MadeUp {
            seed,
            deployment_noise_us: 4.0,
            cpu_noise_us: 20.0,
            static_pod_us: Some(0.0),
            requests: 800,
            ..MadeUp::default()
        };
        let result = analyse(&run.data());
        let is_claimed = |metric: &&str| {
            let mut rows = result.contrasts.iter().map(|contrast| row(contrast, metric));
            rows.any(|row| !matches!(row.verdict, Verdict::Equivalent | Verdict::Unresolved))
        };
        for (metric, claimed) in FAMILIES.iter().zip(&mut claims.of_families) {
            *claimed += usize::from(is_claimed(metric));
        }
        claims.of_twins += usize::from(!result.trust.twins_differ.is_empty());
    }
    claims
}

/// The most of so many runs that a correct error rate exceeds once in a hundred times (about 2.3 standard deviations).
pub fn most_by_chance(rate: f64, runs: u64) -> f64 {
    rate * runs as f64 + 2.33 * (rate * (1.0 - rate) * runs as f64).sqrt()
}

#[test]
fn no_difference_is_claimed_more_often_than_the_stated_error_rate() {
    let runs = 20;
    let claims = claims_without_a_difference(runs);
    for claimed in claims.of_families.into_iter().chain([claims.of_twins]) {
        assert!(claimed as f64 <= most_by_chance(FALSE_CLAIMS, runs), "{claims:?} of {runs}");
    }
}
