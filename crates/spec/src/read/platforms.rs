//! Platforms: a word, or a map of the kind to its options.

use super::{amounts, list};
use crate::draft::{DockerDraft, KindDraft, KubernetesDraft, LayerDraft, Located, PlatformDraft};
use crate::error::{Complaint, Problems};
use crate::node::{Fields, Node, Shape};

pub(super) fn platform(node: Node, problems: &mut Problems) -> Option<PlatformDraft> {
    let place = node.place.clone();
    if matches!(node.shape, Shape::Scalar(_)) {
        let kind = KindDraft::Word(node.text("platforms", problems)?);
        return Some(PlatformDraft::of(kind, place));
    }
    let before = problems.count();
    let mut fields = node.fields("platform", problems)?;
    let name = fields.text("name", problems);
    let (above, top) = (fields.text("above", problems), fields.text("top", problems));
    let mut kinds = Vec::new();
    for word in ["host", "pod", "container"] {
        if let Some(node) = fields.take(word)
            && without_options(&node, word, problems)
        {
            kinds.push(KindDraft::Word(Located { value: word.to_owned(), place: node.place }));
        }
    }
    if let Some(node) = fields.take("local") {
        kinds.extend(list(node, "local", problems, layer).map(KindDraft::Local));
    }
    kinds.extend(fields.text("external", problems).map(KindDraft::External));
    if let Some(node) = fields.take("docker") {
        kinds.extend(docker(node, problems).map(|draft| KindDraft::Docker(Box::new(draft))));
    }
    if let Some(node) = fields.take("kubernetes") {
        kinds.extend(kubernetes(node, problems).map(|draft| KindDraft::Kubernetes(Box::new(draft))));
    }
    fields.finish(&["ssh"], problems);
    if problems.count() > before {
        return None;
    }
    let complaint = match kinds.len() {
        1 => return kinds.pop().map(|kind| PlatformDraft { place, name, kind, above, top }),
        0 => Complaint::new("a platform without its kind"),
        _ => Complaint::new("a platform of several kinds"),
    };
    problems.add(
        &place,
        complaint.help("give it one of host, pod, container, docker, kubernetes, local and external"),
    );
    None
}

/// Whether the value of a platform or layer that takes no options is empty.
fn without_options(node: &Node, what: &str, problems: &mut Problems) -> bool {
    let empty = match &node.shape {
        Shape::Null => true,
        Shape::Map(entries) => entries.is_empty(),
        Shape::Scalar(_) | Shape::List(_) => false,
    };
    if !empty {
        let complaint = Complaint::new(format!("`{what}` takes no options"));
        problems.add(&node.place, complaint.help(format!("write `{what}` alone, or `{what}: {{}}`")));
    }
    empty
}

fn layer(node: Node, problems: &mut Problems) -> Option<LayerDraft> {
    let entries = match node.shape {
        Shape::Scalar(_) => {
            let name = node.text("local", problems)?;
            return Some(LayerDraft::named(name));
        }
        Shape::Map(entries) => entries,
        _ => return node.refuse("layer", "a name or a map of one name to its options", problems),
    };
    let Ok([(name, options)]) = <[_; 1]>::try_from(entries) else {
        let complaint = Complaint::new("a layer must be one name with its options");
        problems.add(&node.place, complaint.help("begin each layer with its own `-`"));
        return None;
    };
    let mut draft = LayerDraft::named(name);
    match draft.name.value.as_str() {
        "nodeport" => {
            let mut fields = options.fields("nodeport", problems)?;
            draft.backend = fields.text("backend", problems);
            draft.services = fields.text("services", problems);
            fields.finish(&[], problems);
        }
        "sidecar" => {
            let mut fields = options.fields("sidecar", problems)?;
            draft.proxy = fields.text("proxy", problems);
            draft.sides = fields.text("sides", problems);
            fields.finish(&[], problems);
        }
        "rules" | "spin" | "cni" => draft.value = Some(options.text(&draft.name.value, problems)?),
        name => return without_options(&options, name, problems).then_some(draft),
    }
    Some(draft)
}

/// The options of a platform that needs none: `docker:` alone is as good as `docker: {}`.
fn options(mut node: Node, what: &str, problems: &mut Problems) -> Option<Fields> {
    if node.shape == Shape::Null {
        node.shape = Shape::Map(Vec::new());
    }
    node.fields(what, problems)
}

fn docker(node: Node, problems: &mut Problems) -> Option<DockerDraft> {
    let mut fields = options(node, "docker", problems)?;
    let text = |node: Node, problems: &mut Problems| node.text("mounts", problems);
    let draft = DockerDraft {
        place: fields.place.clone(),
        network: fields.text("network", problems),
        publish: fields.text("publish", problems),
        user: fields.text("user", problems),
        mounts: fields.take("mounts").and_then(|node| list(node, "mounts", problems, text)),
    };
    fields.finish(&[], problems);
    Some(draft)
}

fn kubernetes(node: Node, problems: &mut Problems) -> Option<KubernetesDraft> {
    let mut fields = options(node, "kubernetes", problems)?;
    let draft = KubernetesDraft {
        place: fields.place.clone(),
        context: fields.text("context", problems),
        expose: fields.text("expose", problems),
        static_pod: fields.text("static", problems),
        placement: fields.text("placement", problems),
        services: fields.text("services", problems),
        probes: fields.text("probes", problems),
        replicas: fields.text("replicas", problems),
        requests: fields.take("requests").and_then(|node| amounts(node, "requests", problems)),
        user: fields.text("user", problems),
        manifests: fields.text("manifests", problems),
        workload: fields.text("workload", problems),
        load_from: fields.text("load_from", problems),
        observers: fields.text("observers", problems),
        agent_image: fields.text("agent_image", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
}
