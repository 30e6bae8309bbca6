//! What was found out about the language runtime of a service.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Statement;
use crate::runtime::Unseen;

/// The language runtime of the service of a site, once it was warm, in the last deployment that told of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteRuntime {
    /// Service and platform, as tables name them.
    pub label: String,
    /// How it is set up, by name: `jvm.collector`, `go.gomaxprocs`.
    pub facts: BTreeMap<String, String>,
    /// The share of the service's CPU time that its JIT compiler took while it was measured, in the cell where it was largest; without a
    /// value if it has none that could be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jit_share: Option<f64>,
    /// What could not be seen, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Statement<Unseen>>,
}
