//! The result of `loadline load`: a table, Markdown, JSON, the layouts of wrk and HdrHistogram, and what is written second by second.

mod hgrm;
mod json;
mod markdown;
mod progress;
mod rows;
mod seconds_csv;
mod table;
mod wrk;

pub use crate::interval_log::IntervalLog;
pub use hgrm::hgrm;
pub use json::{json, schema};
pub use markdown::markdown;
pub use progress::progress;
pub use rows::{distrust, head};
pub use seconds_csv::SecondsCsv;
pub use table::table;
pub use wrk::{WrkOptions, wrk, wrk_head};
