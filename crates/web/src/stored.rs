//! The services that stored runs measured, to be measured again under other loads and on other platforms.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loadline_model::experiment::{Experiment, Service, Start};
use loadline_model::platform::ImageSource;
use loadline_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Site;
use crate::failure::Failure;
use crate::work::in_background;

/// Runs that are looked through, the newest ones.
const MOST_RUNS: u32 = 1_000;

/// A service that a stored run measured.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stored {
    /// The latest run that measured it.
    run: i64,
    /// What that run calls it.
    service: String,
    /// The command that starts it, or its image.
    about: String,
}

/// A service of a stored run, with all that was said of it there.
#[derive(Deserialize, ToSchema)]
pub(crate) struct OfStored {
    /// The number of the run.
    run: i64,
    /// What that run calls it.
    service: String,
    /// What is to be different, as the flags of `loadline compare`, word by word.
    pub flags: Vec<String>,
}

impl OfStored {
    /// What the run says of the service.
    pub(crate) fn service(&self, store: &Store) -> Result<Service, Failure> {
        let run = store.run(Some(self.run))?;
        let found = services(run.experiment).into_iter().find(|service| service.name == self.service);
        let why = || Failure::unprocessable(format!("run {} has no service `{}`", self.run, self.service));
        found.ok_or_else(why)
    }
}

/// The services of stored runs that a command or an image starts, those of the latest run first; each once.
#[utoipa::path(get, path = "/api/services/stored", tag = "experiments", responses((status = 200, body = Vec<Stored>)))]
pub(crate) async fn stored(State(site): State<Arc<Site>>) -> Result<Json<Vec<Stored>>, Failure> {
    let found = in_background(site, |site| {
        let mut known: Vec<(i64, Service)> = Vec::new();
        for (run, experiment) in Store::open(&site.store)?.experiments(MOST_RUNS)? {
            for service in services(experiment) {
                if known.iter().all(|(_, other)| *other != service) {
                    known.push((run, service));
                }
            }
        }
        Ok(known)
    });
    let stored =
        |(run, service): (i64, Service)| Some(Stored { run, about: about(&service)?, service: service.name });
    Ok(Json(found.await?.into_iter().filter_map(stored).collect()))
}

/// The services of an experiment, each with the environment that they have in common.
fn services(experiment: Experiment) -> Vec<Service> {
    let Experiment { mut services, env, .. } = experiment;
    for service in &mut services {
        let common = env.iter().filter(|(name, _)| service.env.iter().all(|(own, _)| own != name));
        service.env = common.cloned().chain(service.env.clone()).collect();
    }
    services
}

/// How it is started. What is built in has a name, and what runs already an address: neither needs a run to be had from.
fn about(service: &Service) -> Option<String> {
    match (&service.start, &service.image) {
        (Some(Start::Builtin { .. }), _) | (None, None) => None,
        (Some(Start::Command(words)), _) => Some(words.join(" ")),
        (None, Some(image)) => Some(match &image.source {
            ImageSource::Name(name) => name.clone(),
            ImageSource::Archive(file) | ImageSource::Program(file) => file.display().to_string(),
        }),
    }
}
