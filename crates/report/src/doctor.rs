//! The result of `loadline doctor`: text for a terminal, and JSON.

mod answer;
mod json;
mod machine;
mod table;

pub use json::{json, schema};
pub use table::table;
