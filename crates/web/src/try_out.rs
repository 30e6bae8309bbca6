//! Trying requests out before a run: each is sent once, and what came back is shown.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::jobs::Experiment;
use crate::process::{Ended, Process};
use crate::work::blocking;

/// How long one may take, starting the services included.
const WITHIN: Duration = Duration::from_secs(200);

/// Sends each request of an experiment once, to each service on each platform. Answers with what was sent and what came back, as
/// `loadline try` prints it. Nothing is measured.
#[utoipa::path(post, path = "/api/tries", tag = "experiments", request_body = Experiment,
    responses((status = 200, content_type = "text/plain", body = String), (status = 409, body = Refusal), (status = 422, body = Refusal)))]
pub(crate) async fn try_out(
    State(site): State<Arc<Site>>,
    Json(Experiment { yaml }): Json<Experiment>,
) -> Result<String, Failure> {
    blocking(move || {
        site.program.draft(&yaml).map_err(Failure::unprocessable)?;
        let conflict = |why: &str| Failure::new(StatusCode::CONFLICT, why);
        let Ok(_alone) = site.trying.try_lock() else {
            return Err(conflict("another request is being tried out: wait until it is answered"));
        };
        if site.is_measuring() {
            return Err(conflict(
                "a run is being measured, which this would disturb: wait until it has ended",
            ));
        }
        let process = Process::start(site.program.try_out(), &yaml)
            .map_err(|error| Failure::internal(format!("cannot start loadline: {error}")))?;
        *site.tried.lock().unwrap_or_else(PoisonError::into_inner) = process.pid();
        let (shown, Ended { said, .. }) = process.output(WITHIN);
        *site.tried.lock().unwrap_or_else(PoisonError::into_inner) = None;
        match (shown.is_empty(), said.is_empty()) {
            (true, true) => Err(Failure::internal("loadline ended without saying why")),
            (true, false) => Err(Failure::unprocessable(said)),
            (false, _) => Ok(format!("{shown}{said}")),
        }
    })
    .await
}
