//! Claims in words: what somebody said, what this run says of it, and our figures beside it.

use std::fmt;

use loadline_model::experiment::TimeUnit;
use loadline_model::result::{Cell, ClaimJudgement, ClaimResult, Contrast, Finding, RunResult, Unit};

use crate::figures::{self, Scale};
use crate::groups;
use crate::shown::{RestsOn, Shown};
use crate::verdict::{Tone, bracketed};
use crate::words::said;

/// A claim as a report shows it.
pub(crate) struct ClaimLine {
    /// In parentheses where it is not to be trusted.
    pub word: String,
    pub tone: Tone,
    pub text: String,
    pub findings: Vec<FindingLine>,
}

/// `response mean, nodePort: +0.05 ms [+0.03, +0.07] at 100/min, +0.03 ms [0, +0.05] at 500/min; claimed +3.60 ms to +5.40 ms`
pub(crate) struct FindingLine {
    pub before: String,
    pub figures: Vec<Shown>,
    pub after: String,
}

impl FindingLine {
    /// A line without figures of its own.
    fn plain(before: String) -> FindingLine {
        FindingLine { before, figures: Vec::new(), after: String::new() }
    }
}

impl fmt::Display for FindingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures: Vec<&str> = self.figures.iter().map(|figure| figure.text.as_str()).collect();
        write!(f, "{}{}{}", self.before, figures.join(", "), self.after)
    }
}

/// All claims of the run.
pub(crate) fn lines(result: &RunResult) -> Vec<ClaimLine> {
    result.claims.iter().map(|claim| line(result, claim)).collect()
}

/// What the words of judgements do not say; nothing where none needs it.
pub(crate) fn legend(result: &RunResult) -> Option<String> {
    let is = |judgement| result.claims.iter().any(|claim| claim.judgement == judgement);
    let sentences = [
        (ClaimJudgement::Refuted, "Refuted: not on this machine with this service."),
        (
            ClaimJudgement::NotComparable,
            "Not comparable: a share, and the baselines are more than a factor of two apart.",
        ),
    ];
    let needed = sentences.into_iter().filter(|(judgement, _)| is(*judgement));
    let sentences: Vec<&str> = needed.map(|(_, sentence)| sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn line(result: &RunResult, claim: &ClaimResult) -> ClaimLine {
    let tone = match claim.judgement {
        _ if !claim.trusted => Tone::Plain,
        ClaimJudgement::Confirmed => Tone::Good,
        ClaimJudgement::Refuted => Tone::Bad,
        ClaimJudgement::OutOfReach | ClaimJudgement::NotComparable => Tone::Unsure,
    };
    let mut findings: Vec<FindingLine> = groups_of(result, &claim.findings)
        .into_iter()
        .map(|(subject, findings)| about(result, claim, &subject, &findings))
        .collect();
    if findings.is_empty() {
        findings.push(FindingLine::plain(format!("{}: not measured", claim.metric)));
    }
    findings.extend(far_baseline(claim).map(FindingLine::plain));
    let word = bracketed(word(claim.judgement), claim.trusted);
    ClaimLine { word, tone, text: claim.text.clone(), findings }
}

fn word(judgement: ClaimJudgement) -> &'static str {
    match judgement {
        ClaimJudgement::Confirmed => "confirmed",
        ClaimJudgement::Refuted => "refuted",
        ClaimJudgement::OutOfReach => "inconclusive",
        ClaimJudgement::NotComparable => "not comparable",
    }
}

/// Findings that differ in their load alone, together, with what they are about.
fn groups_of<'a>(result: &RunResult, findings: &'a [Finding]) -> Vec<(String, Vec<&'a Finding>)> {
    let mut grouped: Vec<(String, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let Some(cell) = result.cell(finding.cell) else { continue };
        let subject = match finding.against.and_then(|baseline| result.cell(baseline)) {
            Some(baseline) => format!("{} against {}", cell.label, baseline.label),
            None => cell.label.clone(),
        };
        match grouped.iter_mut().find(|(other, of)| *other == subject && of[0].claimed == finding.claimed) {
            Some((_, of)) => of.push(finding),
            None => grouped.push((subject, vec![finding])),
        }
    }
    grouped
}

/// Findings that are about the same.
fn about(result: &RunResult, claim: &ClaimResult, subject: &str, findings: &[&Finding]) -> FindingLine {
    let several_loads = groups::loads(result).len() > 1;
    let load = |cell: &Cell| match several_loads {
        true => format!(" at {}", groups::short_load_name(result, cell)),
        false => String::new(),
    };
    let any_trusted = claim.findings.iter().any(|finding| finding.trusted);
    let figures: Vec<Shown> = findings
        .iter()
        .map(|finding| {
            let load = result.cell(finding.cell).map(load).unwrap_or_default();
            // Findings that agree with the claim's judgement need no word of their own.
            let own = match finding.judgement == claim.judgement {
                _ if !finding.trusted && any_trusted => " (not to be trusted)".to_owned(),
                true => String::new(),
                false => format!(" ({})", word(finding.judgement)),
            };
            let text = format!("{}{load}{own}", figure(claim, finding));
            Shown::plain(text).on(finding.found.and_then(|_| rests_on(result, claim, finding)))
        })
        .collect();
    let [least, most] = findings.first().map(|finding| finding.claimed).unwrap_or_default();
    let is_share = findings.first().is_some_and(|finding| finding.is_share);
    let theirs = scale(claim, &[least, most]);
    let claimed = [least, most].map(|end| show(&theirs, is_share, end));
    FindingLine {
        before: format!("{}, {subject}: ", claim.metric),
        figures,
        after: format!("; claimed {} to {}", claimed[0], claimed[1]),
    }
}

