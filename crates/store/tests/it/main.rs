//! The store: what goes in comes out, and what earlier versions wrote is read.

mod older_stores;
mod store;
