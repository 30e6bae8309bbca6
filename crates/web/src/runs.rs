//! The runs of the store: listed, shown, compared, named, deleted, copied from and to other stores.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use loadline_analysis::{NamedRun, analyse, join};
use loadline_model::RunState;
use loadline_model::result::RunResult;
use loadline_report::{Evidence, Link, ReportError};
use loadline_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::numbers::Number;
use crate::pages::NoReport;
use crate::work::{blocking, in_background};

/// Of a list, at most.
const MOST_LISTED: usize = 1_000;
/// Largest store that is taken in.
const MOST_IMPORTED: u64 = 256 << 20;

/// A run, as the store knows it without looking at what was measured.
#[derive(Serialize, ToSchema)]
pub(crate) struct Listed {
    /// Its number.
    id: i64,
    /// What it is called.
    name: String,
    /// RFC 3339.
    started: String,
    /// `complete`, `interrupted`, `failed`, or `unfinished`: killed, or still measured.
    #[schema(value_type = String)]
    state: RunState,
    /// Whether it is measured now, by this server.
    measured_now: bool,
    /// Its tags.
    tags: Vec<String>,
}

/// What was asked for, and what came out.
#[derive(Serialize, ToSchema)]
pub(crate) struct Summary {
    /// How it ended, `complete, trusted in part`.
    state: String,
    /// Services, platforms and loads.
    subject: Vec<String>,
    /// The question with its answer; further sentences.
    outcome: Vec<String>,
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct Listing {
    /// Only runs whose name or tag holds this text.
    #[serde(rename = "match")]
    matching: Option<String>,
}

/// The newest runs, the latest first.
#[utoipa::path(get, path = "/api/runs", tag = "runs", params(Listing), responses((status = 200, body = Vec<Listed>)))]
pub(crate) async fn list(
    State(site): State<Arc<Site>>,
    Query(asked): Query<Listing>,
) -> Result<Json<Vec<Listed>>, Failure> {
    let text = asked.matching.unwrap_or_default();
    let headings = in_background(site.clone(), |site| Ok(Store::open(&site.store)?.runs()?)).await?;
    let listed = headings.into_iter().rev().filter(|run| run.matches(&text)).take(MOST_LISTED);
    let listed = listed.map(|run| Listed {
        measured_now: site.queue.measures(run.id),
        id: run.id,
        name: run.name,
        started: run.started,
        state: run.state,
        tags: run.tags,
    });
    Ok(Json(listed.collect()))
}

/// What a run asked, and what came out.
#[utoipa::path(get, path = "/api/runs/{id}/summary", tag = "runs", params(Number),
    responses((status = 200, body = Summary), (status = 404, body = Refusal)))]
pub(crate) async fn summary(
    State(site): State<Arc<Site>>,
    Number { id }: Number,
) -> Result<Json<Summary>, Failure> {
    let summary = in_background(site, move |site| {
        let store = Store::open(&site.store)?;
        let heading = store.heading(id)?;
        let make = || Ok::<_, Failure>(loadline_report::summary(&analyse(&store.data(Some(id))?)));
        site.summaries.of(&heading, make)
    });
    let loadline_report::Summary { state, subject, outcome } = summary.await?;
    Ok(Json(Summary { state, subject, outcome }))
}

/// The whole result, as `loadline report --json` writes it; its schema is `docs/result.schema.json`.
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs", params(Number),
    responses((status = 200, body = Object), (status = 404, body = Refusal)))]
pub(crate) async fn result(
    State(site): State<Arc<Site>>,
    Number { id }: Number,
) -> Result<Response, Failure> {
    file_of(site, id, Format::Json).await
}

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
    fn content_type(self) -> &'static str {
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

    fn file_name(self, run: i64) -> String {
        match self {
            Format::Json => format!("run-{run}.json"),
            Format::Csv => format!("run-{run}-slices.csv"),
            Format::CsvSummary => format!("run-{run}-summary.csv"),
            Format::Markdown => format!("run-{run}.md"),
            Format::Html => format!("run-{run}.html"),
            Format::Hlog => format!("run-{run}.hlog"),
            Format::Junit => format!("run-{run}-junit.xml"),
            Format::Experiment => format!("run-{run}.yaml"),
            Format::Store => format!("run-{run}.db"),
        }
    }
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct Export {
    /// In which form.
    #[param(inline)]
    format: Format,
}

/// A run as a file.
#[utoipa::path(get, path = "/api/runs/{id}/export", tag = "runs", params(Number, Export),
    responses((status = 200, description = "the file"), (status = 404, body = Refusal)))]
