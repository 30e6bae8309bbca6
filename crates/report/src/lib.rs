//! A result as terminal text, HTML, Markdown, CSV, JSON and JUnit XML, the result of a single load ([`load`]), and what was found out about a machine
//! ([`doctor`]). Rendering computes nothing: it chooses, formats and words what the result model holds, so that every output of a run says
//! the same.

mod annotations;
mod answer;
mod bar;
mod capacity;
mod checks;
mod claims;
mod csv_text;
mod decide;
mod distrust;
pub mod doctor;
mod failed_requests;
mod figures;
mod groups;
mod history;
mod html;
mod interval_log;
mod json;
mod junit;
mod ladder;
mod list;
pub mod load;
mod markdown;
mod overview;
mod own_figures;
mod preview;
mod runtimes;
mod scalability;
mod seen;
mod shown;
mod slices_csv;
mod so_far;
mod spectrum;
mod spread;
mod starts;
mod summary_csv;
mod sweeps;
mod tails;
mod terminal;
mod text;
mod throttling;
mod time_spent;
mod tried;
mod verdict;
mod wording;
mod words;

pub use annotations::annotations;
pub use decide::{decision, decision_json};
pub use history::{history, history_csv, history_json, history_schema};
pub use html::{CellProfile, Evidence, Link, html};
pub use interval_log::hlog;
pub use json::{json, result_schema};
pub use junit::junit;
pub use list::{Summary, list, matches, summary};
pub use markdown::markdown;
pub use preview::{preview, too_short};
pub use slices_csv::csv_slices;
pub use so_far::so_far;
pub use summary_csv::csv_summary;
pub use terminal::{Style, terminal};
pub use tried::tried;
pub use words::{Words, logged, remedy};

/// Why an output could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The destination did not take what was written: disk full, pipe closed.
    #[error("the output could not be written: {0}")]
    Write(#[from] std::io::Error),
    /// A row could not be written as CSV.
    #[error("the CSV could not be written: {0}")]
    Csv(#[from] csv::Error),
    /// The result could not be written as JSON.
    #[error("the JSON could not be written: {0}")]
    Json(#[from] serde_json::Error),
}
