//! The one thing that has no safe wrapper: the file descriptor of a sampler, borrowed for as long as the sampler.

use std::os::fd::{AsRawFd, BorrowedFd};

use perf_event::Sampler;

/// What to wait on for a sampler's records.
pub(crate) fn fd_of(sampler: &Sampler) -> BorrowedFd<'_> {
    // SAFETY: the sampler owns the descriptor and closes it when it is dropped, which the returned lifetime rules out.
    unsafe { BorrowedFd::borrow_raw(sampler.as_raw_fd()) }
}