/// The row that says what a finding does; in a search, which has no such rows, the trials of its cell.
fn rests_on(result: &RunResult, claim: &ClaimResult, finding: &Finding) -> Option<RestsOn> {
    if is_of_a_closed_gap(result, claim) {
        return None;
    }
    if result.capacities.is_some() {
        return Some(RestsOn::Trials(finding.cell));
    }
    let is_of = |contrast: &&Contrast| {
        contrast.candidate == finding.cell
            && finding.against.is_none_or(|baseline| contrast.baseline == baseline)
    };
    let contrast = result.contrasts.iter().find(is_of)?;
    let row = contrast.rows.iter().find(|row| row.label == claim.metric)?;
    RestsOn::row(result, contrast, row)
}

/// Whether a claim is about the share of another platform's difference that a platform lacks: three cells make that, and a row has two.
fn is_of_a_closed_gap(result: &RunResult, claim: &ClaimResult) -> bool {
    let at = result.claims.iter().position(|other| std::ptr::eq(other, claim));
    at.is_some_and(|at| !result.run.experiment["claims"][at]["says"]["closes"].is_null())
}

/// `+0.05 ms [+0.03, +0.07]`, or why there is none.
fn figure(claim: &ClaimResult, finding: &Finding) -> String {
    let ends = finding.interval.unwrap_or_default();
    let half_width = (ends[1] - ends[0]) / 2.0;
    let own = scale(claim, &[finding.found.unwrap_or(0.0)]);
    let own = if half_width > 0.0 { own.with_digits_for(half_width) } else { own };
    let note = finding.note.as_ref().map(said);
    match (finding.found, finding.interval) {
        (Some(found), Some(ends)) if finding.is_share => {
            format!("{} {}", figures::percent(found), figures::percent_range(ends))
        }
        (Some(found), Some(ends)) => format!("{} {}", show(&own, false, found), own.bare_interval(ends)),
        (Some(found), None) => {
            let why = note.as_deref().unwrap_or("it has no interval");
            format!("{} ({why})", show(&own, finding.is_share, found))
        }
        _ => note.as_deref().unwrap_or("not measured").to_owned(),
    }
}

/// `the baseline is 3.15 ms here; where this was published it was 12.0 ms to 17.0 ms, 3.8 times as large`, where that is why shares are not judged.
fn far_baseline(claim: &ClaimResult) -> Option<String> {
    let [least, most] = claim.published_baseline?;
    let far = claim.findings.iter().filter(|finding| finding.judgement == ClaimJudgement::NotComparable);
    let ours: Vec<f64> = far.filter_map(|finding| finding.baseline).collect();
    let lowest = ours.iter().copied().min_by(f64::total_cmp)?;
    let highest = ours.iter().copied().max_by(f64::total_cmp)?;
    let factor = |times: f64| if times < 9.95 { format!("{times:.1}") } else { format!("{times:.0}") };
    let apart = if highest > most {
        format!("a factor of {} smaller", factor(highest / most))
    } else {
        format!("{} times as large", factor(least / lowest))
    };
    let shown = |low: f64, high: f64| {
        let scale = published_scale(claim, &[low, high]);
        match low == high {
            true => scale.figure(low),
            false => format!("{} to {}", scale.figure(low), scale.figure(high)),
        }
    };
    let (here, there) = (shown(lowest, highest), shown(least, most));
    Some(format!("the baseline is {here} here; where this was published it was {there}, {apart}"))
}

fn show(scale: &Scale, is_share: bool, value: f64) -> String {
    if is_share { figures::percent(value) } else { scale.difference(value) }
}

/// The unit of differences: that of the publication, or what suits these.
fn scale(claim: &ClaimResult, values: &[f64]) -> Scale {
    match claim.published_in {
        Some(unit) => Scale::in_time_unit(unit, values),
        None => Scale::of(Unit::Nanoseconds, values),
    }
}

/// The same for figures of the metric.
fn published_scale(claim: &ClaimResult, values: &[f64]) -> Scale {
    match claim.metric_unit {
        Unit::Nanoseconds => scale(claim, values),
        unit => Scale::of(unit, values),
    }
}

impl Scale {
    /// A unit of time, whatever suits the figures, with three digits of the largest of them in differences.
    fn in_time_unit(unit: TimeUnit, values: &[f64]) -> Scale {
        let (suffix, divisor) = match unit {
            TimeUnit::Ns => (" ns", 1.0),
            TimeUnit::Us => (" µs", 1e3),
            TimeUnit::Ms => (" ms", 1e6),
            TimeUnit::S => (" s", 1e9),
        };
        Scale::in_unit(suffix, divisor, values)
    }
}
