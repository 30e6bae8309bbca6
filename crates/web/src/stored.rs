//! The services that stored runs measured, to be measured again under other loads and on other platforms.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loadline_model::experiment::{Experiment, Service, ServiceCpus, Start};
use loadline_model::platform::ImageSource;
use loadline_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Site;
use crate::failure::Failure;
use crate::work::in_background;

/// Runs that are looked through, the latest ones.
const MOST_RUNS: u32 = 1_000;
/// Services that are offered: nobody reads a longer list.
const MOST_SERVICES: usize = 100;

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
    /// What is to be different: the flags of `loadline compare`, with `--objective` those of `loadline capacity`; none may name a service.
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

/// The services of stored runs that a command or an image starts, those of the latest run first; each once, and 100 at most.
#[utoipa::path(get, path = "/api/services/stored", tag = "experiments", responses((status = 200, body = Vec<Stored>)))]
pub(crate) async fn stored(State(site): State<Arc<Site>>) -> Result<Json<Vec<Stored>>, Failure> {
    let found = in_background(site, |site| {
        let store = Store::open(&site.store)?;
        let mut known = HashSet::new();
        let offered = |(run, service): (i64, Service)| {
            let about = about(&service)?;
            let is_new = known.insert(serde_json::to_string(&service).ok()?);
            let is_offered = is_new && !site.program.is_reference(&service);
            is_offered.then_some(Stored { run, about, service: service.name })
        };
        let of_run = |(run, experiment): (i64, Experiment)| {
            services(experiment).into_iter().map(move |service| (run, service))
        };
        let found = store.experiments(MOST_RUNS)?.flat_map(of_run);
        let stored: Vec<Stored> = found.filter_map(offered).take(MOST_SERVICES).collect();
        Ok(stored)
    });
    Ok(Json(found.await?))
}

/// The services of an experiment, each with what is common to all of them.
fn services(experiment: Experiment) -> Vec<Service> {
    let Experiment { mut services, env, limits, placement, .. } = experiment;
    let cpus = match placement.service_sees_all {
        true => Some(ServiceCpus::All),
        false => placement.service_cpus.map(ServiceCpus::Pinned),
    };
    for service in &mut services {
        let common = env.iter().filter(|(name, _)| service.env.iter().all(|(own, _)| own != name));
        service.env = common.cloned().chain(service.env.clone()).collect();
        service.limits = service.limits.or(limits);
        service.cpus = service.cpus.take().or_else(|| cpus.clone());
    }
    services
}

/// How it is started. None of a built-in service, which has a name, or of one that already runs, which has an address.
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
