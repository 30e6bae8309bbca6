//! The store: what is written is read again, by this version and from earlier ones.

mod older_stores;
mod store;
