//! Reports as pages of this server: as `loadline report --html` writes them, with links to where they belong and to their other forms.

use axum::body::Bytes;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use loadline_model::result::RunResult;
use loadline_report::{Evidence, Link};

use crate::failure::Failure;
use crate::formats::Format;

pub(crate) fn link(label: impl Into<String>, address: impl Into<String>) -> Link {
    Link { label: label.into(), address: address.into() }
}

/// Links to the forms of a result, whose addresses begin like this.
pub(crate) fn forms(exports: &str) -> impl Iterator<Item = Link> {
    let forms =
        [("JSON", "json"), ("CSV", "csv"), ("hlog", "hlog"), ("Markdown", "markdown"), ("HTML", "html")];
    forms.into_iter().map(move |(label, format)| link(label, format!("{exports}format={format}")))
}

pub(crate) fn made(result: &RunResult, evidence: &Evidence, links: &[Link]) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    loadline_report::html(result, evidence, links, &mut page)?;
    Ok(page)
}

/// A report says itself what may run in it; what it cannot say is that it stands in no frame.
pub(crate) fn page(page: Bytes) -> Response {
    let headers =
        [(CONTENT_TYPE, Format::Html.content_type()), (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")];
    (headers, page).into_response()
}
