//! A ladder: which cell stands on which, and whether the layers' costs add up to the whole.

use loadline_model::CellId;
use loadline_model::plan::Role;

use loadline_model::experiment::Margin;
use loadline_stats::{Interval, Levels, holm};

use crate::RunData;
use crate::counted::Counted;
use crate::joint::{along, of_cell};
use crate::metrics::{self, Kind};
use crate::result::{Contrast, Estimate, Ladder, LadderSum, Rung, SumRow};

/// The metrics that are summed up.
const SUMMED: [&str; 5] = ["response.p50.paired", "response.p99.paired", "cpu.path", "softirqs", "switches"];

/// A residual is the difference of two differences, each of which may be off by the margin of a contrast.
const MARGINS: f64 = 2.0;

/// The ladders of a run, one per load.
pub fn ladders(
    data: &RunData,
    counted: &Counted<'_>,
    confidence: f64,
    contrasts: &[Contrast],
) -> Vec<Ladder> {
    let plan = &data.run.plan;
    if !data.run.experiment.is_ladder() {
        return Vec::new();
    }
    let mut tests = Vec::new();
    let mut ladders: Vec<Ladder> = plan
        .cells_as(Role::Baseline)
        .map(|(bottom, baseline)| {
            let of_this = |contrast: &Contrast| plan.load_of(contrast.candidate) == baseline.load;
            let rungs: Vec<Rung> = contrasts
                .iter()
                .enumerate()
                .filter(|(_, contrast)| of_this(contrast))
                .map(|(index, contrast)| Rung {
                    cell: contrast.candidate,
                    below: contrast.baseline,
                    contrast: index,
                })
                .collect();
            let tops = rungs.iter().map(|rung| rung.cell).filter(|cell| is_top(data, *cell));
            let sums = tops.map(|top| sum(data, counted, confidence, bottom, top, &rungs, &mut tests));
            let sums = sums.collect();
            Ladder { bottom, sums, rungs }
        })
        .collect();
    close(&mut ladders, &tests, Levels::at(confidence));
    ladders
}

/// The tests of a residual.
struct Tests {
    /// The p-value of "it is zero".
    zero: f64,
    /// The p-value of "it is as large as the margin".
    margin: f64,
}

/// Judges the residuals, all together: of forty one would be claimed to differ from zero by chance.
fn close(ladders: &mut [Ladder], tests: &[Option<Tests>], levels: Levels) {
    let rows = ladders.iter_mut().flat_map(|ladder| &mut ladder.sums).flat_map(|sum| &mut sum.rows);
    let tested: Vec<(&mut SumRow, &Tests)> =
        rows.zip(tests).filter_map(|(row, tests)| Some((row, tests.as_ref()?))).collect();
    let corrected =
        |of: &dyn Fn(&Tests) -> f64| holm(&tested.iter().map(|(_, tests)| of(tests)).collect::<Vec<f64>>());
    let (zero, margin) = (corrected(&|tests| tests.zero), corrected(&|tests| tests.margin));
    for ((row, _), (zero, margin)) in tested.into_iter().zip(zero.into_iter().zip(margin)) {
        row.closes = match () {
            () if margin < levels.equivalence => Some(true),
            () if zero < levels.difference => Some(false),
            () => None,
        };
    }
}

fn is_top(data: &RunData, cell: CellId) -> bool {
    data.run.experiment.platform(data.run.plan.site_of(cell).platform).top
}

fn sum(
    data: &RunData,
    counted: &Counted<'_>,
    confidence: f64,
    bottom: CellId,
    top: CellId,
    rungs: &[Rung],
    tests: &mut Vec<Option<Tests>>,
) -> LadderSum {
    let mut path = vec![top];
    while let Some(rung) = rungs.iter().find(|rung| Some(&rung.cell) == path.last()) {
        path.push(rung.below);
    }
    path.reverse();
    let twins = data.run.plan.twin_of(bottom).zip(data.run.plan.twin_of(top));
    let metrics = metrics::of_slices(&data.run);
    let summed = metrics.iter().filter(|metric| SUMMED.contains(&metric.id.as_ref()));
    let steps: Vec<[CellId; 2]> = path.windows(2).map(|step| [step[0], step[1]]).collect();
    let rows = summed.filter_map(|metric| {
        let of = |steps: &[[CellId; 2]], less: &[[CellId; 2]]| {
            let joint = along(counted, metric, steps, less, data.run.experiment.plan.seed, confidence);
            let estimate = joint.found.map(|value| Estimate { value, interval: joint.interval })?;
            Some((estimate, joint.spread))
        };
        // What is paired is so with the slices right beside it. Else the figures of what is between bottom and top cancel out.
        let up = if matches!(metric.kind, Kind::Paired(_)) { &steps[..] } else { &[[bottom, top]] };
        let (sum, _) = of(up, &[])?;
        let again = twins.and_then(|(low, high)| {
            let (end_to_end, _) = of(&[[low, high]], &[])?;
            Some((end_to_end, of(&[[low, high]], up)?))
        });
        let (end_to_end, residual) = again.unzip();
        let (residual, spread) = residual.unzip();
        let bottom = of_cell(counted, metric, bottom)?;
        let margin = data.run.experiment.plan.margin.unwrap_or(Margin::DEFAULT);
        let margin = MARGINS * margin.of(bottom, metric.unit);
        tests.push(spread.flatten().map(|spread| Tests {
            zero: spread.p_value(),
            margin: spread.equivalence_p(Interval::around(0.0, margin)),
        }));
        let (metric, unit) = (metric.id.to_string(), metric.unit);
        Some(SumRow { metric, unit, sum, end_to_end, residual, margin, closes: None })
    });
    LadderSum { top, path, rows: rows.collect() }
}
