//! The user's permissions in the cluster, checked before anything is created, so that all missing ones are named at once.

use futures_util::future::try_join_all;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::{Api, Client, api::PostParams};

use crate::{connection::Cluster, error::ClusterError};

/// Verbs on one kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permission {
    pub verbs: &'static [&'static str],
    /// API group; empty for the core.
    pub group: &'static str,
    /// Plural name, with a slash and the subresource if there is one.
    pub resource: &'static str,
    /// Whether it applies to the whole cluster, not the run's namespace.
    pub cluster_wide: bool,
}

impl Permission {
    pub const fn in_namespace(
        verbs: &'static [&'static str],
        group: &'static str,
        resource: &'static str,
    ) -> Permission {
        Permission { verbs, group, resource, cluster_wide: false }
    }

    pub const fn in_cluster(
        verbs: &'static [&'static str],
        group: &'static str,
        resource: &'static str,
    ) -> Permission {
        Permission { verbs, group, resource, cluster_wide: true }
    }
}

/// Server-side apply creates what does not exist, and so needs both verbs.
pub(crate) const CREATE_AND_DELETE: &[&str] = &["create", "patch", "list", "deletecollection"];

/// The permissions that every deployment needs.
pub(crate) const REQUIRED_ALWAYS: [Permission; 6] = [
    Permission::in_cluster(&["create", "get", "delete"], "", "namespaces"),
    Permission::in_cluster(&["get", "list"], "", "nodes"),
    Permission::in_namespace(&["get", "list", "watch", "deletecollection"], "", "pods"),
    Permission::in_namespace(&["get"], "", "pods/log"),
    Permission::in_namespace(&["list", "watch"], "", "events"),
    Permission::in_namespace(CREATE_AND_DELETE, "", "services"),
];

/// Fails with every permission that is missing.
pub(crate) fn check(
    cluster: &Cluster,
    namespace: &str,
    permissions: &[Permission],
) -> Result<(), ClusterError> {
    let asked: Vec<ResourceAttributes> =
        permissions.iter().flat_map(|permission| attributes(permission, namespace)).collect();
    let allowed = cluster.call("check this user's permissions", |client| {
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

fn attributes(permission: &Permission, namespace: &str) -> impl Iterator<Item = ResourceAttributes> {
    let permission = *permission;
    let namespace = (!permission.cluster_wide).then(|| namespace.to_owned());
    let (resource, subresource) = match permission.resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
        None => (permission.resource, None),
    };
    permission.verbs.iter().map(move |verb| ResourceAttributes {
        verb: Some((*verb).to_owned()),
        group: Some(permission.group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource: subresource.clone(),
        namespace: namespace.clone(),
        ..Default::default()
    })
}

/// As shown to the user: `create deployments.apps in namespace loadline-3fa90c`.
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
    fn a_permission_is_shown_in_words() {
        let words = |permission: Permission| -> Vec<String> {
            attributes(&permission, "loadline-3fa90c").map(|one| shown(&one)).collect()
        };
        assert_eq!(
            words(Permission::in_namespace(&["create", "patch"], "apps", "deployments")),
            [
                "create deployments.apps in namespace loadline-3fa90c",
                "patch deployments.apps in namespace loadline-3fa90c"
            ]
        );
        assert_eq!(
            words(Permission::in_cluster(&["get"], "", "nodes/proxy")),
            ["get nodes/proxy in the whole cluster"]
        );
    }
}
