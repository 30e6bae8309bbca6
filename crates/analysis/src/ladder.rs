//! A ladder: which cell stands on which, and whether the layers' costs add up to the whole.

use loadline_model::CellId;
use loadline_model::plan::Role;

use crate::RunData;
use crate::joint::joint;
use crate::metrics;
use crate::result::{Contrast, Estimate, Ladder, LadderSum, Rung, SumRow};
use crate::sample::Counted;

/// The metrics that are summed up.
const SUMMED: [&str; 5] = ["response.p50", "response.p99", "cpu.path", "softirqs", "switches"];

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
    plan.cells_as(Role::Baseline)
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
            let sums = tops.map(|top| sum(data, counted, confidence, bottom, top, &rungs)).collect();
            Ladder { bottom, sums, rungs }
        })
        .collect()
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
) -> LadderSum {
    let mut path = vec![top];
    while let Some(rung) = rungs.iter().find(|rung| Some(&rung.cell) == path.last()) {
        path.push(rung.below);
    }
    path.reverse();
    let twin = |of: CellId| {
        data.run.plan.noise_contrasts().find(|noise| noise.baseline == of).map(|noise| noise.candidate)
    };
    let twins = twin(bottom).zip(twin(top));
    let metrics = metrics::of_run(&data.run);
    let summed = metrics.iter().filter(|metric| SUMMED.contains(&metric.id.as_ref()));
    let rows = summed.filter_map(|metric| {
        let of = |cells: &[CellId], figure: &dyn Fn(&[f64]) -> f64| {
            let joint = joint(counted, metric, cells, data.run.experiment.plan.seed, confidence, figure);
            joint.found.map(|value| Estimate { value, interval: joint.interval })
        };
        let sum = of(&[bottom, top], &|figures| figures[1] - figures[0])?;
        let again = twins.and_then(|(low, high)| {
            let end_to_end = of(&[low, high], &|figures| figures[1] - figures[0])?;
            let difference = |f: &[f64]| (f[1] - f[0]) - (f[3] - f[2]);
            Some((end_to_end, of(&[low, high, bottom, top], &difference)?))
        });
        let (end_to_end, residual) = again.unzip();
        let closes =
            residual.and_then(|residual| residual.interval).map(|[low, high]| low <= 0.0 && high >= 0.0);
        Some(SumRow { metric: metric.id.to_string(), unit: metric.unit, sum, end_to_end, residual, closes })
    });
    LadderSum { top, path, rows: rows.collect() }
}
