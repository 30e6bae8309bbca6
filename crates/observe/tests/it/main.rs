//! Probes against the kernel of this machine, and their declarations against what they give.

mod declarations;
mod real;
mod runtimes;
