//! From the tree of a YAML file to a draft: which keys stand where, and whether a value, a list or a map is due.

mod claims;
mod platforms;

use super::draft::{
    CpuWords, CpusDraft, Draft, ImageDraft, ImageFields, LimitsDraft, LoadDraft, Located, PlanDraft,
    ReadyDraft, RequestDraft, RequestFields, ServiceDraft, Text, TlsDraft, Words,
};
use super::error::{Place, Problem, Problems};
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
        folder: None,
        name: fields.text("name", problems),
        question: fields.text("question", problems),
        service: fields.take("service").and_then(|node| service(node, problems)),
        services: fields.take("services").and_then(|node| list(node, "services", problems, service)),
        limits: fields.take("limits").and_then(|node| amounts(node, "limits", problems)),
        platforms: fields
            .take("platforms")
            .and_then(|node| list(node, "platforms", problems, platforms::platform)),
        loads: fields.take("loads").and_then(|node| list(node, "loads", problems, load)),
        plan: fields.take("plan").and_then(|node| plan(node, problems)),
        cpus: fields.take("cpus").and_then(|node| cpus(node, problems)),
        claims: fields.take("claims").and_then(|node| list(node, "claims", problems, claims::claim)),
    };
    fields.finish(&[], problems);
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
        image: fields.take("image").and_then(|node| image(node, problems)),
        env: fields.take("env").and_then(|node| node.text_map("env", problems)),
        port: fields.text("port", problems),
        requests: fields.take("requests").and_then(|node| list(node, "requests", problems, request)),
        feed: fields.text("feed", problems),
        expect: fields.take("expect").and_then(|node| one_or_more(node, "expect", problems)),
        https: fields.text("https", problems),
        tls: fields.take("tls").and_then(|node| tls(node, problems)),
        ready: fields.take("ready").and_then(|node| ready(node, problems)),
    };
    fields.finish(&[], problems);
    Some(draft)
}

fn image(node: Node, problems: &mut Problems) -> Option<ImageDraft> {
    if matches!(node.shape, Shape::Scalar(_)) {
        return node.text("image", problems).map(ImageDraft::Name);
    }
    let mut fields = node.fields("image", problems)?;
    let draft = ImageFields {
        place: fields.place.clone(),
        name: fields.text("name", problems),
        archive: fields.text("archive", problems),
        entrypoint: fields.take("entrypoint").and_then(|node| words(node, "entrypoint", problems)),
    };
    fields.finish(&[], problems);
    Some(ImageDraft::Fields(Box::new(draft)))
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

fn tls(node: Node, problems: &mut Problems) -> Option<TlsDraft> {
    let mut fields = node.fields("tls", problems)?;
    let draft = TlsDraft {
        place: fields.place.clone(),
        ca: fields.text("ca", problems),
        cert: fields.text("cert", problems),
        key: fields.text("key", problems),
        server_name: fields.text("server_name", problems),
        insecure: fields.text("insecure", problems),
        resumption: fields.text("resumption", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
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

/// CPUs and memory, the value of `key`.
fn amounts(node: Node, key: &str, problems: &mut Problems) -> Option<LimitsDraft> {
    let mut fields = node.fields(key, problems)?;
    let draft = LimitsDraft { cpu: fields.text("cpu", problems), memory: fields.text("memory", problems) };
    fields.finish(&[], problems);
    Some(draft)
}

fn load(node: Node, problems: &mut Problems) -> Option<LoadDraft> {
    let mut fields = node.fields("load", problems)?;
    let draft = LoadDraft {
        place: fields.place.clone(),
        rate: fields.text("rate", problems),
        replay: fields.text("replay", problems),
        arrivals: fields.text("arrivals", problems),
        closed: fields.text("closed", problems),
        think: fields.text("think", problems),
        connections: fields.text("connections", problems),
        new_connections: fields.text("new_connections", problems),
        requests_per_connection: fields.text("requests_per_connection", problems),
        http2: fields.text("http2", problems),
        streams: fields.text("streams", problems),
        timestamps: fields.text("timestamps", problems),
        timeout: fields.text("timeout", problems),
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
        nodes: fields.text("nodes", problems),
        profile: fields.text("profile", problems),
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

fn cpu_words(node: Node, what: &str, problems: &mut Problems) -> Option<CpuWords> {
    one_or_more(node, what, problems)
}

/// A list of texts, or a single one.
fn one_or_more(node: Node, what: &str, problems: &mut Problems) -> Option<Located<Vec<Text>>> {
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
            ("/$defs/Tls", "service: {tls: {\"###\": 1}}"),
            ("/$defs/Ready", "service: {ready: {\"###\": 1}}"),
            ("/$defs/Limits", "limits: {\"###\": 1}"),
            ("/$defs/PlatformFields", "platforms: [{\"###\": 1}]"),
            ("/$defs/ImageFields", "service: {image: {\"###\": 1}}"),
            ("/$defs/Docker", "platforms: [{docker: {\"###\": 1}}]"),
            ("/$defs/Kubernetes", "platforms: [{kubernetes: {\"###\": 1}}]"),
            ("/$defs/Claim", "claims: [{\"###\": 1}]"),
            ("/$defs/Where", "claims: [{where: {\"###\": 1}}]"),
            ("/$defs/NodePort", "platforms: [{local: [{nodeport: {\"###\": 1}}]}]"),
            ("/$defs/Sidecar", "platforms: [{local: [{sidecar: {\"###\": 1}}]}]"),
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
