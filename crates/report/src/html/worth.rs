//! What the figures of a page are worth: the resolution, every gate with its figure, and what was measured again.

use loadline_model::result::{GateSummary, RunResult};
use maud::{Markup, html};

use super::shown;
use crate::spread;
use crate::time_spent::time_spent;
use crate::wording;
use crate::words::said;

pub(super) fn worth(result: &RunResult) -> Markup {
    if result.slices.is_empty() {
        return html! {};
    }
    let resolution = wording::resolution(result);
    let repeats = wording::repeats(result);
    let rest: Vec<String> = spread::sentence(result)
        .into_iter()
        .chain(wording::settle(result))
        .chain(time_spent(result))
        .collect();
    html! {
        div.worth {
            @for sentence in &resolution { p { (shown(sentence)) } }
            h2.hidden { "Trust" }
            ul.gates {
                @for gate in &result.trust.gates { (gate_of(gate)) }
                li.slices { (shown(&wording::slices(result))) }
            }
            @for sentence in &repeats {
                p.caution { span aria-hidden="true" { "! " } (shown(sentence)) }
            }
            @for sentence in &rest { p { (shown(sentence)) } }
        }
    }
}

fn gate_of(gate: &GateSummary) -> Markup {
    let (mark, word, class) = if gate.holds { ("✓", "holds", "holds") } else { ("✗", "fails", "fails") };
    html! {
        li.(class) {
            (shown(&said(&gate.figure))) " "
            span aria-hidden="true" { (mark) }
            span.hidden { (word) }
        }
    }
}
