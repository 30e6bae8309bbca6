//! From the tree of a YAML file to a draft: which keys stand where, and whether a value, a list or a map is due.

use super::draft::{
    CpuWords, CpusDraft, Draft, KindDraft, LayerDraft, LimitsDraft, LoadDraft, Located, PlanDraft,
    PlatformDraft, ReadyDraft, RequestDraft, RequestFields, ServiceDraft, Words,
};
use super::error::{Complaint, Place, Problem, Problems};
use super::node::{Fields, Node, Shape};

/// Reads the whole file; the problems are of shape only, what values mean is validated later.
pub(super) fn draft(root: Node) -> Result<Draft, Vec<Problem>> {
    let mut problems = Problems::default();
    let draft = root.fields("experiment", &mut problems).map(|fields| experiment(fields, &mut problems));
    problems.finish(draft)
}

fn experiment(mut fields: Fields, problems: &mut Problems) -> Draft {
    let draft = Draft {
        place: Place::File,
        name: fields.text("name", problems),
        question: fields.text("question", problems),
        service: fields.take("service").and_then(|node| service(node, problems)),
        services: fields.take("services").and_then(|node| list(node, "services", problems, service)),
        limits: fields.take("limits").and_then(|node| limits(node, problems)),
        platforms: fields.take("platforms").and_then(|node| list(node, "platforms", problems, platform)),
        loads: fields.take("loads").and_then(|node| list(node, "loads", problems, load)),
        plan: fields.take("plan").and_then(|node| plan(node, problems)),
        cpus: fields.take("cpus").and_then(|node| cpus(node, problems)),
    };
    fields.finish(&["claims"], problems);
    draft
}

/// A list whose elements are read by `element`.
fn list<T>(
    node: Node,
    what: &str,
    problems: &mut Problems,
    element: impl Fn(Node, &mut Problems) -> Option<T>,
) -> Option<Located<Vec<T>>> {
    let nodes = node.list(what, problems)?;
    let value = nodes.value.into_iter().filter_map(|node| element(node, problems)).collect();
    Some(Located { value, place: nodes.place })
}

fn service(node: Node, problems: &mut Problems) -> Option<ServiceDraft> {
    let mut fields = node.fields("service", problems)?;
    let draft = ServiceDraft {
        place: fields.place.clone(),
        name: fields.text("name", problems),
        builtin: fields.text("builtin", problems),
        args: fields.take("args").and_then(|node| words(node, "args", problems)),
        command: fields.take("command").and_then(|node| words(node, "command", problems)),
        env: fields.take("env").and_then(|node| node.text_map("env", problems)),
        port: fields.text("port", problems),
        requests: fields.take("requests").and_then(|node| list(node, "requests", problems, request)),
        ready: fields.take("ready").and_then(|node| ready(node, problems)),
    };
    fields.finish(&["image"], problems);
    Some(draft)
}

fn words(node: Node, what: &str, problems: &mut Problems) -> Option<Words> {
    match node.shape {
        Shape::List(_) => {
            list(node, what, problems, |node, problems| node.text(what, problems)).map(Words::List)
        }
        Shape::Scalar(_) => node.text(what, problems).map(Words::Line),
        _ => node.refuse(what, "a text or a list of texts", problems),
    }
}

fn request(node: Node, problems: &mut Problems) -> Option<RequestDraft> {
    if matches!(node.shape, Shape::Scalar(_)) {
        return node.text("requests", problems).map(RequestDraft::Line);
    }
    let mut fields = node.fields("request", problems)?;
    let draft = RequestFields {
        place: fields.place.clone(),
        method: fields.text("method", problems),
        path: fields.text("path", problems),
        headers: fields.take("headers").and_then(|node| node.text_map("headers", problems)),
        body: fields.text("body", problems),
        weight: fields.text("weight", problems),
    };
    fields.finish(&[], problems);
    Some(RequestDraft::Fields(Box::new(draft)))
}

