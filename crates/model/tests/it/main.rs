//! What the crates that are called pure depend on.

mod dependencies;
