//! The top of a page: what cannot be trusted, the question and its answer, what was run, and what the figures are worth.

use loadline_model::result::RunResult;
use maud::{Markup, html};

use super::{answers, judged, shown, worth};
use crate::checks::{Check, Subject, checks};
use crate::distrust;
use crate::failed_requests;
use crate::throttling;
use crate::wording;

pub(super) fn heading(result: &RunResult) -> Markup {
    let first = wording::missing(result).into_iter().chain(wording::reservations(result));
    let alerts: Vec<String> =
        first.chain(distrust::sentences(result)).chain(wording::state(result)).collect();
    let known = failed_requests::sentence(result).into_iter().chain(throttling::sentence(result));
    let cautions: Vec<String> = known.chain(wording::twins_differ(result)).collect();
    html! {
        header {
            @for alert in &alerts {
                p.alert { span aria-hidden="true" { "✗ " } (shown(alert)) }
            }
            @for failure in &result.run.failures { pre { (shown(failure)) } }
            (answers::answered(result))
            p.subject #plan tabindex="-1" { (shown(&wording::title(result).join(" · "))) }
            @for caution in &cautions {
                p.caution { span aria-hidden="true" { "! " } (shown(caution)) }
            }
            (passed(&checks(result)))
            (worth::worth(result))
        }
    }
}

/// What the run was to pass.
fn passed(checks: &[Check]) -> Markup {
    html! {
        @if !checks.is_empty() {
            ul.checks {
                @for check in checks {
                    li {
                        (judged(check.outcome.tone(), check.outcome.word()))
                        ": "
                        @match check.subject {
                            Subject::Condition => code { (shown(&check.about())) },
                            Subject::Claim => { (shown(&check.about())) },
                        }
                        @if !check.details().is_empty() {
                            ul { @for detail in check.details() { li { (shown(detail)) } } }
                        }
                    }
                }
            }
        }
    }
}