fn ready(node: Node, problems: &mut Problems) -> Option<ReadyDraft> {
    let mut fields = node.fields("ready", problems)?;
    let draft = ReadyDraft {
        place: fields.place.clone(),
        http: fields.text("http", problems),
        within: fields.text("within", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
}

fn limits(node: Node, problems: &mut Problems) -> Option<LimitsDraft> {
    let mut fields = node.fields("limits", problems)?;
    let draft = LimitsDraft { cpu: fields.text("cpu", problems), memory: fields.text("memory", problems) };
    fields.finish(&[], problems);
    Some(draft)
}

fn platform(node: Node, problems: &mut Problems) -> Option<PlatformDraft> {
    let place = node.place.clone();
    if matches!(node.shape, Shape::Scalar(_)) {
        let kind = KindDraft::Word(node.text("platforms", problems)?);
        return Some(PlatformDraft { place, name: None, kind });
    }
    let before = problems.count();
    let mut fields = node.fields("platform", problems)?;
    let name = fields.text("name", problems);
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
    fields.finish(&["docker", "kubernetes", "ssh"], problems);
    if problems.count() > before {
        return None;
    }
    let complaint = match kinds.len() {
        1 => return kinds.pop().map(|kind| PlatformDraft { place, name, kind }),
        0 => Complaint::new("a platform without its kind"),
        _ => Complaint::new("a platform of several kinds"),
    };
    problems.add(&place, complaint.help("give it one of host, pod, container, local and external"));
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
            return Some(LayerDraft { name, backend: None, services: None });
        }
        Shape::Map(entries) => entries,
        _ => return node.refuse("layer", "a name or a map of one name to its options", problems),
    };
    let Ok([(name, options)]) = <[_; 1]>::try_from(entries) else {
        let complaint = Complaint::new("a layer must be one name with its options");
        problems.add(&node.place, complaint.help("begin each layer with its own `-`"));
        return None;
    };
    if name.value != "nodeport" {
        return without_options(&options, &name.value, problems).then_some(LayerDraft {
            name,
            backend: None,
            services: None,
        });
    }
    let mut fields = options.fields("nodeport", problems)?;
    let (backend, services) = (fields.text("backend", problems), fields.text("services", problems));
    fields.finish(&[], problems);
    Some(LayerDraft { name, backend, services })
}

fn load(node: Node, problems: &mut Problems) -> Option<LoadDraft> {
    let mut fields = node.fields("load", problems)?;
    let draft = LoadDraft {
        place: fields.place.clone(),
        rate: fields.text("rate", problems),
        arrivals: fields.text("arrivals", problems),
        closed: fields.text("closed", problems),
        connections: fields.text("connections", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
}

fn plan(node: Node, problems: &mut Problems) -> Option<PlanDraft> {
    let mut fields = node.fields("plan", problems)?;
    let draft = PlanDraft {
        slice: fields.text("slice", problems),
        blocks: fields.text("blocks", problems),
        deployments: fields.text("deployments", problems),
        seed: fields.text("seed", problems),
        until: fields.text("until", problems),
        within: fields.text("within", problems),
        twin: fields.text("twin", problems),
        isolation: fields.text("isolation", problems),
        interleave: fields.text("interleave", problems),
        warmup: fields.text("warmup", problems),
        repeats: fields.text("repeats", problems),
        margin: fields.text("margin", problems),
        on_failure: fields.text("on_failure", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
}

fn cpus(node: Node, problems: &mut Problems) -> Option<CpusDraft> {
    let mut fields = node.fields("cpus", problems)?;
    let draft = CpusDraft {
        service: fields.take("service").and_then(|node| cpu_words(node, "service", problems)),
        load: fields.take("load").and_then(|node| cpu_words(node, "load", problems)),
    };
    fields.finish(&[], problems);
    Some(draft)
}

/// A list, or a single number or range.
fn cpu_words(node: Node, what: &str, problems: &mut Problems) -> Option<CpuWords> {
    if matches!(node.shape, Shape::Scalar(_)) {
        let word = node.text(what, problems)?;
        return Some(Located { place: word.place.clone(), value: vec![word] });
    }
    list(node, what, problems, |node, problems| node.text(what, problems))
}

#[cfg(test)]
mod tests {
    use super::super::schema::experiment_schema;
    use super::super::yaml;

    /// The keys that the reader names when it meets an unknown one at `yaml`.
    fn keys_read(yaml: &str) -> Vec<String> {
        let problems = super::draft(yaml::parse(yaml).unwrap()).unwrap_err();
        let help = problems
            .iter()
            .find_map(|problem| problem.help.as_deref()?.strip_prefix("known here: "))
            .unwrap();
        help.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn the_schema_knows_the_keys_that_the_reader_knows() {
        let schema = experiment_schema();
        for (definition, yaml) in [
            ("", "{\"###\": 1}"),
            ("/$defs/Service", "service: {\"###\": 1}"),
            ("/$defs/RequestFields", "service: {requests: [{\"###\": 1}]}"),
            ("/$defs/Ready", "service: {ready: {\"###\": 1}}"),
            ("/$defs/Limits", "limits: {\"###\": 1}"),
            ("/$defs/PlatformFields", "platforms: [{\"###\": 1}]"),
            ("/$defs/NodePort", "platforms: [{local: [{nodeport: {\"###\": 1}}]}]"),
            ("/$defs/Load", "loads: [{\"###\": 1}]"),
            ("/$defs/Plan", "plan: {\"###\": 1}"),
            ("/$defs/Cpus", "cpus: {\"###\": 1}"),
        ] {
            let properties = schema.pointer(&format!("{definition}/properties")).expect(definition);
            let mut described: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
            let mut read = keys_read(yaml);
            described.sort();
            read.sort();
            assert_eq!(described, read, "{definition}");
        }
    }
}
