//! From flags or YAML to an [`Experiment`], valid by construction: everything after this point trusts it. And back: [`to_yaml`].
//!
//! ```text
//! YAML ─ yaml ─┐                              ┌─▶ Experiment
//!              ├─▶ node: a tree of texts ─▶ experiment/*: a table of keys for each part
//! flags ─ flags┘        with their places     └─▶ JSON Schema, flags with their help
//! YAML ◀─ write ◀───────────┘ ◀── Experiment
//! ```
//!
//! **To add an option**, say `repeats` of the plan:
//!
//! 1. the field, in the model, with its default;
//! 2. one `.key(…)` in the table of `experiment/plan.rs`: its name, its kind with bounds (`kinds.rs` has durations, counts, shares, choices,
//!    lists …), a sentence, the field. From it come reading with complaints, the JSON Schema, the writer, and the default in the help;
//! 3. if it is to be a flag, `.flag("--repeats", HOW_MUCH)` after it: `loadline compare` and `layers` then have it.
//!
//! Where the model's shape is not that of the file (a load's `rate` or `closed`), the table fills in a struct of its own (`LoadKeys`) that
//! two functions turn into the model and back; what depends on other keys or on the machine is checked there, at the place of a key
//! (`written.place_of("arrivals")`). `tests/it/written.rs` then has to have the key in its full experiment, and `docs/experiment-files.md` says
//! what it means; the JSON Schema is written by `UPDATE_SCHEMA=1 cargo nextest run -p loadline-spec schema`.

mod configuration;
pub mod cpus;
mod error;
mod experiment;
mod files;
mod flags;
pub mod http;
mod kinds;
mod ladder;
pub mod load;
mod machine;
mod node;
mod options;
mod prices;
mod schema;
pub mod units;
pub mod url;
mod words;
mod write;
mod yaml;

pub use loadline_model::experiment::{
    CLAIM_METRICS, Claim, Experiment, Interleave, Isolation, LoadSpec, Nodes, OnFailure, Placement, PlanSpec,
    Platform, PlatformKind, Ready, RequestSpec, Says, Service, Start,
};

pub use configuration::Configuration;
pub use error::{Complaint, Place, Problem, Problems, SpecError};
pub use experiment::{
    SEARCH_FLAGS, add_conditions, check_conditions, experiment_schema, flags, is_reference_service, metric,
    service_lines, unknown_metric,
};
pub use flags::{Flags, from_flags, from_flags_for};
pub use ladder::{Ladder, LadderFlags, Part, ladder, ladder_default};
pub use machine::{CheckBuiltin, Machine};
pub use options::Flag;
pub use prices::{day_profile, prices_from_yaml_file};
pub use write::{to_yaml, to_yaml_with_defaults};
pub use yaml::{MAX_FILE_BYTES, from_yaml, from_yaml_file};
