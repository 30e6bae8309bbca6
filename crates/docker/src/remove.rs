//! Removing what a run created in Docker: containers and networks by their label, images by the names that the run registered.

use std::{collections::HashMap, time::Duration};

use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListNetworksOptionsBuilder, RemoveContainerOptionsBuilder,
    RemoveImageOptions,
};

use loadline_machine::{
    Owner, Removed,
    wait::{self, DAEMON_INTERVAL},
};

use crate::{client::Client, error::DockerError, request};

/// How long Docker may take to finish a removal that is in progress, or one that blocks ours.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The status for an object that is being removed, or is in use.
const CONFLICT: u16 = 409;
/// The status for a network with containers.
const FORBIDDEN: u16 = 403;

/// Removes the owner's containers and networks from the daemon at `endpoint` and, if the owner is a whole run, those of `images` that
/// no container uses. Adds what existed to `removed`.
pub(crate) fn remove(
    owner: &Owner,
    endpoint: &str,
    images: &[String],
    removed: &mut Vec<Removed>,
) -> Result<(), DockerError> {
    remove_from(owner, endpoint, images, removed).map_err(|error| match error {
        DockerError::Gone { endpoint, reason, .. } => {
            DockerError::Remains { owner: owner.to_string(), endpoint, reason }
        }
        error => error,
    })
}

fn remove_from(
    owner: &Owner,
    endpoint: &str,
    images: &[String],
    removed: &mut Vec<Removed>,
) -> Result<(), DockerError> {
    let of_owner = |kind, name| Removed { run: owner.run, kind, name };
    let client = Client::at(endpoint)?;
    removed.extend(containers(&client, owner)?.into_iter().map(|name| of_owner("container", name)));
    removed.extend(networks(&client, owner)?.into_iter().map(|name| of_owner("network", name)));
    let images = if owner.slot.is_none() { images } else { &[] };
    for image in images {
        if remove_image(&client, image)? {
            removed.push(of_owner("image", image.clone()));
        }
    }
    Ok(())
}

/// The filter for objects of the owner.
fn filter(owner: &Owner) -> HashMap<String, Vec<String>> {
    let labels = request::labels(owner).into_iter().map(|(name, value)| format!("{name}={value}"));
    HashMap::from([("label".to_owned(), labels.collect())])
}

/// Whether the labels are the owner's, checked again in case the filter matched more.
fn owns(owner: &Owner, labels: Option<&HashMap<String, String>>) -> bool {
    let Some(labels) = labels else { return false };
    request::labels(owner).iter().all(|(name, value)| labels.get(name) == Some(value))
}

fn containers(client: &Client, owner: &Owner) -> Result<Vec<String>, DockerError> {
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filter(owner)).build();
    let found = client.call("list the containers", |api| api.list_containers(Some(options)))?;
    let mut removed = Vec::new();
    for container in found.into_iter().filter(|container| owns(owner, container.labels.as_ref())) {
        let Some(id) = container.id else { continue };
        let name = container.names.and_then(|names| Some(names.first()?.trim_start_matches('/').to_owned()));
        let name = name.unwrap_or_else(|| id.clone());
        remove_container(client, &id, &name)?;
        removed.push(name);
    }
    Ok(removed)
}

/// Removes a container with its anonymous volumes, and waits until it is gone.
fn remove_container(client: &Client, id: &str, name: &str) -> Result<(), DockerError> {
    let what = format!("remove the container {name}");
    retry_while_busy(&[CONFLICT], || {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        client.find(&what, |api| api.remove_container(id, Some(options)))
    })
}

fn networks(client: &Client, owner: &Owner) -> Result<Vec<String>, DockerError> {
    let options = ListNetworksOptionsBuilder::default().filters(&filter(owner)).build();
    let found = client.call("list the networks", |api| api.list_networks(Some(options)))?;
    let mut removed = Vec::new();
    for network in found.into_iter().filter(|network| owns(owner, network.labels.as_ref())) {
        let (Some(id), Some(name)) = (network.id, network.name) else { continue };
        let what = format!("remove the network {name}");
        retry_while_busy(&[CONFLICT, FORBIDDEN], || client.find(&what, |api| api.remove_network(&id)))?;
        removed.push(name);
    }
    Ok(removed)
}

/// Removes an image's name, and with its last name the image. One that a container uses stays.
fn remove_image(client: &Client, name: &str) -> Result<bool, DockerError> {
    let what = format!("remove the image {name}");
    match client.find(&what, |api| api.remove_image(name, None::<RemoveImageOptions>, None)) {
        Ok(found) => Ok(found.is_some()),
        Err(DockerError::Refused { status: Some(CONFLICT), message, .. }) => {
            tracing::info!("cannot remove the image {name}: {message}");
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Repeats `attempt` while Docker answers with one of the `passing` statuses, which mean that it is busy.
fn retry_while_busy(
    passing: &[u16],
    attempt: impl FnMut() -> Result<Option<()>, DockerError>,
) -> Result<(), DockerError> {
    let is_busy = |error: &DockerError| matches!(error, DockerError::Refused { status: Some(status), .. } if passing.contains(status));
    wait::retry(TIMEOUT, DAEMON_INTERVAL, is_busy, attempt).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_owns_what_has_its_labels_and_nothing_else() {
        let (run, other) = ("0a1b2c".parse().unwrap(), "0a1b2d".parse().unwrap());
        let deployment = Owner { run, slot: Some(1) };
        let labels = request::labels(&deployment);
        assert!(owns(&deployment, Some(&labels)) && owns(&Owner::run(run), Some(&labels)));
        for stranger in
            [Owner { run, slot: Some(12) }, Owner::run(other), Owner { run: other, slot: Some(1) }]
        {
            assert!(!owns(&stranger, Some(&labels)), "{stranger}");
        }
        assert!(!owns(&Owner::run(run), None) && !owns(&Owner::run(run), Some(&HashMap::new())));
        assert!(!owns(&deployment, Some(&request::labels(&Owner::run(run)))));
    }
}
