//! A metric over the runs of the store, and where it changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::extract::{Query, State};
use loadline_model::result::history::History;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::work::in_background;

#[derive(Deserialize, IntoParams)]
pub(crate) struct Asked {
    /// The metric: `p50`, `mean`, `cpu.service`.
    metric: String,
    /// Only runs whose name or tag holds this text.
    #[serde(rename = "match")]
    matching: Option<String>,
}

/// A metric over the runs, as `loadline history --json` writes it; its schema is `docs/history.schema.json`.
#[utoipa::path(get, path = "/api/history", tag = "runs", params(Asked),
    responses((status = 200, body = Object), (status = 422, body = Refusal)))]
pub(crate) async fn history(
    State(site): State<Arc<Site>>,
    Query(asked): Query<Asked>,
) -> Result<Json<History>, Failure> {
    let text = asked.matching.unwrap_or_default();
    let stop = Arc::new(AtomicBool::new(false));
    let _waiting = Waiting(stop.clone());
    let history = move |site: &Site| Ok(site.program.history(&site.store, &asked.metric, &text, &stop)?);
    Ok(Json(in_background(site, history).await?))
}

/// Somebody waits for an answer. It is dropped with the request, which ends when its client has gone, and what computes the answer stops.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
