//! The forms that a run can be had in, each a file.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use loadline_model::result::RunResult;
use loadline_report::Evidence;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::failure::Failure;

/// The forms that a run can be had in.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// The whole result.
    Json,
    /// A row for each slice.
    Csv,
    /// A row for each deployment and cell.
    CsvSummary,
    /// The report as Markdown.
    Markdown,
    /// The report as one HTML file.
    Html,
    /// The response times of each slice that counts, as HdrHistogram logs them.
    Hlog,
    /// Conditions and claims as test cases.
    Junit,
    /// The experiment file that asks for it again.
    Experiment,
    /// A store with this run alone.
    Store,
}

impl Format {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Csv | Format::CsvSummary => "text/csv; charset=utf-8",
            Format::Markdown => "text/markdown; charset=utf-8",
            Format::Html => "text/html; charset=utf-8",
            Format::Hlog => "text/plain; charset=utf-8",
            Format::Junit => "application/xml",
            Format::Experiment => "application/yaml",
            Format::Store => "application/vnd.sqlite3",
        }
    }

    /// What a browser keeps it as: of `run-1`, `run-1-slices.csv`.
    fn file_name(self, of: &str) -> String {
        let end = match self {
            Format::Json => ".json",
            Format::Csv => "-slices.csv",
            Format::CsvSummary => "-summary.csv",
            Format::Markdown => ".md",
            Format::Html => ".html",
            Format::Hlog => ".hlog",
            Format::Junit => "-junit.xml",
            Format::Experiment => ".yaml",
            Format::Store => ".db",
        };
        format!("{of}{end}")
    }

    /// A result in this form, as the command line writes it.
    pub(crate) fn of(
        self,
        result: &RunResult,
        evidence: impl FnOnce() -> Evidence,
    ) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        match self {
            Format::Json => loadline_report::json(result, &mut out)?,
            Format::Csv => loadline_report::csv_slices(result, &mut out)?,
            Format::CsvSummary => loadline_report::csv_summary(result, &mut out)?,
            Format::Markdown => out = loadline_report::markdown(result).into_bytes(),
            Format::Html => loadline_report::html(result, &evidence(), &[], &mut out)?,
            Format::Hlog => loadline_report::hlog(result, &evidence(), &mut out)?,
            Format::Junit => loadline_report::junit(result, &mut out)?,
            Format::Experiment | Format::Store => {
                let why = "a comparison has no experiment file and no store: its runs have";
                return Err(Failure::unprocessable(why));
            }
        }
        Ok(out)
    }
}

/// What is asked for.
#[derive(Deserialize, IntoParams)]
pub(crate) struct Export {
    /// In which form.
    #[param(inline)]
    pub format: Format,
}

/// A file that a browser keeps by this name.
pub(crate) fn file(format: Format, name: &str, bytes: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{}\"", format.file_name(name));
    ([(CONTENT_TYPE, format.content_type().to_owned()), (CONTENT_DISPOSITION, disposition)], bytes)
        .into_response()
}
