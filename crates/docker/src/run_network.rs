//! The network of a run whose services have others beside them, which they reach at their own addresses: a bridge of its own, as Compose makes
//! one. The default bridge has the containers of everybody, and others of the run would be reached by their published ports.

use std::sync::{Mutex, PoisonError};

use bollard::models::NetworkCreateRequest;

use loadline_machine::{Owner, RunName};

use crate::{client::Client, error::DockerError, request};

/// Whether the run has it. It is created for the first container, and removed at the end of the run by its label.
#[derive(Default)]
pub(crate) struct RunNetwork(Mutex<bool>);

impl RunNetwork {
    /// Its name; creates it, unless that was done before.
    pub fn ensure(&self, run: RunName, client: &Client) -> Result<String, DockerError> {
        let owner = Owner::run(run);
        let mut exists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !*exists {
            let what = format!("create the network {owner}");
            client.call(&what, |api| api.create_network(request(&owner)))?;
            *exists = true;
        }
        Ok(owner.label())
    }
}

/// Docker names the bridge's link: among the run's own links, whose packets for each other are accepted before all other rules, the
/// container's path would lack the rules that Docker has for it.
fn request(owner: &Owner) -> NetworkCreateRequest {
    NetworkCreateRequest {
        name: owner.label(),
        driver: Some("bridge".to_owned()),
        labels: Some(request::labels(owner)),
        ..NetworkCreateRequest::default()
    }
}
