//! The foot of a page: where its figures come from, and how to get them again.

use loadline_model::result::RunResult;
use maud::{Markup, html};

use super::shown;
use crate::wording;
use crate::words::said;

pub(super) fn footer(result: &RunResult) -> Markup {
    let run = &result.run;
    // Only a NUL can't be quoted, and no command line holds one.
    let command = shlex::try_join(run.command_line.iter().map(String::as_str)).unwrap_or_default();
    let method = said(&result.plan.interval_method);
    let experiment = serde_json::to_string_pretty(&run.experiment).unwrap_or_default();
    html! {
        footer {
            h2 { "To do it again" }
            div.scroll #command role="group" tabindex="0" aria-label="command" { pre { code { (shown(&command)) } } }
            dl {
                div { dt { "run" } dd { (run.id) " of " (shown(&run.started)) ", loadline " (shown(&run.version)) } }
                div #seed tabindex="-1" { dt { "seed" } dd { (run.seed) } }
                div #machine tabindex="-1" { dt { "machine" } dd { (shown(&wording::machine(&result.machine))) } }
                div { dt { "intervals" } dd { (shown(method.trim_end_matches('.'))) } }
                @if !run.tags.is_empty() { div { dt { "tags" } dd { (shown(&run.tags.join(", "))) } } }
            }
            details {
                summary { "The experiment as it was understood" }
                div.scroll #experiment role="group" tabindex="0" aria-label="experiment" { pre { code { (shown(&experiment)) } } }
            }
        }
    }
}