pub(crate) async fn export(
    State(site): State<Arc<Site>>,
    Number { id }: Number,
    Query(Export { format }): Query<Export>,
) -> Result<Response, Failure> {
    let name = format!("attachment; filename=\"{}\"", format.file_name(id));
    let file = file_of(site, id, format).await?;
    Ok(([(CONTENT_DISPOSITION, name)], file).into_response())
}

async fn file_of(site: Arc<Site>, id: i64, format: Format) -> Result<Response, Failure> {
    let bytes = in_background(site, move |site| match format {
        Format::Store => copy_of(&site.store, id),
        Format::Experiment => {
            let run = Store::open(&site.store)?.run(Some(id))?;
            Ok(site.program.yaml(&run.experiment).into_bytes())
        }
        _ => {
            let store = Store::open(&site.store)?;
            let data = store.data(Some(id))?;
            let result = analyse(&data);
            written(|out| match format {
                Format::Json | Format::Experiment | Format::Store => loadline_report::json(&result, out),
                Format::Csv => loadline_report::csv_slices(&result, out),
                Format::CsvSummary => loadline_report::csv_summary(&result, out),
                Format::Markdown => Ok(out.write_all(loadline_report::markdown(&result).as_bytes())?),
                Format::Html => {
                    loadline_report::html(&result, &Evidence::of(data.profiles, data.slices), &[], out)
                }
                Format::Hlog => {
                    loadline_report::hlog(&result, &Evidence::of(data.profiles, data.slices), out)
                }
                Format::Junit => loadline_report::junit(&result, out),
            })
        }
    });
    Ok(([(CONTENT_TYPE, format.content_type())], bytes.await?).into_response())
}

/// A store of its own.
fn copy_of(store: &Path, id: i64) -> Result<Vec<u8>, Failure> {
    let fail = |error: std::io::Error| Failure::internal(format!("cannot write a temporary file: {error}"));
    let folder = tempfile::tempdir().map_err(fail)?;
    let file = folder.path().join("run.db");
    Store::open(store)?.copy(&[id], &file)?;
    std::fs::read(&file).map_err(fail)
}

/// The report of a run, as a page of this server.
pub(crate) async fn page(State(site): State<Arc<Site>>, Number { id }: Number) -> Result<Response, NoReport> {
    let page = in_background(site, move |site| {
        let store = Store::open(&site.store)?;
        let heading = store.heading(id)?;
        site.pages.of(&heading, || Ok(made_page(&store, id)?.into()))
    });
    Ok(report(page.await?))
}

fn made_page(store: &Store, id: i64) -> Result<Vec<u8>, Failure> {
    let data = store.data(Some(id))?;
    let result = analyse(&data);
    let link = |label: &str, address: String| Link { label: label.to_owned(), address };
    let mut links = vec![link("All runs", "/".to_owned()), link("Run it again", format!("/new?again={id}"))];
    for (label, format) in [
        ("JSON", "json"),
        ("CSV", "csv"),
        ("hlog", "hlog"),
        ("Markdown", "markdown"),
        ("HTML", "html"),
        ("YAML", "experiment"),
        ("store", "store"),
    ] {
        links.push(link(label, format!("/api/runs/{id}/export?format={format}")));
    }
    written(|out| loadline_report::html(&result, &Evidence::of(data.profiles, data.slices), &links, out))
}

/// A report says itself what may run in it; what it cannot say is that it stands in no frame.
fn report(page: Bytes) -> Response {
    let headers =
        [(CONTENT_TYPE, Format::Html.content_type()), (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")];
    (headers, page).into_response()
}

/// Runs to compare.
#[derive(Deserialize, IntoParams)]
pub(crate) struct Compared {
    /// The earlier run: the baseline.
    before: i64,
    /// The later run, or several with commas between them.
    #[param(value_type = String, example = "2,3")]
    after: Numbers,
}

/// Numbers of runs: `2,3`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Numbers(Vec<i64>);

impl TryFrom<String> for Numbers {
    type Error = String;

    fn try_from(text: String) -> Result<Numbers, String> {
        let number = |number: &str| {
            number
                .trim()
                .parse()
                .map_err(|_| format!("runs are numbers with commas between them, not '{text}'"))
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Numbers)
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
        let (result, _) = joined(&site.store, &runs)?;
        written(|out| loadline_report::json(&result, out))
    });
    Ok(([(CONTENT_TYPE, Format::Json.content_type())], json.await?).into_response())
}

/// The same as a page of this server.
pub(crate) async fn compared_page(
    State(site): State<Arc<Site>>,
    Query(runs): Query<Compared>,
) -> Result<Response, NoReport> {
    let page = in_background(site, move |site| {
        let (result, evidence) = joined(&site.store, &runs)?;
        let link = |label: String, address: String| Link { label, address };
        let all = [runs.before].into_iter().chain(runs.after.0);
        let of_runs = all.map(|run| link(format!("Run {run}"), format!("/runs/{run}")));
        let links: Vec<Link> =
            [link("All runs".to_owned(), "/".to_owned())].into_iter().chain(of_runs).collect();
        written(|out| loadline_report::html(&result, &evidence, &links, out))
    });
    Ok(report(page.await?.into()))
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

/// What is to be different.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Change {
    /// Its new name.
    name: Option<String>,
    /// Its new tags, all of them.
    tags: Option<Vec<String>>,
}

/// Names and tags a run.
#[utoipa::path(patch, path = "/api/runs/{id}", tag = "runs", params(Number), request_body = Change,
    responses((status = 204, description = "it is"), (status = 404, body = Refusal), (status = 422, body = Refusal)))]
