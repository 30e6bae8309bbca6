//! Ctrl-C: the first ends the work cleanly, the second leaves at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// What ends a run at once. It begins with a line's end, since the cursor may be behind a progress bar.
const LEFT_BEHIND: &str =
    "\ninterrupted again: what the run started is left behind; remove it with `loadline clean`\n";

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets; a second signal ends the process where it stands.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // Actions run in the order of registration: the shutdown is armed by an earlier signal only.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

/// As [`stop_flag`], for work that leaves something behind when it is ended where it stands, which is said.
pub fn stop_flag_of_run() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        let earlier = interrupted.clone();
        let say = move || {
            if earlier.swap(true, Ordering::Relaxed) {
                let _ = rustix::io::write(io::stderr(), LEFT_BEHIND.as_bytes());
            }
        };
        // SAFETY: it changes an atomic and calls write(2), both of which a signal handler may do (signal-safety(7)).
        unsafe { signal_hook::low_level::register(signal, say) }?;
    }
    stop_flag()
}
