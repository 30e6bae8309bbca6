//! What this user may do in the cluster, asked before anything is made, so that all that is missing is named at once.

use futures_util::future::try_join_all;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::{Api, Client, api::PostParams};

use crate::{connection::Cluster, error::ClusterError};

/// Verbs on one kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Right {
    pub verbs: &'static [&'static str],
    /// API group; empty for the core.
    pub group: &'static str,
    /// Plural name, with a slash and the subresource if there is one.
    pub resource: &'static str,
    /// Whether it is about the whole cluster, not the run's namespace.
    pub cluster_wide: bool,
}

impl Right {
    pub const fn in_namespace(
        verbs: &'static [&'static str],
        group: &'static str,
        resource: &'static str,
    ) -> Right {
        Right { verbs, group, resource, cluster_wide: false }
    }

    pub const fn in_cluster(
        verbs: &'static [&'static str],
        group: &'static str,
        resource: &'static str,
    ) -> Right {
        Right { verbs, group, resource, cluster_wide: true }
    }
}

/// Server-side apply makes what isn't there, and so needs both rights.
pub(crate) const MAKE_AND_REMOVE: &[&str] = &["create", "patch", "list", "deletecollection"];

/// What every deployment needs.
pub(crate) const ALWAYS: [Right; 6] = [
    Right::in_cluster(&["create", "get", "delete"], "", "namespaces"),
    Right::in_cluster(&["get", "list"], "", "nodes"),
    Right::in_namespace(&["get", "list", "watch", "deletecollection"], "", "pods"),
    Right::in_namespace(&["get"], "", "pods/log"),
    Right::in_namespace(&["list", "watch"], "", "events"),
    Right::in_namespace(MAKE_AND_REMOVE, "", "services"),
];

/// Refuses, naming every right that is missing.
pub(crate) fn check(cluster: &Cluster, namespace: &str, rights: &[Right]) -> Result<(), ClusterError> {
    let asked: Vec<ResourceAttributes> =
        rights.iter().flat_map(|right| attributes(right, namespace)).collect();
    let allowed = cluster.call("ask for this user's rights", |client| {
        let asked = asked.clone();
        async move { try_join_all(asked.into_iter().map(|one| ask(client.clone(), one))).await }
    })?;
    let missing: Vec<String> =
        asked.iter().zip(allowed).filter(|(_, allowed)| !allowed).map(|(one, _)| shown(one)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (server, context) = (cluster.server().to_owned(), cluster.context().to_owned());
    Err(ClusterError::RightsMissing { server, context, missing })
}

async fn ask(client: Client, attributes: ResourceAttributes) -> kube::Result<bool> {
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() };
    let review = SelfSubjectAccessReview { spec, ..Default::default() };
    let answer = Api::all(client).create(&PostParams::default(), &review).await?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

fn attributes(right: &Right, namespace: &str) -> impl Iterator<Item = ResourceAttributes> {
    let right = *right;
    let namespace = (!right.cluster_wide).then(|| namespace.to_owned());
    let (resource, subresource) = match right.resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
        None => (right.resource, None),
    };
    right.verbs.iter().map(move |verb| ResourceAttributes {
        verb: Some((*verb).to_owned()),
        group: Some(right.group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource: subresource.clone(),
        namespace: namespace.clone(),
        ..Default::default()
    })
}

/// As a person says it: `create deployments.apps in namespace loadline-3fa90c`.
fn shown(attributes: &ResourceAttributes) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let mut words = format!("{} {}", text(&attributes.verb), text(&attributes.resource));
    if let Some(subresource) = &attributes.subresource {
        words += &format!("/{subresource}");
    }
    if let Some(group) = attributes.group.as_ref().filter(|group| !group.is_empty()) {
        words += &format!(".{group}");
    }
    match &attributes.namespace {
        Some(namespace) => words + &format!(" in namespace {namespace}"),
        None => words + " in the whole cluster",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_is_said_as_a_person_says_it() {
        let words = |right: Right| -> Vec<String> {
            attributes(&right, "loadline-3fa90c").map(|one| shown(&one)).collect()
        };
        assert_eq!(
            words(Right::in_namespace(&["create", "patch"], "apps", "deployments")),
            [
                "create deployments.apps in namespace loadline-3fa90c",
                "patch deployments.apps in namespace loadline-3fa90c"
            ]
        );
        assert_eq!(
            words(Right::in_cluster(&["get"], "", "nodes/proxy")),
            ["get nodes/proxy in the whole cluster"]
        );
    }
}
