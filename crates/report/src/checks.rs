//! What a run was to pass: its conditions, and its claims that must hold, each with what came of it.

use loadline_model::result::{
    ClaimJudgement, ClaimResult, ConditionFinding, ConditionJudgement, ConditionResult, Row, RunResult,
    Verdict,
};

use crate::claims::{self, ClaimLine};
use crate::figures;
use crate::groups;
use crate::verdict::{Tone, word};
use crate::words::said;

/// More comparisons than this are counted, rather than told one by one.
const MOST_TOLD: usize = 3;

/// Something that a run was to pass.
pub(crate) struct Check {
    pub subject: Subject,
    pub outcome: Outcome,
    /// `p99 slower by > 5%`, or a claim in its author's words.
    pub text: String,
    /// What was found, a sentence each: `response p99, pod: at least 6.1 % slower (+8.0 % [+6.1, +9.9] %)`.
    pub found: Vec<String>,
}

impl Check {
    /// What it is about, as a report says it.
    pub fn about(&self) -> String {
        match self.subject {
            Subject::Condition => self.text.clone(),
            Subject::Claim => format!("the claim “{}”", self.text),
        }
    }

    /// What a report says below it: not what it says elsewhere, of claims with the claims, of trust at its beginning.
    pub fn details(&self) -> &[String] {
        let is_elsewhere = self.subject == Subject::Claim || self.outcome == Outcome::NotTrusted;
        if is_elsewhere { &[] } else { &self.found }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Condition,
    /// A claim that must hold.
    Claim,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fails,
    Passes,
    /// It does not fail, but what would make it fail is not ruled out.
    Open,
    /// What it is about says nothing here.
    NotComparable,
    /// What it is about was not measured.
    NotMeasured,
    /// What it is about cannot be trusted.
    NotTrusted,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Fails => "fails",
            Outcome::Passes => "passes",
            Outcome::Open => "passes, unproven",
            Outcome::NotComparable | Outcome::NotMeasured => "not judged",
            Outcome::NotTrusted => "not judged (untrusted)",
        }
    }

    pub fn tone(self) -> Tone {
        match self {
            Outcome::Fails => Tone::Bad,
            Outcome::Passes => Tone::Good,
            Outcome::Open | Outcome::NotComparable | Outcome::NotMeasured | Outcome::NotTrusted => {
                Tone::Unsure
            }
        }
    }
}

/// The conditions, then the claims that must hold.
pub(crate) fn checks(result: &RunResult) -> Vec<Check> {
    let conditions = result.conditions.iter().map(|condition| of_condition(result, condition));
    let claims = result.claims.iter().zip(claims::lines(result)).filter(|(claim, _)| claim.must);
    conditions.chain(claims.map(|(claim, line)| of_claim(claim, line))).collect()
}

fn of_claim(claim: &ClaimResult, line: ClaimLine) -> Check {
    let outcome = match claim.judgement {
        _ if !claim.trusted => Outcome::NotTrusted,
        ClaimJudgement::Refuted => Outcome::Fails,
        ClaimJudgement::Confirmed => Outcome::Passes,
        ClaimJudgement::OutOfReach => Outcome::Open,
        ClaimJudgement::NotComparable => Outcome::NotComparable,
    };
    let found = match claim.trusted {
        true => line.findings.iter().map(|finding| format!("{}: {finding}", line.word)).collect(),
        false => vec![UNTRUSTED.to_owned()],
    };
    Check { subject: Subject::Claim, outcome, text: line.text, found }
}

const UNTRUSTED: &str = "the figures cannot be trusted";

fn of_condition(result: &RunResult, condition: &ConditionResult) -> Check {
    let (outcome, found) = match condition.judgement {
        ConditionJudgement::Holds => (Outcome::Fails, held(result, condition)),
        ConditionJudgement::RuledOut => (Outcome::Passes, not_held(result, condition)),
        ConditionJudgement::Open => (Outcome::Open, not_held(result, condition)),
        ConditionJudgement::NotTrusted => (Outcome::NotTrusted, vec![untrusted(condition)]),
        ConditionJudgement::NotMeasured => {
            let why = match condition.findings.is_empty() {
                true => "nothing was compared".to_owned(),
                false => format!("{} was not measured", condition.label),
            };
            (Outcome::NotMeasured, vec![why])
        }
    };
    Check { subject: Subject::Condition, outcome, text: condition.text.clone(), found }
}

/// How many comparisons ended so.
fn count_of(condition: &ConditionResult, judgement: ConditionJudgement) -> usize {
    condition.findings.iter().filter(|finding| finding.judgement == judgement).count()
}

/// How many comparisons cannot be judged, if others can.
fn untrusted(condition: &ConditionResult) -> String {
    let (all, untrusted) = (condition.findings.len(), count_of(condition, ConditionJudgement::NotTrusted));
    match untrusted == all {
        true => UNTRUSTED.to_owned(),
        false => {
            format!("{untrusted} of {all} comparisons cannot be trusted; it holds in none of the others")
        }
    }
}

