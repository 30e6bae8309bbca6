//! The profiler on this machine's kernel, as root: programs that are busy, networks as platforms lay them, and what raises soft
//! interrupts there.

mod busy;
mod paths;
mod reasons;
mod rig;
