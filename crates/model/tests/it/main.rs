//! What the model and the crates that are made of it may depend on.

mod dependencies;