/// Each comparison in which it holds.
fn held(result: &RunResult, condition: &ConditionResult) -> Vec<String> {
    let holds = |finding: &&ConditionFinding| finding.judgement == ConditionJudgement::Holds;
    let told: Vec<String> =
        condition.findings.iter().filter(holds).filter_map(|f| sentence(result, condition, f)).collect();
    let untrusted = count_of(condition, ConditionJudgement::NotTrusted);
    let others = condition.findings.len() - told.len() - untrusted;
    let rest = (others > 0).then(|| format!("not in {others} other comparison{}", plural(others)));
    let untrusted = (untrusted > 0).then(|| format!("{untrusted} cannot be trusted"));
    told.into_iter().chain(rest).chain(untrusted).collect()
}

/// Each comparison, or of many how they ended and which comes closest.
fn not_held(result: &RunResult, condition: &ConditionResult) -> Vec<String> {
    let findings = &condition.findings;
    if findings.len() <= MOST_TOLD {
        return findings.iter().filter_map(|finding| sentence(result, condition, finding)).collect();
    }
    let ruled_out = count_of(condition, ConditionJudgement::RuledOut);
    let counted = format!("ruled out in {ruled_out} of {} comparisons", findings.len());
    let reach = |finding: &ConditionFinding| ends(condition, finding).map(|[least, _]| least);
    let reaching = findings.iter().filter_map(|finding| Some((finding, reach(finding)?)));
    let closest = reaching.max_by(|one, other| one.1.total_cmp(&other.1));
    let closest = closest.and_then(|(finding, _)| sentence(result, condition, finding));
    let closest = closest.map(|sentence| format!("closest: {sentence}"));
    vec![counted, closest.unwrap_or_else(|| "none of them has an interval".to_owned())]
}

/// `response p99, pod: at least 6.1 % slower (+8.0 % [+6.1, +9.9] %)`
fn sentence(result: &RunResult, condition: &ConditionResult, finding: &ConditionFinding) -> Option<String> {
    let contrast = result.judged().get(finding.contrast)?;
    let (candidate, baseline) = (result.cell(contrast.candidate)?, result.cell(contrast.baseline)?);
    let about = format!("{}, {}", condition.label, groups::contrast_name(result, candidate, baseline));
    let Some(row) = groups::row_of(contrast, &condition.metric) else {
        return Some(format!("{about}: not measured"));
    };
    let shown = Shown::of(condition, finding, row)?;
    let proved = match (finding.judgement, ends(condition, finding)) {
        (ConditionJudgement::Holds, Some([least, _])) => {
            format!("at least {} {}", shown.size(least), word(condition.verdict))
        }
        (ConditionJudgement::RuledOut, Some([_, most])) if most > 0.0 => {
            format!("at most {} {}", shown.size(most), word(condition.verdict))
        }
        (ConditionJudgement::Holds, None) => word(condition.verdict).to_owned(),
        (ConditionJudgement::RuledOut, _) => format!("not {}", word(condition.verdict)),
        _ => "neither shown nor ruled out".to_owned(),
    };
    let note = row.note.as_ref().map(said).filter(|_| finding.judgement == ConditionJudgement::Open);
    let note = note.map(|note| format!("; {}", note.trim_end_matches('.'))).unwrap_or_default();
    Some(format!("{about}: {proved} ({}){note}", shown.figures()))
}

/// The interval's end that is nearer to what would make the condition hold last, and the farther one: positive in its direction.
fn ends(condition: &ConditionResult, finding: &ConditionFinding) -> Option<[f64; 2]> {
    let [low, high] = finding.interval?;
    Some(if is_of_less(condition) { [-high, -low] } else { [low, high] })
}

/// Whether a condition is about a figure that is lower.
pub(crate) fn is_of_less(condition: &ConditionResult) -> bool {
    matches!(condition.verdict, Verdict::Faster | Verdict::Cheaper | Verdict::Fewer)
}

/// The figures of a finding: shares where the condition's amount is one and there is a baseline, else in the unit of the row.
struct Shown {
    /// `None` of shares.
    scale: Option<figures::Scale>,
    difference: f64,
    interval: Option<[f64; 2]>,
}

impl Shown {
    fn of(condition: &ConditionResult, finding: &ConditionFinding, row: &Row) -> Option<Shown> {
        Some(match finding.found.filter(|_| condition.is_share) {
            Some(share) => Shown { scale: None, difference: share, interval: finding.interval },
            None => Shown {
                scale: Some(groups::scale_of([row])?),
                difference: row.difference,
                interval: row.interval,
            },
        })
    }

    /// `6.1 %`, `4.1 µs`
    fn size(&self, value: f64) -> String {
        match &self.scale {
            None => figures::unsigned_percent(value),
            Some(scale) => scale.difference(value.abs()).trim_start_matches('+').to_owned(),
        }
    }

    /// `+8.0 % [+6.1, +9.9] %`
    fn figures(&self) -> String {
        match (&self.scale, self.interval) {
            (None, Some(ends)) => {
                format!("{} {}", figures::percent(self.difference), figures::percent_range(ends))
            }
            (None, None) => figures::percent(self.difference),
            (Some(scale), Some(ends)) => {
                format!("{} {}", scale.difference(self.difference), scale.bare_interval(ends))
            }
            (Some(scale), None) => scale.difference(self.difference),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
