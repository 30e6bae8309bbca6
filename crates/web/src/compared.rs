//! Runs of the store compared with an earlier one.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use loadline_analysis::{NamedRun, analyse, join};
use loadline_model::result::RunResult;
use loadline_report::Evidence;
use loadline_store::Store;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::formats::{Export, Format, file};
use crate::numbers::Numbers;
use crate::pages::NoReport;
use crate::reports::{self, link};
use crate::work::in_background;

/// Runs to compare.
#[derive(Deserialize, IntoParams)]
pub(crate) struct Compared {
    /// The earlier run: the baseline.
    before: i64,
    /// The later run, or several with commas between them.
    #[param(value_type = String, example = "2,3")]
    after: Numbers,
}

impl Compared {
    /// Of all runs, the earlier one first.
    fn numbers(&self) -> Vec<String> {
        [self.before].iter().chain(&self.after.0).map(ToString::to_string).collect()
    }
}

/// Later runs against an earlier one, as `loadline compare BEFORE AFTER --json` writes it.
#[utoipa::path(get, path = "/api/compare", tag = "runs", params(Compared),
    responses((status = 200, body = Object), (status = 404, body = Refusal), (status = 422, body = Refusal)))]
pub(crate) async fn compared(
    State(site): State<Arc<Site>>,
    Query(runs): Query<Compared>,
) -> Result<Response, Failure> {
    let json = in_background(site, move |site| {
        let (result, evidence) = joined(&site.store, &runs)?;
        Format::Json.of(&result, || evidence)
    });
    Ok(([(CONTENT_TYPE, Format::Json.content_type())], json.await?).into_response())
}

/// A comparison as a file.
#[utoipa::path(get, path = "/api/compare/export", tag = "runs", params(Compared, Export),
    responses((status = 200, description = "the file"), (status = 404, body = Refusal), (status = 422, body = Refusal)))]
pub(crate) async fn export_compared(
    State(site): State<Arc<Site>>,
    Query(runs): Query<Compared>,
    Query(Export { format }): Query<Export>,
) -> Result<Response, Failure> {
    let name = format!("runs-{}", runs.numbers().join("-"));
    let bytes = in_background(site, move |site| {
        let (result, evidence) = joined(&site.store, &runs)?;
        format.of(&result, || evidence)
    });
    Ok(file(format, &name, bytes.await?))
}

/// A comparison as a page of this server.
pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Query(runs): Query<Compared>,
) -> Result<Response, NoReport> {
    let page = in_background(site, move |site| {
        let (result, evidence) = joined(&site.store, &runs)?;
        let numbers = runs.numbers();
        let exports = format!("/api/compare/export?before={}&after={}&", numbers[0], numbers[1..].join(","));
        let mut links = vec![link("All runs", "/")];
        links.extend(numbers.iter().map(|run| link(format!("Run {run}"), format!("/runs/{run}"))));
        links.extend(reports::forms(&exports));
        reports::made(&result, &evidence, &links)
    });
    Ok(reports::page(page.await?.into()))
}

fn joined(store: &Path, runs: &Compared) -> Result<(RunResult, Evidence), Failure> {
    let store = Store::open(store)?;
    let read = |run: i64| store.data(Some(run)).map(NamedRun::by_number);
    let later = runs.after.0.iter().map(|run| read(*run)).collect::<Result<_, _>>()?;
    let data = join(read(runs.before)?, later).map_err(|error| Failure::unprocessable(error.to_string()))?;
    let mut result = analyse(&data);
    // No further deployments of a run that is over.
    result.plan.seconds_to_settle = None;
    Ok((result, Evidence::of(data.profiles, data.slices)))
}
