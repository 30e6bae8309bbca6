//! Work that would hold up the other requests is done by other threads.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use crate::Site;
use crate::failure::Failure;
use crate::sys;

/// Work that a run may wait for, because it locks the store for writing, or that starts one.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        Err(Failure::internal("this took a path that it should not: see what the server says"))
    })
}

/// Work that nobody waits for but who asks. While a run is measured it takes only time that nothing else wants.
pub(crate) async fn in_background<T: Send + 'static>(
    site: Arc<Site>,
    work: impl FnOnce(&Site) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    blocking(move || {
        if !site.is_measuring() {
            return work(&site);
        }
        let give_way = || {
            // Where the kernel refuses, this is as any other work.
            let _ = sys::give_way();
            work(&site)
        };
        // A thread of its own: one that has given way may not take that back.
        let done = thread::scope(|scope| scope.spawn(give_way).join());
        done.unwrap_or_else(|panic| resume_unwind(panic))
    })
    .await
}
