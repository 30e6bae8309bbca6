//! The figure that a claim is about, with its interval and the p-value of what is claimed.

use loadline_model::CellId;
use loadline_model::plan::ContrastPlan;
use loadline_stats::Bootstrap;

use crate::RunData;
use crate::compared::Compared;
use crate::contrasts::{no_interval, one_deployment, pooled_twin};
use crate::counted::Counted;
use crate::joint::joint;
use crate::metrics::Metric;
use crate::repeats::selected;
use crate::result::{Remark, Trust};
use crate::sample::Paired;
use crate::scale::Scale;
use crate::verdicts::bounds;

/// The run that claims are compared with.
pub struct Judged<'a> {
    pub data: &'a RunData,
    pub counted: &'a Counted<'a>,
    pub trust: &'a Trust,
    pub confidence: f64,
}

/// The figure that a claim is about.
#[derive(Default)]
pub struct Claimed {
    pub found: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// The degrees of freedom behind it.
    degrees_of_freedom: Option<f64>,
    /// The p-value of "the figure lies within what is claimed"; none where nothing is judged.
    pub p_within: Option<f64>,
    /// Why nothing is.
    pub note: Option<Remark>,
    /// The cells that it is made of.
    pub cells: Vec<CellId>,
}

impl Judged<'_> {
    /// The difference of a contrast, or its share of the baseline: on the scale and with the twin of the row of the table that it is about.
    pub fn difference(
        &self,
        metric: &Metric,
        base: CellId,
        cell: CellId,
        is_share: bool,
        claimed: [f64; 2],
    ) -> Claimed {
        let paired = Paired::new(self.counted, base, cell, pooled_twin(self.data, base));
        let paired = paired.of_deployments(metric).unwrap_or(paired);
        let Some(compared) = Compared::new(metric, &paired) else { return Claimed::default() };
        let scale = compared.scale;
        let figure = |weights: &[u32]| match scale {
            Scale::Linear if is_share => compared.difference(weights) / compared.place_of_baseline(weights),
            // A difference of logarithms is a share already.
            _ => compared.difference(weights),
        };
        let spread = compared.spread(self.data.run.experiment.plan.seed, figure);
        let withheld = no_interval(metric, &paired, &compared, spread.as_ref());
        let spread = spread.filter(|_| withheld.is_none());
        let note = withheld
            .or_else(|| one_deployment(&paired))
            .or_else(|| selected(&self.trust.repeats, cell, &metric.id));
        let reference = if is_share { 1.0 } else { compared.baseline_figure() };
        let shown = |place: f64| scale.difference(place, reference);
        Claimed {
            found: Some(shown(figure(&compared.once()))).filter(|found| found.is_finite()),
            interval: spread.map(|spread| bounds(&spread, self.confidence).map(shown)),
            degrees_of_freedom: spread.map(|spread| spread.degrees_of_freedom),
            p_within: spread
                .filter(|_| note.is_none())
                .map(|spread| p_within(&spread, claimed.map(|end| scale.distance(end, reference)))),
            note,
            cells: [base, cell].into_iter().chain(paired.twin).collect(),
        }
    }

    /// What a cell lacks of the other platform's difference from the baseline, as a share of that.
    pub fn closed(&self, metric: &Metric, contrast: &ContrastPlan, of: &str, claimed: [f64; 2]) -> Claimed {
        let (base, cell) = (contrast.baseline, contrast.candidate);
        let Some(other) = sibling(self.data, cell, of).filter(|other| *other != base) else {
            return Claimed::default();
        };
        let gap = self.difference(metric, base, other, false, claimed);
        if !gap.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0) {
            let note = Some(Remark::NoGap { of: of.to_owned() });
            return Claimed { note, cells: gap.cells, ..Claimed::default() };
        }
        let figure = |figures: &[f64]| (figures[2] - figures[1]) / (figures[2] - figures[0]);
        let seed = self.data.run.experiment.plan.seed;
        let found = joint(self.counted, metric, &[base, cell, other], seed, self.confidence, &figure);
        let own = self.difference(metric, base, cell, false, claimed);
        // It is not known better than the two differences that it is made of.
        let known = [gap.degrees_of_freedom, own.degrees_of_freedom].into_iter().flatten();
        let spread = found.spread.map(|spread| known.fold(spread, Bootstrap::limited_to));
        let interval = spread.map(|spread| bounds(&spread, self.confidence)).or(found.interval);
        let degrees_of_freedom = spread.map(|spread| spread.degrees_of_freedom);
        let note = found.note.or(gap.note).or(own.note);
        let p_within = spread.filter(|_| note.is_none()).map(|spread| p_within(&spread, claimed));
        let cells = gap.cells.into_iter().chain([cell]).collect();
        Claimed { found: found.found, interval, degrees_of_freedom, p_within, note, cells }
    }
}

/// The p-value of "the figure lies within what is claimed".
fn p_within(spread: &Bootstrap, [least, most]: [f64; 2]) -> f64 {
    match spread.estimate {
        estimate if estimate < least => spread.p_value_of(least),
        estimate if estimate > most => spread.p_value_of(most),
        _ => 1.0,
    }
}

/// The cell of another platform with the same service and load.
fn sibling(data: &RunData, cell: CellId, platform: &str) -> Option<CellId> {
    let plan = &data.run.plan;
    plan.cell_ids().find(|other| {
        let site = plan.site_of(*other);
        plan.load_of(*other) == plan.load_of(cell)
            && !site.twin
            && site.service == plan.site_of(cell).service
            && data.run.experiment.platform(site.platform).name == platform
    })
}
