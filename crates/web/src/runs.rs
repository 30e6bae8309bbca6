//! The runs of the store: listed, shown, named, deleted, copied from and to other stores.

use std::io::Write;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, HttpBody};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use loadline_analysis::analyse;
use loadline_model::RunState;
use loadline_report::Evidence;
use loadline_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::formats::{Export, Format, file};
use crate::numbers::Number;
use crate::pages::NoReport;
use crate::reports::{self, link};
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
    /// Whether it is measured now.
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
    let known = |site: &Site| Ok((Store::open(&site.store)?.runs()?, site.program.alive()));
    let (headings, alive) = in_background(site.clone(), known).await?;
    let listed = headings.into_iter().rev().filter(|run| run.matches(&text)).take(MOST_LISTED);
    let listed = listed.map(|run| Listed {
        measured_now: site.queue.measures(run.id) || run.is_measured(&alive),
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
    let json = in_background(site, move |site| in_form(site, id, Format::Json)).await?;
    Ok(([(CONTENT_TYPE, Format::Json.content_type())], json).into_response())
}

/// A run as a file.
#[utoipa::path(get, path = "/api/runs/{id}/export", tag = "runs", params(Number, Export),
    responses((status = 200, description = "the file"), (status = 404, body = Refusal)))]
pub(crate) async fn export(
    State(site): State<Arc<Site>>,
    Number { id }: Number,
    Query(Export { format }): Query<Export>,
) -> Result<Response, Failure> {
    let bytes = in_background(site, move |site| in_form(site, id, format)).await?;
    Ok(file(format, &format!("run-{id}"), bytes))
}

fn in_form(site: &Site, id: i64, format: Format) -> Result<Vec<u8>, Failure> {
    let store = Store::open(&site.store)?;
    match format {
        Format::Store => copy_of(&store, id),
        Format::Experiment => Ok(site.program.yaml(&store.run(Some(id))?.experiment).into_bytes()),
        _ => {
            let data = store.data(Some(id))?;
            format.of(&analyse(&data), || Evidence::of(data.profiles, data.slices))
        }
    }
}

/// A store of its own.
fn copy_of(store: &Store, id: i64) -> Result<Vec<u8>, Failure> {
    let fail = |error: std::io::Error| Failure::internal(format!("cannot write a temporary file: {error}"));
    let folder = tempfile::tempdir().map_err(fail)?;
    let file = folder.path().join("run.db");
    store.copy(&[id], &file)?;
    std::fs::read(&file).map_err(fail)
}

/// The report of a run, as a page of this server.
pub(crate) async fn page(State(site): State<Arc<Site>>, Number { id }: Number) -> Result<Response, NoReport> {
    let page = in_background(site, move |site| {
        let store = Store::open(&site.store)?;
        let heading = store.heading(id)?;
        site.pages.of(&heading, || Ok(made_page(&store, id)?.into()))
    });
    Ok(reports::page(page.await?))
}

fn made_page(store: &Store, id: i64) -> Result<Vec<u8>, Failure> {
    let data = store.data(Some(id))?;
    let exports = format!("/api/runs/{id}/export?");
    let mut links = vec![link("All runs", "/"), link("Run it again", format!("/new?again={id}"))];
    links.extend(reports::forms(&exports));
    links.push(link("YAML", format!("{exports}format=experiment")));
    links.push(link("store", format!("{exports}format=store")));
    reports::made(&analyse(&data), &Evidence::of(data.profiles, data.slices), &links)
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
    blocking(move || {
        let store = Store::open(&site.store)?;
        if site.queue.measures(id) || store.heading(id)?.is_measured(&site.program.alive()) {
            let sentence = format!("run {id} is being measured: stop it first");
            return Err(Failure::new(StatusCode::CONFLICT, sentence));
        }
        store.delete(&[id])?;
        // A run that is measured would wait for the store; the next one that is deleted gives this one's space back as well.
        if !site.queue.is_measuring() {
            site.program.shrink(&store);
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
    /// Those among them that were here already.
    were_here: Vec<i64>,
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
        let copied = from.copy(&all, &site.store).map_err(of_file)?;
        let runs = copied.iter().map(|copied| copied.number).collect();
        let were_here = copied.iter().filter(|copied| copied.was_there).map(|copied| copied.number).collect();
        // Not before: this goes on when the client has gone.
        drop((folder, alone));
        Ok(Imported { runs, were_here })
    });
    Ok(Json(runs.await?))
}
