//! Runs that are asked for, wait, are measured and stopped.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::numbers::JobNumber;
use crate::queue::{Job, Status};
use crate::work::blocking;

/// An experiment to run.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Experiment {
    /// An experiment file.
    pub yaml: String,
}

/// Runs an experiment, once those before it have ended.
#[utoipa::path(post, path = "/api/jobs", tag = "jobs", request_body = Experiment,
    responses((status = 201, body = Status), (status = 422, body = Refusal), (status = 503, body = Refusal)))]
pub(crate) async fn add(
    State(site): State<Arc<Site>>,
    Json(Experiment { yaml }): Json<Experiment>,
) -> Result<Response, Failure> {
    let of_site = site.clone();
    let draft = blocking(move || {
        of_site.program.draft(&yaml).map(|draft| (draft.name, yaml)).map_err(Failure::unprocessable)
    });
    let (name, yaml) = draft.await?;
    let status = site.queue.add(name, yaml).ok_or_else(|| {
        Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many runs wait already: stop one, or ask again later",
        )
    })?;
    Ok((StatusCode::CREATED, [(LOCATION, format!("/api/jobs/{}", status.job))], Json(status)).into_response())
}

/// Runs that wait or are measured, and those that ended since the server was started; oldest first.
#[utoipa::path(get, path = "/api/jobs", tag = "jobs", responses((status = 200, body = Vec<Status>)))]
pub(crate) async fn all(State(site): State<Arc<Site>>) -> Json<Vec<Status>> {
    Json(site.queue.all())
}

/// How far a run is.
#[utoipa::path(get, path = "/api/jobs/{job}", tag = "jobs", params(JobNumber),
    responses((status = 200, body = Status), (status = 404, body = Refusal)))]
pub(crate) async fn one(
    State(site): State<Arc<Site>>,
    JobNumber { job }: JobNumber,
) -> Result<Json<Status>, Failure> {
    let job = find(&site, job)?;
    Ok(Json(site.queue.status(&job)))
}

/// How far a run is, whenever there is news, until it ends: server-sent events, `status` with what `GET /api/jobs/{job}` says, and `slices`
/// with those that were measured since.
#[utoipa::path(get, path = "/api/jobs/{job}/events", tag = "jobs", params(JobNumber),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Refusal), (status = 503, body = Refusal)))]
pub(crate) async fn events(
    State(site): State<Arc<Site>>,
    JobNumber { job }: JobNumber,
) -> Result<Response, Failure> {
    let job = find(&site, job)?;
    Ok(site.streams.follow(site.clone(), job)?.into_response())
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct Stopping {
    /// Whether one that was stopped before, and hangs, ends where it stands. What it made is removed at the next start of the server.
    #[serde(default)]
    at_once: bool,
}

/// Ends a run: one that waits never begins, and one that runs keeps what was measured.
#[utoipa::path(post, path = "/api/jobs/{job}/stop", tag = "jobs", params(JobNumber, Stopping),
    responses((status = 202, body = Status), (status = 404, body = Refusal)))]
pub(crate) async fn stop(
    State(site): State<Arc<Site>>,
    JobNumber { job }: JobNumber,
    Query(Stopping { at_once }): Query<Stopping>,
) -> Result<(StatusCode, Json<Status>), Failure> {
    let job = find(&site, job)?;
    site.queue.stop(&job, at_once);
    Ok((StatusCode::ACCEPTED, Json(site.queue.status(&job))))
}

fn find(site: &Site, job: u64) -> Result<Arc<Job>, Failure> {
    site.queue.job(job).ok_or_else(|| Failure::not_found(format!("there is no job {job}: see GET /api/jobs")))
}
