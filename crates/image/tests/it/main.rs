//! Images of programs: their bytes, their names, and that every runtime takes them.

mod archive;
mod made;
mod names;
mod programs;
mod real_containerd;
mod real_docker;
mod real_podman;
mod runtimes;
mod service;
