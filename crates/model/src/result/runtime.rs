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
    /// What could not be seen, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Statement<Unseen>>,
}
