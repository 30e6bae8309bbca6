//! The options of a container, and which of them go together.

use std::path::PathBuf;

use loadline_model::platform::{Docker, DockerNetwork, Mount, Publish};

use super::choices::choice;
use crate::draft::{DockerDraft, Text};
use crate::error::{Complaint, Problems};

const NETWORKS: [(&str, DockerNetwork); 4] = [
    ("bridge", DockerNetwork::Bridge),
    ("host", DockerNetwork::Host),
    ("macvlan", DockerNetwork::Macvlan),
    ("none-with-wire", DockerNetwork::NoneWithWire),
];
const WAYS: [(&str, Publish); 3] =
    [("port", Publish::Port), ("userland-proxy", Publish::UserlandProxy), ("none", Publish::None)];

/// The platform, and its name if it has none of its own: `docker`, or its network where that isn't the usual one.
pub(super) fn docker(draft: &DockerDraft, problems: &mut Problems) -> Option<(String, Docker)> {
    let before = problems.count();
    let network = draft.network.as_ref().and_then(|text| text.read(problems, network)).unwrap_or_default();
    let publish = draft.publish.as_ref().and_then(|text| text.read(problems, way));
    let user = draft.user.as_ref().and_then(|text| text.read(problems, user));
    let mounts = draft.mounts.as_ref().map_or(&[][..], |mounts| &mounts.value);
    let mounts: Vec<Mount> = mounts.iter().filter_map(|text| text.read(problems, mount)).collect();
    // Only a bridge stands between the client and the container's own address.
    let usual = if network == DockerNetwork::Bridge { Publish::Port } else { Publish::None };
    if let (Some(text), Some(publish)) = (&draft.publish, publish)
        && network != DockerNetwork::Bridge
        && publish != Publish::None
    {
        needless(text, problems);
    }
    let docker = Docker { network, publish: publish.unwrap_or(usual), user, mounts };
    (problems.count() == before).then(|| (default_name(&docker), docker))
}

fn needless(text: &Text, problems: &mut Problems) {
    let message = "only a container on a bridge has its port published";
    problems
        .add(&text.place, Complaint::new(message).help("leave `publish` out, or write `network: bridge`"));
}

fn default_name(docker: &Docker) -> String {
    let word = |network: DockerNetwork| {
        NETWORKS.iter().find(|(_, other)| *other == network).map_or("", |(word, _)| word)
    };
    match (docker.network, docker.publish) {
        (DockerNetwork::Bridge, Publish::Port) => "docker".to_owned(),
        (DockerNetwork::Bridge, Publish::UserlandProxy) => "docker userland-proxy".to_owned(),
        (DockerNetwork::Bridge, Publish::None) => "docker unpublished".to_owned(),
        (network, _) => format!("docker {}", word(network)),
    }
}

/// Reads a network, for files and for the command line.
pub(super) fn network(text: &str) -> Result<DockerNetwork, Complaint> {
    choice(text, "a network of a container", &NETWORKS)
}

fn way(text: &str) -> Result<Publish, Complaint> {
    choice(text, "a way to publish a port", &WAYS)
}

fn user(text: &str) -> Result<String, Complaint> {
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    let user = text.trim();
    let valid = match user.split_once(':') {
        Some((user, group)) => is_number(user) && is_number(group),
        None => is_number(user),
    };
    // Names mean other numbers in every image.
    if valid {
        Ok(user.to_owned())
    } else {
        Err(Complaint::new(format!("`{user}` is not a user's number"))
            .help("write 1000, or 1000:1000 with the group"))
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
        _ => return complain("a mount is a source, a target and perhaps `ro`"),
    };
    let source = PathBuf::from(source);
    if !source.is_absolute() || !target.starts_with('/') {
        return complain("both paths of a mount are absolute");
    }
    if !source.exists() {
        return Err(
            Complaint::new(format!("there is no {}", source.display())).help("a mount needs its source")
        );
    }
    Ok(Mount { source, target: target.to_owned(), read_only })
}
