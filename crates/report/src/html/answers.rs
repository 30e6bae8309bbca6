//! The question and its answer, in the first line of a page.

use loadline_model::result::{Contrast, RunResult};
use maud::{Markup, html};

use super::tables::figure;
use super::{class, shown};
use crate::answer::{self, Answer, answer};
use crate::capacity;
use crate::figures;
use crate::groups::{self, HEADLINE};
use crate::ladder;
use crate::overview;
use crate::shown::{RestsOn, Shown};
use crate::verdict::{self, Tone};

pub(super) fn answered(result: &RunResult) -> Markup {
    if let Some(found) = &result.capacities {
        let question = result.run.question.as_deref().unwrap_or(capacity::QUESTION);
        let differences = capacity::differences(result, found);
        return html! {
            h1 { (shown(question)) }
            @if !differences.is_empty() {
                ul.answers {
                    @for difference in &differences {
                        li {
                            (marked(difference.sign, difference.tone))
                            (shown(&difference.line))
                        }
                    }
                }
            }
            @for finding in capacity::findings(result, found) {
                p.caution { span aria-hidden="true" { "! " } (shown(&finding)) }
            }
            p.lead { (shown(&capacity::objectives(found))) }
        };
    }
    if !result.ladders.is_empty() {
        let lines = result.ladders.iter().flat_map(|ladder| ladder::answers(result, ladder));
        return html! {
            h1 { (shown(result.run.question.as_deref().unwrap_or(ladder::QUESTION))) }
            ul.answers { @for line in lines { li { (shown(&line)) } } }
        };
    }
    if overview::is_needed(result) {
        return html! {
            h1 { (shown(&answer::question(result).unwrap_or_else(|| result.run.name.clone()))) }
            @if let Some(summary) = overview::summary(result) { p.lead { (shown(&summary)) } }
        };
    }
    match answer(result) {
        Some(answer) => html! {
            (sentences(&answer))
            @for contrast in &result.contrasts { (facts(result, contrast)) }
        },
        None => html! { h1 { (shown(&result.run.name)) } },
    }
}

fn sentences(answer: &Answer) -> Markup {
    match &answer.lines[..] {
        [line] => html! {
            p.question { (shown(&answer.question)) }
            h1 { b.(class(line.tone)) { (shown(&line.lead)) } (shown(&line.rest)) }
        },
        lines => html! {
            h1 { (shown(&answer.question)) }
            @if let Some(common) = &answer.common { p.caption { (shown(common)) } }
            ul.answers {
                @for line in lines {
                    li {
                        @if let Some(about) = &line.about { span.about { (shown(about)) } " " }
                        b.(class(line.tone)) { (shown(&line.lead)) }
                        (shown(&line.rest))
                    }
                }
            }
        },
    }
}

/// The figures that an answer rests on.
fn facts(result: &RunResult, contrast: &Contrast) -> Markup {
    let found = groups::row_of(contrast, HEADLINE)
        .and_then(|row| Some((row, groups::scale_of([row])?)))
        .and_then(|found| Some((found, result.cell(contrast.baseline)?, result.cell(contrast.candidate)?)));
    let Some(((row, scale), baseline, candidate)) = found else { return html! {} };
    // A twin is pooled into the figure of the baseline, so that this, too, is of the comparison.
    let of_row = |text: String| figure(&Shown::plain(text).on(RestsOn::row(result, contrast, row)));
    html! {
        dl.facts {
            div { dt { (shown(&baseline.label)) } dd { (of_row(scale.figure(row.baseline))) } }
            div { dt { (shown(&candidate.label)) } dd { (of_row(scale.figure(row.candidate))) } }
            div { dt { "difference" } dd { (of_row(scale.difference(row.difference))) } }
            @if let Some(ends) = row.interval {
                div { dt { (figures::interval_name(result)) } dd { (scale.bare_interval(ends)) } }
            }
            @if let Some(resolution) = row.resolution {
                div { dt { "resolution" } dd { (scale.uncertainty(resolution)) } }
            }
            div {
                dt { "verdict" }
                dd { (sign(row.verdict, verdict::tone_of(row))) (verdict::shown_with_bound(row)) }
            }
        }
    }
}

/// A verdict's sign in its colour; the word stands behind it.
pub(super) fn sign(verdict: loadline_model::result::Verdict, tone: Tone) -> Markup {
    marked(verdict::sign(verdict), tone)
}

fn marked(sign: &str, tone: Tone) -> Markup {
    html! { span.sign.(class(tone)) aria-hidden="true" { (sign) " " } }
}
