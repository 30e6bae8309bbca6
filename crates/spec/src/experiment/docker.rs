//! The options of a container, and which of them go together.

use std::path::PathBuf;

use loadline_model::platform::{Docker, DockerNetwork, Mount, Publish};
use serde_json::json;

use crate::error::{Complaint, Problems};
use crate::kinds::{List, Scalar, choice, word_of};
use crate::options::{Table, Written};

const NETWORKS: [(&str, DockerNetwork); 4] = [
    ("bridge", DockerNetwork::Bridge),
    ("host", DockerNetwork::Host),
    ("macvlan", DockerNetwork::Macvlan),
    ("none-with-wire", DockerNetwork::NoneWithWire),
];
pub(crate) const PUBLISHING: [(&str, Publish); 3] =
    [("port", Publish::Port), ("userland-proxy", Publish::UserlandProxy), ("none", Publish::None)];

/// What is written of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DockerKeys {
    network: DockerNetwork,
    publish: Option<Publish>,
    user: Option<String>,
    mounts: Vec<Mount>,
}

pub(super) fn table() -> Table<DockerKeys> {
    let user = json!({ "type": ["string", "integer"], "pattern": "^[0-9]+(:[0-9]+)?$" });
    let mount = Scalar::new(mount, show_mount, json!({ "type": "string" }));
    Table::<DockerKeys>::new("Docker", "docker", "A container of the Docker Engine, or of Podman")
        .may_be_empty()
        .key(
            "network",
            choice("a network of a container", &NETWORKS),
            "How the container is connected to a network",
            |docker| &mut docker.network,
        )
        .key(
            "publish",
            choice("a way to publish a port", &PUBLISHING),
            "How the client reaches it: by a port that the kernel translates, by docker-proxy, or at the container's own address",
            |docker| &mut docker.publish,
        )
        .default("port on a bridge, none elsewhere")
        .key(
            "user",
            Scalar::new(self::user, String::clone, user),
            "User in the container: 1000 or 1000:1000",
            |docker| &mut docker.user,
        )
        .default("the image's")
        .key(
            "mounts",
            List { element: mount, needs_one: false },
            "Folders and files of this machine in the container: /data:/data or /data:/data:ro",
            |docker| &mut docker.mounts,
        )
}

impl DockerKeys {
    /// What is written of a container of an experiment.
    pub fn of(docker: &Docker) -> DockerKeys {
        let publish = Some(docker.publish).filter(|publish| *publish != usual_publish(docker.network));
        let Docker { network, user, mounts, .. } = docker.clone();
        DockerKeys { network, publish, user, mounts }
    }
}

/// Only a bridge stands between the client and the container's own address.
fn usual_publish(network: DockerNetwork) -> Publish {
    if network == DockerNetwork::Bridge { Publish::Port } else { Publish::None }
}

pub(super) fn docker(written: &Written<DockerKeys>, problems: &mut Problems) -> Docker {
    let DockerKeys { network, publish, user, mounts } = written.value.clone();
    if network != DockerNetwork::Bridge && publish.is_some_and(|publish| publish != Publish::None) {
        let complaint = Complaint::new("only a container on a bridge can publish its port");
        problems.add(
            written.place_of("publish"),
            complaint.help("leave `publish` out, or write `network: bridge`"),
        );
    }
    Docker { network, publish: publish.unwrap_or(usual_publish(network)), user, mounts }
}

/// `docker`, with its network where that is not the usual one.
pub(super) fn default_name(docker: &Docker) -> String {
    match (docker.network, docker.publish) {
        (DockerNetwork::Bridge, Publish::Port) => "docker".to_owned(),
        (DockerNetwork::Bridge, Publish::UserlandProxy) => "docker userland-proxy".to_owned(),
        (DockerNetwork::Bridge, Publish::None) => "docker unpublished".to_owned(),
        (network, _) => format!("docker {}", word_of(network, &NETWORKS)),
    }
}

fn user(text: &str) -> Result<String, Complaint> {
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    let user = text.trim();
    let is_valid = match user.split_once(':') {
        Some((user, group)) => is_number(user) && is_number(group),
        None => is_number(user),
    };
    // Names mean other numbers in every image.
    if is_valid {
        Ok(user.to_owned())
    } else {
        Err(Complaint::new(format!("`{user}` is not a user id"))
            .help("write 1000, or 1000:1000 to set the group"))
    }
}

/// `SOURCE:TARGET[:ro]`
fn mount(text: &str) -> Result<Mount, Complaint> {
    let complain =
        |message: &str| Err(Complaint::new(message).help("write /source:/target, or /source:/target:ro"));
    let parts: Vec<&str> = text.trim().split(':').collect();
    let (source, target, read_only) = match parts[..] {
        [source, target] | [source, target, "rw"] => (source, target, false),
        [source, target, "ro"] => (source, target, true),
        _ => return complain("a mount is a source, a target and optionally `ro`"),
    };
    let source = PathBuf::from(source);
    if !source.is_absolute() || !target.starts_with('/') {
        return complain("both paths of a mount must be absolute");
    }
    if !source.exists() {
        return Err(Complaint::new(format!("{} does not exist", source.display()))
            .help("the source of a mount must exist"));
    }
    Ok(Mount { source, target: target.to_owned(), read_only })
}

fn show_mount(mount: &Mount) -> String {
    let read_only = if mount.read_only { ":ro" } else { "" };
    format!("{}:{}{read_only}", mount.source.display(), mount.target)
}
