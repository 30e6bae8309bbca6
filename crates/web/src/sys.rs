//! The one system call that rustix has no wrapper for: when a thread runs.

use std::io;

/// Has this thread run only while nothing else wants its CPU (sched(7), SCHED_IDLE). It takes a privilege to take that back; threads and
/// processes that it starts are the same, `SCHED_RESET_ON_FORK` or not.
pub(crate) fn give_way() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread, and the pointer is to parameters that live through the call.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
