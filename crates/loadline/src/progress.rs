//! Progress of a run: on a terminal a line with the time left, and below it what is known so far; plain lines elsewhere. Both go to stderr.

mod view;

use std::time::{Duration, Instant};

use loadline_analysis::{Left, Pace, StillOpen};
use loadline_model::Event;
use loadline_model::experiment::Experiment;
use loadline_model::plan::Plan;
use loadline_report::logged;

use crate::console;
use view::View;

/// Where nobody watches, a log: this far apart at least.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows the events of one run.
pub struct Progress<'a> {
    experiment: &'a Experiment,
    planned: &'a Plan,
    view: Option<View<'a>>,
    pace: Pace,
    deployments: u32,
    blocks_done: u64,
    repeated: usize,
    begun: Instant,
    /// When a plain line last said how far it is.
    told: Option<Instant>,
}

impl<'a> Progress<'a> {
    pub fn new(experiment: &'a Experiment, planned: &'a Plan) -> Progress<'a> {
        let pace = Pace::of(experiment, &planned.sites);
        let view = console::is_watched().then(|| View::new(experiment, planned, pace.blocks()));
        Progress {
            experiment,
            planned,
            view,
            pace,
            deployments: experiment.plan.deployments,
            blocks_done: 0,
            repeated: 0,
            begun: Instant::now(),
            told: None,
        }
    }

    pub fn show(&mut self, event: Event) {
        match event {
            Event::Deploying { round, site } => {
                self.message(&format!("deployment {}/{}: {site}", round + 1, self.deployments))
            }
            Event::Progress { site, text } => match &self.view {
                Some(_) => self.message(&format!("{site}: {text}")),
                None => console::progress(format_args!("  {site}: {text}")),
            },
            Event::Measured(slice) => {
                if let Some(view) = &mut self.view {
                    view.measured(&slice);
                }
            }
            Event::BlockDone { round, .. } => {
                self.blocks_done += 1;
                if let Some(view) = &mut self.view {
                    view.block_done(self.blocks_done);
                }
                let left = self.time_left(round).map(|left| format!(" · {left}")).unwrap_or_default();
                self.message(&format!(
                    "deployment {}/{} · {} repeated{left}",
                    round + 1,
                    self.deployments,
                    self.repeated
                ));
                let is_time = self.told.is_none_or(|told| told.elapsed() >= BETWEEN_LINES);
                if self.view.is_none() && (is_time || self.blocks_done == self.pace.blocks()) {
                    self.told = Some(Instant::now());
                    console::progress(format_args!(
                        "  block {}/{} · {} repeated{left}",
                        self.blocks_done,
                        self.pace.blocks().max(self.blocks_done),
                        self.repeated
                    ));
                }
            }
            Event::Repeating { cells } => self.repeated += cells.len(),
            // On a terminal the report that follows says it; in a log it belongs to where it happened.
            Event::Note(_) if self.view.is_some() => {}
            event => {
                if let Some(text) = logged(&event, self.experiment, self.planned) {
                    self.line(&format!("  {text}"));
                }
            }
        }
    }

    /// Says what a look at a run of no fixed length found, and how long it will take.
    pub fn looked(&mut self, open: &StillOpen, deployments: u32) {
        let reached =
            open.reached.map_or("no interval yet".to_owned(), |reached| format!("±{:.1} %", 100.0 * reached));
        let wanted = format!("±{:.1} % wanted", 100.0 * open.within);
        let left = open.deployments.map_or_else(String::new, |needed| {
            let further = needed.saturating_sub(deployments).max(1);
            let each = self.begun.elapsed().as_secs_f64() / f64::from(deployments);
            format!(
                ": about {further} more deployments, {:.0} min",
                (f64::from(further) * each / 60.0).ceil()
            )
        });
        self.line(&format!("  after {deployments} deployments: {} {reached}, {wanted}{left}", open.label));
    }

    pub fn finish(&self) {
        if let Some(view) = &self.view {
            view.finish();
        }
    }

    fn time_left(&self, round: u32) -> Option<String> {
        match self.pace.left(round, self.blocks_done, self.begun.elapsed()) {
            Left::Unknown => None,
            Left::UntilNarrow => Some("until the intervals are narrow enough".to_owned()),
            Left::About(left) => Some(match left.as_secs() {
                seconds @ 0..60 => format!("{seconds} s left"),
                seconds => format!("{} min {} s left", seconds / 60, seconds % 60),
            }),
        }
    }

    fn message(&self, text: &str) {
        if let Some(view) = &self.view {
            view.say(text);
        }
    }

    fn line(&self, text: &str) {
        match &self.view {
            Some(view) => view.line_above(text),
            None => console::progress(text),
        }
    }
}
