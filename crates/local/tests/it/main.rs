//! The platforms of this machine against the real kernel: they carry traffic, their limits hold, their ends are noticed and reported, and
//! nothing is left behind.

mod clean;
mod cni;
mod ladder;
mod ladder_rounds;
mod layers;
mod process;
mod proxies;
mod rootless;
