//! From flags or YAML to an [`Experiment`], valid by construction: everything after this point trusts it.

pub mod cpus;
mod draft;
mod error;
mod files;
mod flags;
pub mod http;
mod ladder;
pub mod load;
mod machine;
mod node;
mod read;
mod schema;
mod texts;
pub mod units;
pub mod url;
mod validate;
mod words;
mod yaml;

pub use loadline_model::experiment::{
    CLAIM_METRICS, Claim, Experiment, Interleave, Isolation, LoadSpec, Nodes, OnFailure, Placement, PlanSpec,
    Platform, PlatformKind, Ready, RequestSpec, Says, Service, Start,
};

pub use error::{Complaint, Place, Problem, Problems, SpecError};
pub use flags::{Flags, from_flags};
pub use ladder::{Ladder, LadderFlags, Part, ladder};
pub use machine::{CheckBuiltin, Machine};
pub use schema::experiment_schema;
pub use yaml::{MAX_FILE_BYTES, from_yaml, from_yaml_file};
