//! The line that shows a load under way, on a terminal alone and gone when it ends.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use loadline_model::Second;

use crate::console::is_watched;

/// The line.
pub struct Live {
    bar: Option<ProgressBar>,
    whole: Duration,
    errors: u64,
}

impl Live {
    /// The line of a load of length `whole`; none when nobody would see it.
    pub fn new(whole: Duration) -> Live {
        let bar = is_watched().then(|| {
            let bar = ProgressBar::with_draw_target(Some(whole.as_secs()), ProgressDrawTarget::stderr());
            bar.set_style(
                // A wrong template shows in the first run; the default style is a fair substitute.
                ProgressStyle::with_template("  {bar:20} {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("━╸ "),
            );
            bar.set_message(format!("{} s left", whole.as_secs()));
            bar
        });
        Live { bar, whole, errors: 0 }
    }

    /// Shows a second that is over.
    pub fn show(&mut self, second: &Second<'_>) {
        self.errors += second.record.errors.total();
        let Some(bar) = &self.bar else { return };
        bar.set_position((second.began + second.length).as_secs());
        bar.set_message(loadline_report::load::progress(second, self.whole, self.errors));
    }

    /// Wipes the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
