//! What could be run: the platforms of this machine, and experiments as they are typed, with what the command line would say to them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loadline_store::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::Site;
use crate::failure::{Failure, Refusal};
use crate::program::{Draft, Offer};
use crate::stored::OfStored;
use crate::work::in_background;

/// The services that need nothing but their name: built-in ones, and the reference services that were built, with their modes.
#[utoipa::path(get, path = "/api/services", tag = "experiments", responses((status = 200, body = Vec<String>)))]
pub(crate) async fn services(State(site): State<Arc<Site>>) -> Result<Json<Vec<String>>, Failure> {
    Ok(Json(in_background(site, |site| Ok(site.program.services())).await?))
}

/// The platforms, and whether this machine has them; while a run is measured as far as that is known.
#[utoipa::path(get, path = "/api/platforms", tag = "experiments", responses((status = 200, body = Vec<Offer>)))]
pub(crate) async fn platforms(State(site): State<Arc<Site>>) -> Result<Json<Vec<Offer>>, Failure> {
    let platforms = |site: &Site| match site.is_measuring() {
        // To find out takes time of daemons and of the kernel, which a run would notice.
        true => Ok(site.program.known_platforms()),
        false => Ok(site.program.platforms()),
    };
    Ok(Json(in_background(site, platforms).await?))
}

/// An experiment: as YAML, or as the flags of `loadline compare`; with `--objective` among them, of `loadline capacity`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked {
    /// An experiment file.
    Yaml(String),
    /// Word by word: `["--on", "host", "--on", "pod"]`.
    Flags(Vec<String>),
    /// A service of a stored run.
    Stored(OfStored),
}

/// Checks an experiment without running it: what it amounts to as YAML, what it would do, and how long that takes.
#[utoipa::path(post, path = "/api/drafts", tag = "experiments", request_body = Asked,
    responses((status = 200, body = Draft), (status = 404, body = Refusal), (status = 422, body = Refusal)))]
pub(crate) async fn draft(
    State(site): State<Arc<Site>>,
    Json(asked): Json<Asked>,
) -> Result<Json<Draft>, Failure> {
    let draft = in_background(site, move |site| {
        let draft = match &asked {
            Asked::Yaml(yaml) => site.program.draft(yaml),
            Asked::Flags(flags) => site.program.draft_of_flags(flags),
            Asked::Stored(asked) => {
                let service = asked.service(&Store::open(&site.store)?)?;
                site.program.draft_of_service(&service, &asked.flags)
            }
        };
        draft.map_err(Failure::unprocessable)
    });
    Ok(Json(draft.await?))
}