pub(crate) async fn change(
    State(site): State<Arc<Site>>,
    Number { id }: Number,
    Json(change): Json<Change>,
) -> Result<StatusCode, Failure> {
    blocking(move || {
        let store = Store::open(&site.store)?;
        if let Some(name) = &change.name {
            store.rename(id, name)?;
        }
        if let Some(tags) = &change.tags {
            store.set_tags(id, tags)?;
        }
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Deletes a run with all that was measured in it.
#[utoipa::path(delete, path = "/api/runs/{id}", tag = "runs", params(Number),
    responses((status = 204, description = "it is gone"), (status = 404, body = Refusal), (status = 409, body = Refusal)))]
pub(crate) async fn delete(
    State(site): State<Arc<Site>>,
    Number { id }: Number,
) -> Result<StatusCode, Failure> {
    if site.queue.measures(id) {
        let sentence = format!("run {id} is being measured: stop it first");
        return Err(Failure::new(StatusCode::CONFLICT, sentence));
    }
    blocking(move || {
        let store = Store::open(&site.store)?;
        store.delete(&[id])?;
        // A run that is measured would wait for the store; the next one that is deleted gives this one's space back as well.
        if !site.queue.is_measuring() {
            store.shrink();
        }
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// The numbers that runs of another store have in this one.
#[derive(Serialize, ToSchema)]
pub(crate) struct Imported {
    /// In their order there.
    runs: Vec<i64>,
}

/// Copies all runs of another store into this one.
#[utoipa::path(post, path = "/api/import", tag = "runs",
    request_body(content = String, content_type = "application/octet-stream", description = "the file of the store"),
    responses((status = 200, body = Imported), (status = 413, body = Refusal), (status = 422, body = Refusal)))]
pub(crate) async fn import(State(site): State<Arc<Site>>, body: Body) -> Result<Json<Imported>, Failure> {
    let too_large = || {
        let sentence = format!(
            "a store of more than {} MB: import it with `loadline store import`",
            MOST_IMPORTED >> 20
        );
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
    };
    if body.size_hint().lower() > MOST_IMPORTED {
        return Err(too_large());
    }
    // Until it is taken in, each is a file in the temporary folder.
    let alone = site.importing.clone().lock_owned().await;
    let fail = |error: std::io::Error| Failure::internal(format!("cannot write a temporary file: {error}"));
    let folder = tempfile::tempdir().map_err(fail)?;
    let file = folder.path().join("import.db");
    let mut out = std::fs::File::create(&file).map_err(fail)?;
    let (mut body, mut left) = (body.into_data_stream(), MOST_IMPORTED);
    while let Some(chunk) = body.next().await {
        let chunk =
            chunk.map_err(|error| Failure::unprocessable(format!("the file did not arrive: {error}")))?;
        left = left.checked_sub(chunk.len() as u64).ok_or_else(too_large)?;
        out.write_all(&chunk).map_err(fail)?;
    }
    let runs = blocking(move || {
        let of_file = |error: loadline_store::StoreError| Failure::unprocessable(error.to_string());
        let from = Store::open(&file).map_err(of_file)?;
        let all: Vec<i64> = from.runs().map_err(of_file)?.iter().map(|run| run.id).collect();
        let runs = from.copy(&all, &site.store).map_err(of_file)?;
        // Not before: this goes on when the client has gone.
        drop((folder, alone));
        Ok(Imported { runs })
    });
    Ok(Json(runs.await?))
}

fn written(write: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    Ok(bytes)
}
