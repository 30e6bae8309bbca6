//! Flags of the command line, as typed, turned into the same draft that a file makes.

use super::Experiment;
use super::draft::{
    CpuWords, CpusDraft, DockerDraft, Draft, ImageDraft, KindDraft, KubernetesDraft, LayerDraft, LimitsDraft,
    LoadDraft, Located, PlanDraft, PlatformDraft, ReadyDraft, RequestDraft, ServiceDraft, Text, TlsDraft,
    Words,
};
use super::error::{Place, Problems, SpecError};
use super::machine::Machine;
use super::validate;
use super::words::split;

/// The flags that describe an experiment, every value as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--service`, repeatable: a built-in service with its arguments, `orders --delay 200us`.
    pub services: Vec<String>,
    /// `--command`, repeatable: a command line with `{port}`.
    pub commands: Vec<String>,
    /// `--request`, repeatable: `GET /path` or `/path`, for all services.
    pub requests: Vec<String>,
    /// `--image`: what a container platform starts.
    pub image: Option<String>,
    /// `--on`, repeatable: `host`, `pod`, `container`, `local:cgroup+veth`, `docker:host`, `kubernetes:podIP+other-node`, `http://…`, each with `NAME=` before it if
    /// it is to be called otherwise.
    pub on: Vec<String>,
    /// `--rate`, repeatable: `2000/s`.
    pub rates: Vec<String>,
    /// `--closed`: a closed loop, beside the rates if there are any.
    pub closed: bool,
    /// `--connections`
    pub connections: Option<String>,
    /// `--think`: a duration, of the closed loop.
    pub think: Option<String>,
    /// `--new-connections`
    pub new_connections: bool,
    /// `--http2`
    pub http2: bool,
    /// `--streams`
    pub streams: Option<String>,
    /// `--timeout`: a duration.
    pub timeout: Option<String>,
    /// `--feed`: a CSV file.
    pub feed: Option<String>,
    /// `--expect`, repeatable: a check.
    pub expect: Vec<String>,
    /// `--https`: what is started speaks it.
    pub https: bool,
    /// `--ca`: a PEM file.
    pub ca: Option<String>,
    /// `--cert`: a PEM file.
    pub cert: Option<String>,
    /// `--key`: a PEM file.
    pub key: Option<String>,
    /// `--sni`: a server's name.
    pub server_name: Option<String>,
    /// `--insecure`
    pub insecure: bool,
    /// `--arrivals`: `poisson` or `uniform`.
    pub arrivals: Option<String>,
    /// `--nodes`: `shared` or `own`.
    pub nodes: Option<String>,
    /// `--limit-cpu`: number of CPUs.
    pub limit_cpu: Option<String>,
    /// `--limit-memory`: `512Mi`.
    pub limit_memory: Option<String>,
    /// `--slice`: a duration.
    pub slice: Option<String>,
    /// `--blocks`
    pub blocks: Option<String>,
    /// `--deployments`
    pub deployments: Option<String>,
    /// `--seed`
    pub seed: Option<String>,
    /// `--until`: `1%`.
    pub until: Option<String>,
    /// `--within`: a duration.
    pub within: Option<String>,
    /// `--margin`: `2%`.
    pub margin: Option<String>,
    /// `--no-twin`
    pub no_twin: bool,
    /// `--service-cpus`: `0,2-3`.
    pub service_cpus: Option<String>,
    /// `--load-cpus`: `0,2-3`.
    pub load_cpus: Option<String>,
    /// `--ready`: a path.
    pub ready: Option<String>,
    /// `--isolation`: `shared` or `exclusive`.
    pub isolation: Option<String>,
    /// `--interleave`: `auto`, `slices` or `requests`.
    pub interleave: Option<String>,
    /// `--on-failure`: `end` or `continue`.
    pub on_failure: Option<String>,
    /// `--warmup`: a duration.
    pub warmup: Option<String>,
    /// `--repeats`
    pub repeats: Option<String>,
}

/// Makes an experiment of flags.
///
/// # Errors
/// When the flags aren't a valid experiment on this machine.
pub fn from_flags(flags: &Flags, machine: &Machine) -> Result<Experiment, SpecError> {
    let mut problems = Problems::default();
    let draft = draft(flags, &mut problems);
    problems
        .finish(Some(draft))
        .and_then(|draft| validate::experiment(&draft, machine))
        .map_err(SpecError::without_text)
}

