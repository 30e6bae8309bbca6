//! What was found out about the language runtime of a service: how it is set up, and what of it could not be seen. It is read once a
//! deployment, when the service is warm; what changes from slice to slice are metrics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A service's language runtime. Most services have none that loadline knows, and nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Runtime {
    /// By name, in the namespace of the runtime: `jvm.collector`, `go.gomaxprocs`.
    pub facts: BTreeMap<String, String>,
    /// What could not be seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Unseen>,
}

/// Something of a runtime that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unseen {
    /// A JVM without a file of performance data in its `/tmp`: collections, pauses, heap and compilation are unknown.
    NoPerformanceData,
    /// What is in place of that file is not one that a HotSpot JVM writes.
    BadPerformanceData {
        /// What is wrong with it.
        why: String,
    },
    /// A JVM that keeps no such file, as OpenJ9.
    OtherJvm {
        /// The library that it is in.
        library: String,
    },
    /// A JVM that did not tell its flags and threads.
    NotAttached {
        /// What stood in the way.
        why: String,
    },
    /// A Go program whose file has no symbols: GOMAXPROCS and collections are unknown.
    NoGoSymbols,
    /// A Go program without them was to print its collections, and none was found in its output.
    NoGcTrace,
    /// Go programs without them print their collections into one output.
    SeveralGcTraces,
    /// A Go program whose file does not say where its variables have their parts: collections and heap are unknown.
    NoGoTypes,
    /// A Go program whose memory may not be read.
    NoGoMemory {
        /// What the kernel said.
        why: String,
    },
    /// A service that does not show its own metrics where they were asked for.
    NoOwnMetrics {
        /// The path that was asked for.
        path: String,
        /// What came instead.
        why: String,
    },
}

impl Runtime {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.unseen.is_empty()
    }

    /// Enters a fact.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.facts.insert(name.into(), value.into());
    }

    /// Adds what another probe found.
    pub fn merge(&mut self, other: Runtime) {
        self.facts.extend(other.facts);
        self.unseen.extend(other.unseen);
    }
}
