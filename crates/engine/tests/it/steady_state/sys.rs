//! An allocator that counts what chosen threads allocate. A trait of the standard library makes it `unsafe`; it only passes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, with a counter.
pub struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Without a destructor, so that it needs no allocation itself and can be asked at any time.
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// From now on the allocations of this thread count.
pub fn count_this_thread() {
    IS_COUNTED.set(true);
}

/// Allocations so far of the threads that count, growing a block included.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::SeqCst)
}

fn count() {
    if IS_COUNTED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
    }
}

// SAFETY: every method passes its arguments on to the system's allocator unchanged and returns what that returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
