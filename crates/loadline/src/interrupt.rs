//! Ctrl-C: the first ends the work cleanly, the second leaves at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets; a second signal ends the process where it stands.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Actions run in the order of registration: the shutdown is armed by an earlier signal only.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}
