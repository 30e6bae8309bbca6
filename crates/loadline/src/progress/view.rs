//! What a terminal shows of a run: a line with its progress, and below it what is known so far. It is gone when the run ends, however it ends:
//! nothing of the terminal is changed but these lines.

use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use loadline_analysis::Watch;
use loadline_model::experiment::Experiment;
use loadline_model::plan::Plan;
use loadline_model::printable;
use loadline_model::rows::SliceRow;

/// What is known is shown so often at most.
const BETWEEN: Duration = Duration::from_millis(500);
/// Lines of a terminal that are not the cells': the command, the progress, the heading, how many more there are, the machine, the cursor.
const OTHER_LINES: usize = 7;

/// The lines.
pub struct View<'a> {
    all: MultiProgress,
    progress: ProgressBar,
    below: Vec<ProgressBar>,
    watch: Watch<'a>,
    total_blocks: u64,
    shown: Option<Instant>,
}

impl<'a> View<'a> {
    /// Shows that nothing was measured yet.
    pub fn new(experiment: &'a Experiment, plan: &'a Plan, total_blocks: u64) -> View<'a> {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let progress = all.add(ProgressBar::new(total_blocks));
        progress.set_style(style("  measuring {bar:25} {pos}/{len} blocks · {msg}").progress_chars("━╸ "));
        progress.enable_steady_tick(Duration::from_millis(500));
        let watch = Watch::new(experiment, plan);
        View { all, progress, below: Vec::new(), watch, total_blocks, shown: None }
    }

    /// Takes in a slice.
    pub fn measured(&mut self, slice: &SliceRow) {
        self.watch.add(slice);
    }

    /// Shows how far it is and, now and then, what is known.
    pub fn block_done(&mut self, blocks_done: u64) {
        self.progress.set_length(self.total_blocks.max(blocks_done));
        self.progress.set_position(blocks_done);
        if self.shown.is_none_or(|shown| shown.elapsed() >= BETWEEN) {
            self.shown = Some(Instant::now());
            self.show_what_is_known();
        }
    }

    /// Says what is done now, behind the progress.
    pub fn say(&self, text: &str) {
        self.progress.set_message(printable(text).into_owned());
    }

    /// Prints a line that stays, above all others.
    pub fn line_above(&self, text: &str) {
        self.progress.println(printable(text));
    }

    /// Wipes the lines.
    pub fn finish(&self) {
        self.below.iter().for_each(ProgressBar::finish_and_clear);
        self.progress.finish_and_clear();
    }

    fn show_what_is_known(&mut self) {
        let size = rustix::termios::tcgetwinsize(std::io::stderr());
        let (rows, columns) =
            size.map_or((24, 80), |size| (usize::from(size.ws_row), usize::from(size.ws_col)));
        let most_cells = rows.saturating_sub(OTHER_LINES).max(1);
        let lines = loadline_report::so_far(&self.watch.so_far(), columns.saturating_sub(1), most_cells);
        while self.below.len() < lines.len() {
            let line = self.all.add(ProgressBar::new(0));
            line.set_style(style("{wide_msg}"));
            self.below.push(line);
        }
        let texts = lines.iter().map(String::as_str).chain(std::iter::repeat(""));
        for (line, text) in self.below.iter().zip(texts) {
            line.set_message(printable(text).into_owned());
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    // A wrong template shows in the first run; the default style is a fair substitute.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
