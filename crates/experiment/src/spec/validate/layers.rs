//! Layers of a local platform: which there are, and what each stands on.
//!
//! The platform checks its layers once more when it deploys; here the mistake has a place in the file.

use loadline_platform::{Backend, Layer};

use super::choices::choice;
use crate::spec::draft::{LayerDraft, Located};
use crate::spec::error::{Complaint, Problems, suggestion};
use crate::spec::units::parse_count;

const NAMES: [&str; 5] = ["cgroup", "veth", "bridge", "nodeport", "published"];

/// Most services of a node port's rules; the platform has addresses for no more.
const MAX_SERVICES: u64 = 20_000;

/// The layers of the list, each after what it stands on.
pub(super) fn layers(list: &Located<Vec<LayerDraft>>, problems: &mut Problems) -> Option<Vec<Layer>> {
    if list.value.is_empty() {
        let complaint = Complaint::new("the list of layers is empty");
        problems.add(&list.place, complaint.help("write `host` for a process without layers"));
        return None;
    }
    let mut layers: Vec<Layer> = Vec::new();
    for draft in &list.value {
        let layer = layer(draft, problems)?;
        problems.note(&draft.name.place, fits(&layer, &layers, draft.name.value.trim()))?;
        layers.push(layer);
    }
    Some(layers)
}

fn layer(draft: &LayerDraft, problems: &mut Problems) -> Option<Layer> {
    let name = draft.name.value.trim();
    match name {
        "cgroup" => Some(Layer::Cgroup),
        "veth" => Some(Layer::Veth),
        "bridge" => Some(Layer::Bridge),
        "published" => Some(Layer::PublishedPort),
        "nodeport" => node_port(draft, problems),
        other => {
            let complaint = Complaint::new(format!("there is no layer `{other}`"));
            problems.add(&draft.name.place, complaint.help(suggestion(other, &NAMES)));
            None
        }
    }
}

fn node_port(draft: &LayerDraft, problems: &mut Problems) -> Option<Layer> {
    let before = problems.count();
    let backends = [("iptables", Backend::Iptables), ("nftables", Backend::Nftables)];
    let backend = draft
        .backend
        .as_ref()
        .and_then(|text| text.read(problems, |text| choice(text, "a backend of a node port", &backends)));
    let services = draft.services.as_ref().and_then(|text| {
        text.read(problems, |text| parse_count(text, "the number of services", 1, MAX_SERVICES))
    });
    let services = services.and_then(|services| u32::try_from(services).ok());
    (problems.count() == before)
        .then_some(Layer::NodePort { backend: backend.unwrap_or_default(), services: services.unwrap_or(1) })
}

/// Whether `layer` can stand on the layers below it.
fn fits(layer: &Layer, below: &[Layer], name: &str) -> Result<(), Complaint> {
    let same = |other: &Layer| std::mem::discriminant(other) == std::mem::discriminant(layer);
    if below.iter().any(same) {
        return Err(Complaint::new(format!("the layer `{name}` is there twice")).help("remove one of them"));
    }
    let is_port = |layer: &Layer| matches!(layer, Layer::NodePort { .. } | Layer::PublishedPort);
    if below.iter().any(is_port) {
        let message = format!("nothing comes after the port, but `{name}` does");
        return Err(
            Complaint::new(message).help("end the list with `nodeport` or `published`, and only one of them")
        );
    }
    let has_veth = below.iter().any(|layer| matches!(layer, Layer::Veth));
    if !has_veth && (is_port(layer) || matches!(layer, Layer::Bridge)) {
        let message = format!("the layer `{name}` needs `veth` before it");
        return Err(Complaint::new(message).help(format!("write veth, then {name}")));
    }
    Ok(())
}
