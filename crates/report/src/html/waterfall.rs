//! The layers of a path drawn one behind the other: each begins where the one below it ended, and the residual closes the sum.

use loadline_model::result::{Ladder, LadderSum, RunResult};
use maud::{Markup, html};

use super::axis::Axis;
use super::difference::{grid, scale};
use super::shown;
use super::tables::figure;
use crate::figures;
use crate::ladder::{self, Step, StepKind};
use crate::verdict::Tone;

/// Pixels of a row, and of a bar in it.
const HEIGHT: u32 = 26;
const BAR: u32 = 14;
/// The metrics that are drawn.
const DRAWN: [&str; 2] = [ladder::MEDIAN, ladder::CPU];

pub(super) fn section(result: &RunResult, ladder: &Ladder, sum: &LadderSum) -> Markup {
    html! {
        @for metric in DRAWN {
            @if let Some(path) = ladder::path(result, ladder, sum, metric) {
                section.drawing {
                    h2 { (shown(&path.title)) }
                    p.caption {
                        "what each layer adds, with its " (figures::interval_name(result))
                        @if !path.scale.unit().is_empty() { ", " (path.scale.unit()) }
                    }
                    (drawing(&path.steps, path.scale.unit(), &|value| path.scale.bare_difference(value)))
                }
            }
        }
    }
}

fn drawing(steps: &[Step], unit: &str, words: &dyn Fn(f64) -> String) -> Markup {
    let ends = |step: &Step| [step.from, step.to].into_iter().chain(step.interval.into_iter().flatten());
    let axis = Axis::of(steps.iter().flat_map(ends));
    html! {
        table.drawn.layers {
            thead.hidden { tr { th scope="col" { "layer" } td {} th scope="col" { "cost " (unit) } } }
            tbody {
                @for step in steps {
                    tr.(kind(step.kind)) {
                        th scope="row" { (shown(&step.name)) }
                        td.strip { (bar(&axis, step)) }
                        td.number { (figure(&step.cost)) }
                    }
                }
            }
            tfoot aria-hidden="true" { tr { td {} td.strip { (scale(&axis, words)) } td {} } }
        }
    }
}

fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Layer => "layer",
        StepKind::Sum => "sum",
        StepKind::Whole => "whole",
        StepKind::Residual => "residual",
    }
}

fn bar(axis: &Axis, step: &Step) -> Markup {
    let (low, high) = (step.from.min(step.to), step.from.max(step.to));
    let (middle, top) = (HEIGHT / 2, (HEIGHT - BAR) / 2);
    let shade = match step.kind {
        StepKind::Layer => {
            if step.cost.tone == Tone::Bad {
                "bad"
            } else {
                "small"
            }
        }
        StepKind::Sum => "whole",
        StepKind::Whole | StepKind::Residual => "small",
    };
    html! {
        svg width="100%" height=(HEIGHT) aria-hidden="true" {
            (grid(axis, HEIGHT))
            rect.bar.(shade) x=(axis.place(low)) y=(top) width=(axis.distance(low, high)) height=(BAR) {}
            @if let Some([low, high]) = step.interval {
                line.arm x1=(axis.place(low)) x2=(axis.place(high)) y1=(middle) y2=(middle) {}
                @for end in [low, high] {
                    line.arm x1=(axis.place(end)) x2=(axis.place(end)) y1=(middle - 4) y2=(middle + 4) {}
                }
            }
        }
    }
}
