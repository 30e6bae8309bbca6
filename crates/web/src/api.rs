//! Which path is answered by what. `GET /api/openapi.json` describes it: made of the functions that answer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{self, Access};
use crate::failure::Failure;
use crate::live::Slice;
use crate::{Site, compared, drafts, history, jobs, pages, runs, stored, try_out};

/// Of a request with JSON; an experiment file has 1 MiB at most.
const MOST_BODY: usize = 2 << 20;
/// Until an answer begins.
const FOR_ANSWER: Duration = Duration::from_secs(300);
/// Pages run the server's own script alone, show what is its own, and stand in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data: blob:; connect-src 'self'; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// Runs of a store, and new ones.
#[derive(OpenApi)]
#[openapi(info(title = "loadline ui"), components(schemas(Slice)), tags(
    (name = "runs", description = "runs of the store"),
    (name = "experiments", description = "what could be run"),
    (name = "jobs", description = "runs that wait or are measured"),
))]
struct Api;

/// The API as OpenAPI 3.1 describes one.
pub fn description() -> serde_json::Value {
    // Of a description that is made of text and numbers alone there is nothing that JSON cannot hold.
    serde_json::to_value(routes().into_openapi()).unwrap_or_default()
}

fn routes() -> OpenApiRouter<Arc<Site>> {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(runs::list))
        .routes(routes!(runs::result, runs::change, runs::delete))
        .routes(routes!(runs::summary))
        .routes(routes!(runs::export))
        .routes(routes!(compared::compared))
        .routes(routes!(compared::export_compared))
        .routes(routes!(history::history))
        .routes(routes!(drafts::services))
        .routes(routes!(stored::stored))
        .routes(routes!(drafts::platforms))
        .routes(routes!(drafts::draft))
        .routes(routes!(try_out::try_out))
        .routes(routes!(jobs::add, jobs::all))
        .routes(routes!(jobs::one))
        .routes(routes!(jobs::events))
        .routes(routes!(jobs::stop))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        // Its body is counted as it arrives.
        .routes(routes!(runs::import))
}

pub(crate) fn router(site: Arc<Site>, access: Arc<Access>) -> Router {
    Router::from(routes())
        .route("/api/openapi.json", get(|| async { Json(description()) }))
        .route("/", get(pages::shell))
        .route("/new", get(pages::shell))
        .route("/history", get(pages::shell))
        .route("/jobs/{job}", get(pages::shell))
        .route("/runs/{id}", get(runs::page))
        .route("/compare", get(compared::page))
        .route("/app.js", get(pages::script))
        .route("/app.css", get(pages::style))
        .fallback(|| async { Failure::not_found("there is no such page: begin at /") })
        .layer(middleware::from_fn(in_time))
        .layer(middleware::from_fn_with_state(access, access::check))
        .layer(middleware::map_response(guard))
        .with_state(site)
}

/// A client that sends its body too slowly, or an analysis that takes too long, holds nothing for ever.
async fn in_time(request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(FOR_ANSWER, next.run(request)).await;
    answer.unwrap_or_else(|_| Failure::new(StatusCode::REQUEST_TIMEOUT, "this took too long").into_response())
}

/// What browsers are told of every answer.
async fn guard(mut response: Response) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    let told = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in told {
        // A report has a policy of its own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
