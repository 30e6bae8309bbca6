//! Platforms: presets, layers of one's own choice, and URLs of what already runs.

use std::net::{IpAddr, SocketAddr};

use loadline_model::PlatformId;
use loadline_model::platform::{Docker, Kubernetes};

use super::choices::switch;
use super::docker::docker;
use super::kubernetes::kubernetes;
use super::layers::layers;
use super::names::{name, unique};
use super::plan;
use super::way_out;
use crate::draft::{Draft, KindDraft, LayerDraft, PlatformDraft, Text};
use crate::error::{Complaint, Place, Problems, later_version, suggestion};
use crate::machine::Machine;
use crate::url::parse_platform_url;
use crate::{Nodes, Platform, PlatformKind};

const WORDS: [&str; 7] = ["host", "pod", "container", "docker", "kubernetes", "local", "external"];
/// Platforms of later versions.
const LATER: [&str; 1] = ["ssh"];

/// All platforms of the draft that are valid.
pub(super) fn platforms(draft: &Draft, machine: &Machine, problems: &mut Problems) -> Vec<Platform> {
    let drafts = draft.platforms.as_ref().map_or(&[][..], |platforms| &platforms.value);
    if drafts.is_empty() {
        let place = draft.platforms.as_ref().map_or(&draft.place, |platforms| &platforms.place);
        let help = way_out(&draft.place, "write `platforms: [host, pod]`", "write --on host --on pod");
        problems.add(place, Complaint::new("no platform is given").help(help));
    }
    // What can't be read is complained of where the plan is.
    let written = draft.plan.as_ref().and_then(|plan| plan.nodes.as_ref());
    let nodes = written.and_then(|text| plan::nodes(&text.value).ok()).unwrap_or_default();
    let read: Vec<(Platform, &Place)> = drafts
        .iter()
        .filter_map(|draft| {
            let platform = platform(draft, machine, nodes, problems)?;
            Some((platform, draft.name.as_ref().map_or(&draft.place, |name| &name.place)))
        })
        .collect();
    let help = way_out(
        &draft.place,
        "give one a `name` of its own; the noise is shown by the twin",
        "name one of them: --on NAME=…; the noise is shown by the twin",
    );
    unique(
        "platforms",
        read.iter().map(|(platform, place)| (platform.name.as_str(), *place)),
        help,
        problems,
    );
    let mut platforms: Vec<Platform> = read.into_iter().map(|(platform, _)| platform).collect();
    // Of a list with mistakes in it, the drafts no longer stand beside their platforms.
    if platforms.len() == drafts.len() {
        for (at, draft) in drafts.iter().enumerate() {
            let Some(name) = &draft.above else { continue };
            platforms[at].above = name.read(problems, |name| below(name, at, &platforms));
        }
        for (platform, draft) in platforms.iter().zip(drafts).filter(|(platform, _)| platform.top) {
            if platform.above.is_none()
                && let Some(top) = &draft.top
            {
                let complaint = Complaint::new("the top of a ladder stands on another platform");
                problems.add(&top.place, complaint.help("write `above: NAME`, or leave `top` out"));
            }
        }
    }
    platforms
}

/// The platform of a name, which must stand before the one at `at`: so a ladder has no circles.
fn below(name: &str, at: usize, platforms: &[Platform]) -> Result<PlatformId, Complaint> {
    let names: Vec<&str> = platforms[..at].iter().map(|platform| platform.name.as_str()).collect();
    let found = names.iter().position(|earlier| *earlier == name.trim());
    found.map(PlatformId).ok_or_else(|| {
        Complaint::new(format!("there is no platform `{}` before this one", name.trim()))
            .help(suggestion(name.trim(), &names))
    })
}

fn platform(
    draft: &PlatformDraft,
    machine: &Machine,
    nodes: Nodes,
    problems: &mut Problems,
) -> Option<Platform> {
    let given = draft.name.as_ref().map(|text| text.read(problems, name));
    let (default_name, kind) = match &draft.kind {
        KindDraft::Word(word) => (word.value.trim().to_owned(), word.read(problems, preset)?),
        KindDraft::Local(list) => {
            let layers = layers(list, nodes, problems)?;
            let names: Vec<String> = list.value.iter().map(LayerDraft::written).collect();
            (names.join("+"), PlatformKind::Local(layers))
        }
        KindDraft::Docker(draft) => {
            let (name, docker) = docker(draft, problems)?;
            (name, PlatformKind::Docker(docker))
        }
        KindDraft::Kubernetes(draft) => {
            let (name, kubernetes) = kubernetes(draft, problems)?;
            (name, PlatformKind::Kubernetes(kubernetes))
        }
        KindDraft::External(url) => (url.value.trim().to_owned(), external(url, machine, problems)?),
    };
    let name = match given {
        Some(name) => name?,
        None => default_name,
    };
    let top = draft.top.as_ref().and_then(|text| text.read(problems, switch)).unwrap_or(false);
    Some(Platform { top, ..Platform::new(name, kind) })
}

fn preset(text: &str) -> Result<PlatformKind, Complaint> {
    if let Some(layers) = loadline_model::platform::preset(text.trim()) {
        return Ok(PlatformKind::Local(layers));
    }
    match text.trim() {
        "host" => Ok(PlatformKind::Host),
        "docker" => Ok(PlatformKind::Docker(Docker::default())),
        "kubernetes" => Ok(PlatformKind::Kubernetes(Kubernetes::default())),
        "local" => Err(Complaint::new("`local` needs its layers")
            .help("write {local: [cgroup, veth]}, or local:cgroup+veth on the command line")),
        "external" => Err(Complaint::new("`external` needs its URL")
            .help("write {external: http://127.0.0.1:8080}, or the URL alone on the command line")),
        later if LATER.contains(&later) => Err(later_version(later)),
        url if url.contains("://") => {
            Err(Complaint::new("a URL needs its key").help(format!("write {{external: {url}}}")))
        }
        other => {
            Err(Complaint::new(format!("there is no platform `{other}`")).help(suggestion(other, &WORDS)))
        }
    }
}

fn external(url: &Text, machine: &Machine, problems: &mut Problems) -> Option<PlatformKind> {
    let target = url.read(problems, parse_platform_url)?;
    let addresses = match target.host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, target.port)],
        Err(_) => (machine.resolve)(&target.host, target.port),
    };
    // Of `localhost` and its like the IPv4 address is the one that more servers listen on.
    let address = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    let Some(address) = address else {
        let complaint = Complaint::new(format!("the name `{}` has no address", target.host));
        problems.add(&url.place, complaint.help("check its spelling, or write the address itself"));
        return None;
    };
    Some(PlatformKind::External {
        url: url.value.trim().to_owned(),
        address: *address,
        authority: target.authority,
    })
}
