//! How a run ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// All of the plan was measured.
    Complete,
    /// Ctrl-C; what was measured until then is here.
    Interrupted,
    /// A service or platform failed; what was measured until then is here.
    Failed,
    /// Not ended: still running, or killed.
    Unfinished,
}

impl RunState {
    /// All of them.
    pub const ALL: [RunState; 4] =
        [RunState::Unfinished, RunState::Complete, RunState::Interrupted, RunState::Failed];

    /// The name under which it is kept.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Unfinished => "unfinished",
            RunState::Complete => "complete",
            RunState::Interrupted => "interrupted",
            RunState::Failed => "failed",
        }
    }
}
