//! Probes against the kernel of this machine, and their declarations against what they give.

mod corpus;
mod declarations;
mod real;
mod runtimes;
