//! Which runs of a store are being measured, by whichever process of this user, and what must not get in their way.

use loadline_machine::{Registry, Turn};
use loadline_store::Store;

/// The labels of the runs whose processes live. Without a registry there are none.
pub fn alive() -> Vec<String> {
    let runs = Registry::of_this_user().and_then(|registry| registry.live_runs()).unwrap_or_default();
    runs.iter().map(ToString::to_string).collect()
}

/// Whether a run is measured that has the machine to itself.
pub fn is_anybody_measuring() -> bool {
    Registry::of_this_user().and_then(|registry| registry.is_turn_taken()).unwrap_or_default()
}

/// Gives the space of deleted runs back, unless a run is measured: it would wait for that, and its service for the disk. Returns
/// whether it did.
pub fn shrink(store: &Store) -> bool {
    match Registry::of_this_user().and_then(|registry| registry.take_turn()) {
        Ok(Turn::Busy(_)) => false,
        // Held until it is done, so that no run begins meanwhile. Without a registry there are none.
        _turn => {
            store.shrink();
            true
        }
    }
}
