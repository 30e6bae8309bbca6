//! Layers of a local platform: which there are, and what each stands on.
//!
//! The platform checks its layers once more when it deploys; here the mistake has a place in the file.

use std::path::PathBuf;

use loadline_model::platform::{Backend, Layer, Proxy, Sidecar, Sides, check_layers};

use super::choices::choice;
use crate::Nodes;
use crate::draft::{LayerDraft, Located, Text};
use crate::error::{Complaint, Problems, suggestion};
use crate::units::parse_count;

/// Most services of a node port's rules; the platform has addresses for no more.
const MAX_SERVICES: u64 = 20_000;
/// Most rules without a match: beyond, a packet takes longer than a request may.
const MAX_RULES: u64 = 100_000;
/// Most rounds of a spinning program: some milliseconds for each packet.
const MAX_LOOPS: u64 = 1_000_000;

/// The layers of the list, each after what it stands on.
pub(super) fn layers(
    list: &Located<Vec<LayerDraft>>,
    nodes: Nodes,
    problems: &mut Problems,
) -> Option<Vec<Layer>> {
    if list.value.is_empty() {
        let complaint = Complaint::new("the list of layers is empty");
        problems.add(&list.place, complaint.help("write `host` for a process without layers"));
        return None;
    }
    let mut layers: Vec<Layer> = Vec::new();
    for draft in &list.value {
        let layer = layer(draft, problems)?;
        problems.note(&draft.name.place, fits(&layer, &layers, nodes))?;
        layers.push(layer);
    }
    Some(layers)
}

fn layer(draft: &LayerDraft, problems: &mut Problems) -> Option<Layer> {
    let before = problems.count();
    let layer = match draft.name.value.trim() {
        "nodeport" => Some(node_port(draft, problems)),
        "sidecar" => Some(sidecar(draft, problems)),
        "rules" => number(draft, "the number of rules", MAX_RULES, problems).map(Layer::Rules),
        "spin" => number(draft, "the number of loops", MAX_LOOPS, problems).map(Layer::Spin),
        "cni" => value(draft, "its configuration list", problems)
            .map(|file| Layer::Cni(PathBuf::from(file.value.trim()))),
        name => plain(draft, name, problems),
    };
    layer.filter(|_| problems.count() == before)
}

fn plain(draft: &LayerDraft, name: &str, problems: &mut Problems) -> Option<Layer> {
    let layer = Layer::plain(name);
    if layer.is_none() {
        let names: Vec<String> = Layer::PLAIN.iter().map(Layer::to_string).collect();
        let names: Vec<&str> =
            names.iter().map(String::as_str).chain(["sidecar", "rules", "spin", "cni"]).collect();
        let complaint = Complaint::new(format!("there is no layer `{name}`"));
        problems.add(&draft.name.place, complaint.help(suggestion(name, &names)));
    }
    if let Some(value) = &draft.value {
        problems.add(&value.place, Complaint::new(format!("`{name}` takes no value")).help("leave it out"));
    }
    layer
}

/// What a layer that is nothing without its value was given.
fn value<'a>(draft: &'a LayerDraft, what: &str, problems: &mut Problems) -> Option<&'a Text> {
    if draft.value.is_none() {
        let name = draft.name.value.trim();
        let complaint = Complaint::new(format!("`{name}` needs {what}"));
        problems.add(
            &draft.name.place,
            complaint.help(format!("write `{name}: …`, or {name}=… on the command line")),
        );
    }
    draft.value.as_ref()
}

fn number(draft: &LayerDraft, what: &str, most: u64, problems: &mut Problems) -> Option<u32> {
    let count = value(draft, what, problems)?.read(problems, |text| parse_count(text, what, 1, most))?;
    u32::try_from(count).ok()
}

fn node_port(draft: &LayerDraft, problems: &mut Problems) -> Layer {
    let backends = [("iptables", Backend::Iptables), ("nftables", Backend::Nftables)];
    let backend = draft
        .backend
        .as_ref()
        .or(draft.value.as_ref())
        .and_then(|text| text.read(problems, |text| choice(text, "a backend of a node port", &backends)));
    let services = draft.services.as_ref().and_then(|text| {
        text.read(problems, |text| parse_count(text, "the number of services", 1, MAX_SERVICES))
    });
    let services = services.and_then(|services| u32::try_from(services).ok());
    Layer::NodePort { backend: backend.unwrap_or_default(), services: services.unwrap_or(1) }
}

fn sidecar(draft: &LayerDraft, problems: &mut Problems) -> Layer {
    let proxies = [("haproxy", Proxy::Haproxy), ("nginx", Proxy::Nginx), ("envoy", Proxy::Envoy)];
    let sides = [("service", Sides::Service), ("both", Sides::Both), ("both-mtls", Sides::BothMtls)];
    let proxy = draft
        .proxy
        .as_ref()
        .or(draft.value.as_ref())
        .and_then(|text| text.read(problems, |text| choice(text, "a proxy", &proxies)));
    let sides = draft
        .sides
        .as_ref()
        .and_then(|text| text.read(problems, |text| choice(text, "a place for sidecars", &sides)));
    Layer::Sidecar(Sidecar { proxy: proxy.unwrap_or_default(), sides: sides.unwrap_or_default() })
}

/// Whether `layer` can stand on the layers below it.
fn fits(layer: &Layer, below: &[Layer], nodes: Nodes) -> Result<(), Complaint> {
    let same = |other: &Layer| std::mem::discriminant(other) == std::mem::discriminant(layer);
    if below.iter().any(same) {
        return Err(Complaint::new(format!("the layer `{layer}` is there twice")).help("remove one of them"));
    }
    let all: Vec<Layer> = below.iter().chain([layer]).cloned().collect();
    check_layers(&all, nodes == Nodes::Own).map_err(|error| {
        let text = error.to_string();
        // The platform's sentence is what is wrong, and after the colon what to do.
        match text.split_once(": ") {
            Some((what, help)) => Complaint::new(what).help(help.to_owned()),
            None => Complaint::new(text),
        }
    })
}