pub(super) fn draft(flags: &Flags, problems: &mut Problems) -> Draft {
    Draft {
        place: Place::CommandLine,
        folder: None,
        name: None,
        question: None,
        service: None,
        services: several("--service", services(flags, problems)),
        limits: Some(LimitsDraft {
            cpu: one("--limit-cpu", &flags.limit_cpu),
            memory: one("--limit-memory", &flags.limit_memory),
        }),
        platforms: several("--on", flags.on.iter().map(|text| platform(text)).collect()),
        loads: several("--rate", loads(flags)),
        plan: Some(PlanDraft {
            slice: one("--slice", &flags.slice),
            blocks: one("--blocks", &flags.blocks),
            deployments: one("--deployments", &flags.deployments),
            seed: one("--seed", &flags.seed),
            until: one("--until", &flags.until),
            within: one("--within", &flags.within),
            twin: flags.no_twin.then(|| Located { value: "false".to_owned(), place: place("--no-twin", "") }),
            isolation: one("--isolation", &flags.isolation),
            interleave: one("--interleave", &flags.interleave),
            warmup: one("--warmup", &flags.warmup),
            repeats: one("--repeats", &flags.repeats),
            margin: one("--margin", &flags.margin),
            on_failure: one("--on-failure", &flags.on_failure),
            nodes: one("--nodes", &flags.nodes),
            profile: None,
        }),
        cpus: Some(CpusDraft {
            service: cpu_words("--service-cpus", &flags.service_cpus),
            load: cpu_words("--load-cpus", &flags.load_cpus),
        }),
        claims: None,
    }
}

fn services(flags: &Flags, problems: &mut Problems) -> Vec<ServiceDraft> {
    let mut drafts = Vec::new();
    for line in &flags.services {
        let place = place("--service", line);
        let Some(words) = problems.note(&place, split(line)) else { continue };
        let mut words = words.into_iter().map(|value| Located { value, place: place.clone() });
        // An empty line is left to validation, which knows the names to choose from.
        let builtin = words.next().unwrap_or(Located { value: String::new(), place: place.clone() });
        let args = Words::List(Located { value: words.collect(), place: place.clone() });
        drafts.push(service(flags, place, Some(builtin), Some(args), None));
    }
    for line in &flags.commands {
        let command = text("--command", line);
        drafts.push(service(flags, command.place.clone(), None, None, Some(Words::Line(command))));
    }
    let is_described = !flags.requests.is_empty()
        || flags.ready.is_some()
        || flags.image.is_some()
        || flags.feed.is_some()
        || !flags.expect.is_empty()
        || flags.https
        || tls(flags).is_some();
    if drafts.is_empty() && is_described {
        drafts.push(service(flags, Place::CommandLine, None, None, None));
    }
    drafts
}

fn service(
    flags: &Flags,
    place: Place,
    builtin: Option<Text>,
    args: Option<Words>,
    command: Option<Words>,
) -> ServiceDraft {
    let requests = flags.requests.iter().map(|line| RequestDraft::Line(text("--request", line))).collect();
    let http = one("--ready", &flags.ready);
    ServiceDraft {
        place,
        name: None,
        builtin,
        args,
        command,
        image: one("--image", &flags.image).map(ImageDraft::Name),
        env: None,
        port: None,
        requests: several("--request", requests),
        feed: one("--feed", &flags.feed),
        expect: several("--expect", flags.expect.iter().map(|check| text("--expect", check)).collect()),
        https: switched_on("--https", flags.https),
        tls: tls(flags),
        ready: http.map(|http| ReadyDraft { place: http.place.clone(), http: Some(http), within: None }),
    }
}

fn tls(flags: &Flags) -> Option<TlsDraft> {
    let files = [("--ca", &flags.ca), ("--cert", &flags.cert), ("--key", &flags.key)];
    let insecure = switched_on("--insecure", flags.insecure);
    let server_name = one("--sni", &flags.server_name);
    let [ca, cert, key] = files.map(|(name, value)| one(name, value));
    let given = [&ca, &cert, &key, &server_name, &insecure].into_iter().flatten().next()?.place.clone();
    Some(TlsDraft { place: given, ca, cert, key, server_name, insecure, resumption: None })
}

fn switched_on(name: &'static str, is_on: bool) -> Option<Text> {
    is_on.then(|| Located { value: "true".to_owned(), place: place(name, "") })
}

/// `[NAME=]KIND`; a name has no colon or slash before the `=`, so that a URL may hold one.
fn platform(typed: &str) -> PlatformDraft {
    let place = place("--on", typed);
    let at = |value: &str| Located { value: value.trim().to_owned(), place: place.clone() };
    let (name, kind) = match typed.split_once('=') {
        Some((name, kind)) if !name.contains([':', '/']) => (Some(at(name)), kind),
        _ => (None, typed),
    };
    let kind = if let Some(layers) = kind.strip_prefix("local:") {
        layer_list(layers, &place)
    } else if let Some(options) = kind.strip_prefix("docker:") {
        KindDraft::Docker(Box::new(docker(&place, options)))
    } else if let Some(options) = kind.strip_prefix("kubernetes:") {
        KindDraft::Kubernetes(Box::new(kubernetes(&place, options)))
    } else if kind.contains("://") {
        KindDraft::External(at(kind))
    } else {
        KindDraft::Word(at(kind))
    };
    PlatformDraft { name, ..PlatformDraft::of(kind, place.clone()) }
}

