//! Images of programs: their bytes, their names, and that every runtime takes them.

mod archive;
mod folders;
mod libraries;
mod made;
mod names;
mod programs;
mod real_containerd;
mod real_docker;
mod real_docker_folders;
mod real_podman;
mod runtimes;
mod service;
