//! The registry's section with a run's containers, and how they are removed.

use loadline_machine::{Cleaner, Error, Netns, Owner, Removed, Section};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::remove::remove;

/// The cleaner of what a run created in Docker.
pub const CLEANERS: &[&dyn Cleaner] = &[&DockerCleaner];

/// The section of a run.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct DockerSection {
    /// The API endpoint of the daemon that has the run's containers.
    pub endpoint: Option<String>,
    /// The images that the run added to it.
    #[serde(default)]
    pub images: Vec<String>,
}

impl Section for DockerSection {
    const CLEANER: &'static dyn Cleaner = &DockerCleaner;
}

/// Removes containers, networks and images.
struct DockerCleaner;

impl Cleaner for DockerCleaner {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn remove(
        &self,
        owner: &Owner,
        section: &Value,
        _: &Netns,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error> {
        let section = DockerSection::deserialize(section).unwrap_or_default();
        let Some(endpoint) = section.endpoint else { return Ok(()) };
        Ok(remove(owner, &endpoint, &section.images, removed)?)
    }

    fn section_of_first_version(&self, state: &Map<String, Value>) -> Option<Value> {
        let endpoint = state.get("docker").filter(|endpoint| endpoint.is_string())?;
        Some(
            json!({"endpoint": endpoint, "images": state.get("docker_images").cloned().unwrap_or(json!([]))}),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_the_first_version_names_the_daemon() {
        let section = |state: Value| {
            let section = DockerCleaner.section_of_first_version(state.as_object().unwrap())?;
            DockerSection::deserialize(section).ok()
        };
        let found = section(json!({"docker": "unix:///x", "docker_images": ["orders:1"]})).unwrap();
        assert_eq!(
            (found.endpoint.as_deref(), found.images),
            (Some("unix:///x"), vec!["orders:1".to_owned()])
        );
        assert!(section(json!({"docker": null})).is_none() && section(json!({})).is_none());
    }
}
