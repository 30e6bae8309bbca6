//! Creating objects by server-side apply, which is idempotent.

use std::fmt::Debug;

use futures_util::{StreamExt, TryStreamExt, stream};
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Api, Resource,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};

use loadline_machine::RunName;

use crate::{connection::Cluster, error::ClusterError, labels};

/// Concurrent requests.
const BATCH: usize = 32;

/// Creates `object` in the run's namespace.
pub(crate) fn apply<K>(cluster: &Cluster, run: RunName, object: &K) -> Result<K, ClusterError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let name = object.meta().name.clone().unwrap_or_default();
    cluster.call(&format!("make the {} {name}", K::kind(&())), |client| {
        let (object, name) = (object.clone(), name.clone());
        let api = Api::<K>::namespaced(client, &labels::namespace(run));
        async move { api.patch(&name, &parameters(), &Patch::Apply(&object)).await }
    })
}

/// Creates many objects of a kind.
pub(crate) fn apply_all<K>(cluster: &Cluster, run: RunName, objects: Vec<K>) -> Result<(), ClusterError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    for batch in objects.chunks(BATCH) {
        cluster.call(&format!("make the {}", K::plural(&())), |client| {
            let batch = batch.to_vec();
            let api = Api::<K>::namespaced(client, &labels::namespace(run));
            async move {
                let made = batch.into_iter().map(|object| {
                    let api = api.clone();
                    let name = object.meta().name.clone().unwrap_or_default();
                    async move { api.patch(&name, &parameters(), &Patch::Apply(&object)).await.map(drop) }
                });
                stream::iter(made).buffer_unordered(BATCH).try_collect::<Vec<()>>().await.map(drop)
            }
        })?;
    }
    Ok(())
}

/// Forces ownership of fields: in the run's own namespace, a conflict can only come from an earlier attempt of loadline.
pub(crate) fn parameters() -> PatchParams {
    PatchParams::apply(labels::MANAGER).force()
}