/// Layers of one's own choice, as `flag` was given them: `cgroup+veth`.
pub(super) fn local(flag: &'static str, layers: &str) -> PlatformDraft {
    let place = place(flag, layers);
    PlatformDraft::of(layer_list(layers, &place), place)
}

fn layer_list(layers: &str, place: &Place) -> KindDraft {
    let at = |value: &str| Located { value: value.trim().to_owned(), place: place.clone() };
    let layers = layers.split('+').filter(|layer| !layer.trim().is_empty());
    let value = layers.map(|layer| layer_draft(layer, &at)).collect();
    KindDraft::Local(Located { value, place: place.clone() })
}

/// `veth`, or `rules=20000`.
fn layer_draft(layer: &str, at: &impl Fn(&str) -> Text) -> LayerDraft {
    match layer.split_once('=') {
        Some((name, value)) => LayerDraft { value: Some(at(value)), ..LayerDraft::named(at(name)) },
        None => LayerDraft::named(at(layer)),
    }
}

/// `NETWORK[+PUBLISH]`, in any order.
fn docker(place: &Place, options: &str) -> DockerDraft {
    let mut draft =
        DockerDraft { place: place.clone(), network: None, publish: None, user: None, mounts: None };
    for word in words(place, options) {
        // `none` is a way to publish; no network at all is `none-with-wire`.
        let is_publish = ["port", "userland-proxy", "none"].contains(&word.value.as_str());
        let field = if is_publish { &mut draft.publish } else { &mut draft.network };
        *field = Some(word);
    }
    draft
}

/// `EXPOSE[+static][+other-node]`, in any order.
fn kubernetes(place: &Place, options: &str) -> KubernetesDraft {
    let mut draft = KubernetesDraft::empty(place.clone());
    for word in words(place, options) {
        match word.value.as_str() {
            "static" => draft.static_pod = Some(Located { value: "true".to_owned(), place: place.clone() }),
            "same-node" | "other-node" => draft.placement = Some(word),
            _ => draft.expose = Some(word),
        }
    }
    draft
}

fn words(place: &Place, options: &str) -> Vec<Text> {
    let words = options.split('+').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| Located { value: word.to_owned(), place: place.clone() }).collect()
}

fn loads(flags: &Flags) -> Vec<LoadDraft> {
    let arrivals = one("--arrivals", &flags.arrivals);
    let common = |place: Place| LoadDraft {
        connections: one("--connections", &flags.connections),
        new_connections: switched_on("--new-connections", flags.new_connections),
        http2: switched_on("--http2", flags.http2),
        streams: one("--streams", &flags.streams),
        timeout: one("--timeout", &flags.timeout),
        ..LoadDraft::empty(place)
    };
    let think = one("--think", &flags.think);
    let mut drafts = Vec::new();
    for rate in &flags.rates {
        let rate = text("--rate", rate);
        drafts.push(LoadDraft {
            rate: Some(rate.clone()),
            arrivals: arrivals.clone(),
            // With a closed loop beside it the think time is meant for that.
            think: if flags.closed { None } else { think.clone() },
            ..common(rate.place.clone())
        });
    }
    if flags.closed {
        let place = place("--closed", "");
        drafts.push(LoadDraft {
            // With rates beside it the arrivals are meant for those.
            arrivals: if flags.rates.is_empty() { arrivals } else { None },
            closed: Some(Located { value: "true".to_owned(), place: place.clone() }),
            think,
            ..common(place)
        });
    }
    drafts
}

fn cpu_words(flag: &'static str, typed: &Option<String>) -> Option<CpuWords> {
    let typed = typed.as_deref()?;
    let place = place(flag, typed);
    let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
    let value = words.map(|word| Located { value: word.to_owned(), place: place.clone() }).collect();
    Some(Located { value, place })
}

fn place(name: &'static str, value: &str) -> Place {
    Place::Flag { name, value: value.to_owned() }
}

fn text(name: &'static str, value: &str) -> Text {
    Located { value: value.to_owned(), place: place(name, value) }
}

fn one(name: &'static str, value: &Option<String>) -> Option<Text> {
    value.as_deref().map(|value| text(name, value))
}

/// The values of a repeatable flag; `None` if it wasn't there.
pub(super) fn several<T>(name: &'static str, values: Vec<T>) -> Option<Located<Vec<T>>> {
    (!values.is_empty()).then(|| Located { value: values, place: place(name, "") })
}
