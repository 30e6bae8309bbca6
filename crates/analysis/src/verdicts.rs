//! From the evidence of rows to their verdicts: equivalence by two one-sided tests against the margin, differences after Holm's correction.

use loadline_model::metrics::HigherIs;
use loadline_stats::{Bootstrap, Judgement, Levels, holm, judge as judgement};

use crate::metrics;
use crate::result::{Contrast, Remark, Row, Statement, Verdict};
use crate::scale::Scale;

/// A contrast and what its rows' verdicts are made of, row by row.
pub struct Draft {
    /// Without verdicts.
    pub contrast: Contrast,
    /// One per row.
    pub evidence: Vec<Evidence>,
}

/// What the verdict of a row is made of.
pub struct Evidence {
    /// Of the difference on its scale; `None` where nothing may be claimed.
    pub spread: Option<Bootstrap>,
    /// Blocks in all deployments.
    pub blocks: usize,
    /// The scale of the difference.
    pub scale: Scale,
    /// The words of the verdict.
    pub higher_is: HigherIs,
}

/// Judges the rows of a family, which Holm's correction covers together: those for which `is_member` says so.
pub fn judge(drafts: &mut [Draft], confidence: f64, is_member: impl Fn(&Row) -> bool) {
    let levels = Levels::at(confidence);
    let rows = drafts.iter_mut().flat_map(|draft| draft.contrast.rows.iter_mut().zip(&draft.evidence));
    let mut family: Vec<(&mut Row, &Evidence, Bootstrap)> = rows
        .filter(|(row, _)| is_member(row))
        .filter_map(|(row, evidence)| Some((row, evidence, evidence.spread?)))
        .collect();
    let plain: Vec<f64> = family.iter().map(|(_, _, spread)| spread.p_value()).collect();
    // The first of Holm's steps, so what every difference of this size passes.
    let strictest = levels.difference / family.len().max(1) as f64;
    for ((row, evidence, spread), corrected) in family.iter_mut().zip(holm(&plain)) {
        let scale = evidence.scale;
        let equivalent = spread.equivalence_p(scale.margin(row.margin, row.baseline));
        let one_sided = interval(spread, 1.0 - 2.0 * levels.equivalence, scale, row.baseline);
        row.p_holm = Some(corrected);
        row.p_equivalent = Some(equivalent);
        row.bound = Some(one_sided[0].abs().max(one_sided[1].abs()));
        row.resolution = Some(scale.difference(spread.resolution(strictest), row.baseline).abs());
        row.verdict = match judgement(row.difference, corrected, equivalent, levels, evidence.blocks) {
            Judgement::Equivalent => Verdict::Equivalent,
            Judgement::Unresolved => Verdict::Unresolved,
            Judgement::Higher => metrics::verdict(evidence.higher_is, true),
            Judgement::Lower => metrics::verdict(evidence.higher_is, false),
        };
        let excludes_zero = row.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        if row.verdict == Verdict::Unresolved && excludes_zero {
            row.note = Some(Statement::of(Remark::NotSignificant));
        }
    }
}

/// An interval in the unit of the row.
pub fn interval(spread: &Bootstrap, confidence: f64, scale: Scale, baseline: f64) -> [f64; 2] {
    bounds(spread, confidence).map(|end| scale.difference(end, baseline))
}

/// The ends of an interval, on its scale.
pub(crate) fn bounds(spread: &Bootstrap, confidence: f64) -> [f64; 2] {
    let interval = spread.interval(confidence);
    [interval.low, interval.high]
}
