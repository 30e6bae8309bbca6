//! The labels that identify objects in a cluster as those of a run, and of a deployment.

use std::collections::BTreeMap;

use kube::api::ObjectMeta;

use loadline_machine::{Owner, RUN_LABEL, RunName, SLOT_LABEL};

/// The field manager's name.
pub(crate) const MANAGER: &str = "loadline";

/// The owner's labels.
pub(crate) fn of(owner: &Owner) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::from([(RUN_LABEL.to_owned(), owner.run.to_string())]);
    if let Some(slot) = owner.slot {
        labels.insert(SLOT_LABEL.to_owned(), slot.to_string());
    }
    labels
}

/// The name of a run's namespace: `loadline-RUN`.
pub(crate) fn namespace(run: RunName) -> String {
    Owner::run(run).label()
}

/// The selector of everything that the owner created.
pub(crate) fn selector(owner: &Owner) -> String {
    selector_of(&of(owner))
}

/// A selector that requires all of these labels.
pub(crate) fn selector_of(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

/// Whether an object belongs to the run.
pub(crate) fn has_run_label(metadata: &ObjectMeta, run: RunName) -> bool {
    let value = metadata.labels.as_ref().and_then(|labels| labels.get(RUN_LABEL));
    value.is_some_and(|value| *value == run.to_string())
}

/// Name, namespace and labels of an object of the owner.
pub(crate) fn metadata(owner: &Owner, name: String) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: Some(namespace(owner.run)),
        labels: Some(of(owner)),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_selector_covers_its_deployments() {
        let run: RunName = "3fa90c".parse().unwrap();
        assert_eq!(selector(&Owner::run(run)), "loadline.run=3fa90c");
        assert_eq!(selector(&Owner { run, slot: Some(2) }), "loadline.run=3fa90c,loadline.slot=2");
        assert!(has_run_label(&metadata(&Owner { run, slot: Some(2) }, "x".to_owned()), run));
        assert!(!has_run_label(&ObjectMeta::default(), run));
    }
}
