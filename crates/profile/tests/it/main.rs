//! The profiler on this machine's kernel, as root: busy programs, networks as platforms set them up, and what raises soft
//! interrupts there.

mod busy;
mod paths;
mod reasons;
mod rig;
