//! Progress of a run: one living line with the time left on a terminal, plain lines elsewhere. Both go to stderr.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use loadline_analysis::StillOpen;
use loadline_model::experiment::Experiment;
use loadline_model::{CellId, Event, printable};
use loadline_report::Words;

use crate::console;

/// Where nobody watches, a log: this far apart at least.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows the events of one run.
pub struct Progress {
    bar: Option<ProgressBar>,
    total_blocks: u64,
    deployments: u32,
    open_ended: bool,
    blocks_done: u64,
    repeated: usize,
    begun: Instant,
    /// When a plain line last said how far it is.
    told: Option<Instant>,
    /// Cells warm in this round, and the longest warm-up.
    warm: BTreeMap<CellId, (Duration, bool)>,
}

impl Progress {
    pub fn new(experiment: &Experiment) -> Progress {
        let plan = &experiment.plan;
        let total_blocks = u64::from(plan.blocks) * u64::from(plan.deployments);
        let bar = console::is_watched().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total_blocks), ProgressDrawTarget::stderr());
            let template = "  measuring {bar:25} {pos}/{len} blocks · {msg}";
            bar.set_style(
                // A wrong template shows in the first run; the default style is a fair substitute.
                ProgressStyle::with_template(template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("━╸ "),
            );
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Progress {
            bar,
            total_blocks,
            deployments: plan.deployments,
            open_ended: plan.until.is_some(),
            blocks_done: 0,
            repeated: 0,
            begun: Instant::now(),
            told: None,
            warm: BTreeMap::new(),
        }
    }

    pub fn show(&mut self, event: Event) {
        match event {
            Event::Deploying { round, site } => {
                self.warm.clear();
                self.message(&format!("deployment {}/{}: {site}", round + 1, self.deployments));
            }
            Event::Progress { site, text } => match &self.bar {
                Some(_) => self.message(&format!("{site}: {text}")),
                None => console::progress(format_args!("  {site}: {text}")),
            },
            Event::Ready { .. } | Event::Measured(_) => {}
            Event::Warm { cell, after, stationary } => {
                self.warm.insert(cell, (after, stationary));
                if !stationary {
                    self.line(&format!(
                        "  a cell was not stationary after {:.0} s of warm-up",
                        after.as_secs_f64()
                    ));
                }
            }
            Event::BlockDone { round, .. } => {
                self.blocks_done += 1;
                if let Some(bar) = &self.bar {
                    bar.set_length(self.total_blocks.max(self.blocks_done));
                    bar.set_position(self.blocks_done);
                }
                let left = self.time_left(round).map(|left| format!(" · {left}")).unwrap_or_default();
                self.message(&format!(
                    "deployment {}/{} · {} repeated{left}",
                    round + 1,
                    self.deployments,
                    self.repeated
                ));
                let is_time = self.told.is_none_or(|told| told.elapsed() >= BETWEEN_LINES);
                if self.bar.is_none() && (is_time || self.blocks_done == self.total_blocks) {
                    self.told = Some(Instant::now());
                    console::progress(format_args!(
                        "  block {}/{} · {} repeated{left}",
                        self.blocks_done, self.total_blocks, self.repeated
                    ));
                }
            }
            Event::Repeating { cells } => self.repeated += cells.len(),
            Event::Waiting { pause } => {
                self.line(&format!("  the machine is too busy to measure on: waiting {} s", pause.as_secs()))
            }
            Event::GivenUp { failure } => self.line(&format!("  continuing without a service: {failure}")),
            // On a terminal the report that follows says it; in a log it belongs to where it happened.
            Event::Note(note) if self.bar.is_none() => {
                console::progress(format_args!("  note: {}", note.words()))
            }
            Event::Note(_) => {}
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
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// `None` during the first of several deployments, of whose time most is still that of its start.
    fn time_left(&self, round: u32) -> Option<String> {
        if self.open_ended && self.blocks_done >= self.total_blocks {
            return Some("until the interval is narrow enough".to_owned());
        }
        if round == 0 && self.deployments > 1 {
            return None;
        }
        let each = self.begun.elapsed().as_secs_f64() / self.blocks_done.max(1) as f64;
        let seconds = each * self.total_blocks.saturating_sub(self.blocks_done) as f64;
        Some(match seconds as u64 {
            seconds @ 0..60 => format!("{seconds} s left"),
            seconds => format!("{} min {} s left", seconds / 60, seconds % 60),
        })
    }

    fn message(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(printable(text).into_owned());
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(printable(text)),
            None => console::progress(text),
        }
    }
}
