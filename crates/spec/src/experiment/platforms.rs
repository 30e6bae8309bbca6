//! Platforms: presets, containers and pods, layers of the user's choice, and URLs of what already runs.

use std::net::{IpAddr, SocketAddr};

use loadline_model::PlatformId;
use loadline_model::platform::{Layer, Limits, preset};
use serde_json::json;

use super::docker::{self, DockerKeys};
use super::kubernetes::{self, KubernetesKeys};
use super::layers::{self, LayerKind};
use super::matrix::MatrixKind;
use super::names::{name, unique};
use super::{ExperimentKeys, cpus, limits, services, way_out};
use crate::error::{Complaint, Place, Problems, not_supported_yet, suggestion};
use crate::kinds::{List, NoOptions, Pairs, Scalar, Short, parsed, switch, text};
use crate::machine::Machine;
use crate::node::{Located, Text};
use crate::options::{Detail, Table, Written};
use crate::url::parse_platform_url;
use crate::{Nodes, Platform, PlatformKind};

/// The kinds, each a key.
pub(super) const KINDS: [&str; 7] = ["host", "pod", "container", "docker", "kubernetes", "local", "external"];
/// Kinds of later versions.
const LATER: [&str; 1] = ["ssh"];

/// What is written of a platform: exactly one kind, which the keys from `host` to `external` are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlatformKeys {
    name: Option<String>,
    above: Option<String>,
    top: bool,
    limits: Written<Limits>,
    cpus: Option<Vec<Text>>,
    env: Vec<(String, String)>,
    host: Option<()>,
    pod: Option<()>,
    container: Option<()>,
    local: Option<Vec<Located<Layer>>>,
    external: Option<String>,
    docker: Option<Written<DockerKeys>>,
    kubernetes: Option<Written<KubernetesKeys>>,
    matrix: Option<()>,
    /// Whether the kind is all that was written, as a word.
    is_word: bool,
}

pub(super) fn kind() -> List<Short<PlatformKeys>> {
    let element = Short {
        definition: "Platform",
        description: "Where the services run.",
        line_schema: json!({ "enum": KINDS[..5] }),
        read: |text, problems| text.read(problems, word),
        write: written_word,
        table: table(),
    };
    List { element, needs_one: true }
}

fn table() -> Table<PlatformKeys> {
    let url = Scalar::new(
        |text| Ok(text.trim().to_owned()),
        String::clone,
        json!({ "type": "string", "format": "uri" }),
    );
    let required: Vec<_> = KINDS.iter().map(|kind| json!({ "required": [kind] })).collect();
    Table::<PlatformKeys>::new("PlatformFields", "platform", "")
        .key("name", parsed(name), "Name in tables", |platform| &mut platform.name)
        .default("its kind and options")
        .key("above", text(), "Name of the platform that it is compared with", |platform| &mut platform.above)
        .default("the first")
        .key(
            "top",
            switch(),
            "The top of a ladder: the costs of the layers below it are added up and compared with the whole",
            |platform| &mut platform.top,
        )
        .key("limits", limits::table(), "What services may use here", |platform| &mut platform.limits)
        .default("their own limits, or the common ones")
        .key(
            "cpus",
            cpus::service_kind(),
            "CPUs that services are pinned to here: 0,2-3; all: they are not pinned",
            |platform| &mut platform.cpus,
        )
        .key(
            "env",
            Pairs(services::variable),
            "Environment variables of services here, over their own",
            |platform| &mut platform.env,
        )
        .key("host", NoOptions, "", |platform| &mut platform.host)
        .key("pod", NoOptions, "", |platform| &mut platform.pod)
        .key("container", NoOptions, "", |platform| &mut platform.container)
        .key(
            "local",
            List { element: LayerKind, needs_one: false },
            "A process behind layers of your choice",
            |platform| &mut platform.local,
        )
        .key("external", url, "Something that is already running: http://host:port", |platform| {
            &mut platform.external
        })
        .key("docker", docker::table(), "", |platform| &mut platform.docker)
        .key("kubernetes", kubernetes::table(), "", |platform| &mut platform.kubernetes)
        .key(
            "matrix",
            MatrixKind,
            "One platform with each combination of these values: {limits.cpu: [0.5, 1]}; `exclude` leaves some out",
            |platform| &mut platform.matrix,
        )
        .not_supported_yet(&LATER)
        .extra_schema(json!({ "oneOf": required }))
}

/// A platform that is written as its kind alone.
fn word(text: &str) -> Result<PlatformKeys, Complaint> {
    let mut keys = PlatformKeys { is_word: true, ..PlatformKeys::default() };
    match text.trim() {
        "host" => keys.host = Some(()),
        "pod" => keys.pod = Some(()),
        "container" => keys.container = Some(()),
        "docker" => keys.docker = Some(DockerKeys::default().into()),
        "kubernetes" => keys.kubernetes = Some(KubernetesKeys::default().into()),
        "local" => {
            return Err(Complaint::new("`local` needs its layers")
                .help("write {local: [cgroup, veth]}, or local:cgroup+veth on the command line"));
        }
        "external" => {
            return Err(Complaint::new("`external` needs its URL")
                .help("write {external: http://127.0.0.1:8080}, or the URL alone on the command line"));
        }
        later if LATER.contains(&later) => return Err(not_supported_yet(later)),
        url if url.contains("://") => {
            return Err(Complaint::new("a URL must be given as `external`")
                .help(format!("write {{external: {url}}}")));
        }
        other => {
            let complaint = Complaint::new(format!("there is no platform `{other}`"));
            return Err(complaint.help(suggestion(other, &KINDS)));
        }
    }
    Ok(keys)
}

/// The word that stands for a platform.
fn written_word(keys: &PlatformKeys) -> Option<String> {
    let is_this = |kind: &&&str| word(kind).is_ok_and(|word| word == *keys);
    KINDS[..5].iter().find(is_this).map(|kind| (*kind).to_owned())
}

impl PlatformKeys {
    /// What is written of a platform of an experiment. `all`: those that it may stand above.
    pub fn of(platform: &Platform, all: &[Platform], detail: Detail) -> PlatformKeys {
        let mut keys = PlatformKeys {
            above: platform.above.map(|id| all[id.0].name.clone()),
            top: platform.top,
            limits: platform.limits.into(),
            cpus: platform.cpus.as_ref().map(cpus::words_of),
            env: platform.env.clone(),
            ..PlatformKeys::default()
        };
        match &platform.kind {
            PlatformKind::Host => keys.host = Some(()),
            PlatformKind::Local(layers)
                if platform.name == "pod" && preset("pod").as_ref() == Some(layers) =>
            {
                keys.pod = Some(());
            }
            PlatformKind::Local(layers)
                if platform.name == "container" && preset("container").as_ref() == Some(layers) =>
            {
                keys.container = Some(());
            }
            PlatformKind::Local(layers) => keys.local = Some(layers::written(layers)),
            PlatformKind::Docker(docker) => keys.docker = Some(DockerKeys::of(docker).into()),
            PlatformKind::Kubernetes(pod) => keys.kubernetes = Some(KubernetesKeys::of(pod).into()),
            PlatformKind::External { url, .. } => keys.external = Some(url.clone()),
        }
        let as_word = PlatformKeys { is_word: true, ..keys.clone() };
        let has_word = written_word(&as_word).is_some_and(|word| word == platform.name);
        if has_word && detail == Detail::Essential {
            return as_word;
        }
        keys.name = Some(platform.name.clone()).filter(|name| *name != default_name(&keys, &platform.kind));
        keys
    }

    /// What its pods reserve.
    pub fn requests(&self) -> Option<&Written<Limits>> {
        self.kubernetes.as_ref()?.value.requests.as_ref()
    }

    /// The key of its kind, if there is exactly one.
    fn kind(&self) -> Result<&'static str, Complaint> {
        let is_written = [
            self.host.is_some(),
            self.pod.is_some(),
            self.container.is_some(),
            self.docker.is_some(),
            self.kubernetes.is_some(),
            self.local.is_some(),
            self.external.is_some(),
        ];
        let mut kinds = KINDS.iter().zip(is_written).filter(|(_, is_written)| *is_written);
        let complaint = match (kinds.next(), kinds.next()) {
            (Some((kind, _)), None) => return Ok(kind),
            (None, _) => "the platform has no kind",
            (Some(_), Some(_)) => "the platform has more than one kind",
        };
        let help = "give it exactly one of host, pod, container, docker, kubernetes, local and external";
        Err(Complaint::new(complaint).help(help))
    }
}

/// All platforms that are valid.
pub(super) fn platforms(
    keys: &Written<ExperimentKeys>,
    machine: &Machine,
    problems: &mut Problems,
) -> Vec<Platform> {
    let written = match &keys.value.platforms {
        Some(written) if !written.is_empty() => written,
        // What is wrong with them has been noted.
        None if keys.has("platforms") || keys.has_unknown => return Vec::new(),
        _ => {
            let help = way_out(&keys.place, "write `platforms: [host, pod]`", "write --on host --on pod");
            problems.add(keys.place_of("platforms"), Complaint::new("no platform is given").help(help));
            return Vec::new();
        }
    };
    let nodes = keys.value.plan.value.plan.nodes;
    let read: Vec<(Platform, &Place)> = written
        .iter()
        .filter_map(|written| Some((platform(written, machine, nodes, problems)?, written.place_of("name"))))
        .collect();
    let help = way_out(
        &keys.place,
        "give one a different `name`; to see the noise, keep the twin",
        "rename one with --on NAME=…; to see the noise, keep the twin",
    );
    unique(
        "platforms",
        read.iter().map(|(platform, place)| (platform.name.as_str(), *place)),
        help,
        problems,
    );
    let mut platforms: Vec<Platform> = read.into_iter().map(|(platform, _)| platform).collect();
    // Of a list with mistakes in it, what is written no longer stands beside its platform.
    if platforms.len() == written.len() {
        ladder(&mut platforms, written, problems);
    }
    platforms
}

/// What each platform stands above.
fn ladder(platforms: &mut [Platform], written: &[Written<PlatformKeys>], problems: &mut Problems) {
    for (at, written) in written.iter().enumerate() {
        if let Some(name) = &written.value.above {
            platforms[at].above = problems.note(written.place_of("above"), below(name, at, platforms));
        } else if written.value.top {
            let complaint = Complaint::new("the top of a ladder must be above another platform");
            problems.add(written.place_of("top"), complaint.help("write `above: NAME`, or leave `top` out"));
        }
    }
}

/// The platform of a name, which must stand before the one at `at`: so a ladder has no circles.
fn below(name: &str, at: usize, platforms: &[Platform]) -> Result<PlatformId, Complaint> {
    let names: Vec<&str> = platforms[..at].iter().map(|platform| platform.name.as_str()).collect();
    let found = names.iter().position(|earlier| *earlier == name.trim());
    found.map(PlatformId).ok_or_else(|| {
        Complaint::new(format!("no earlier platform is named `{}`", name.trim()))
            .help(suggestion(name.trim(), &names))
    })
}

fn platform(
    written: &Written<PlatformKeys>,
    machine: &Machine,
    nodes: Nodes,
    problems: &mut Problems,
) -> Option<Platform> {
    let before = problems.count();
    let keys = &written.value;
    let kind = match problems.note(&written.place, keys.kind())? {
        "host" => PlatformKind::Host,
        "docker" => PlatformKind::Docker(docker::docker(keys.docker.as_ref()?, problems)),
        "kubernetes" => PlatformKind::Kubernetes(kubernetes::kubernetes(keys.kubernetes.as_ref()?, problems)),
        "local" => PlatformKind::Local(layers::layers(
            keys.local.as_ref()?,
            written.place_of("local"),
            nodes,
            problems,
        )?),
        "external" => {
            let url = Text { value: keys.external.clone()?, place: written.place_of("external").clone() };
            external(&url, machine, problems)?
        }
        word => PlatformKind::Local(preset(word)?),
    };
    if problems.count() > before {
        return None;
    }
    let name = keys.name.clone().unwrap_or_else(|| default_name(keys, &kind));
    let cpus = match &keys.cpus {
        Some(words) => Some(cpus::service_cpus(words, written.place_of("cpus"), machine, problems)?),
        None => None,
    };
    let (limits, env) = (keys.limits.value, keys.env.clone());
    Some(Platform { top: keys.top, limits, cpus, env, ..Platform::new(name, kind) })
}

/// What a platform is called that has no name of its own.
fn default_name(keys: &PlatformKeys, kind: &PlatformKind) -> String {
    match kind {
        PlatformKind::Docker(_) if keys.is_word => "docker".to_owned(),
        PlatformKind::Kubernetes(_) if keys.is_word => "kubernetes".to_owned(),
        PlatformKind::Docker(docker) => docker::default_name(docker),
        PlatformKind::Kubernetes(pod) => kubernetes::default_name(pod),
        PlatformKind::Host => "host".to_owned(),
        PlatformKind::Local(_) if keys.pod.is_some() => "pod".to_owned(),
        PlatformKind::Local(_) if keys.container.is_some() => "container".to_owned(),
        PlatformKind::Local(layers) => layers.iter().map(layers::short).collect::<Vec<_>>().join("+"),
        PlatformKind::External { url, .. } => url.clone(),
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
        let complaint = Complaint::new(format!("cannot resolve the name `{}`", target.host));
        problems.add(&url.place, complaint.help("check the spelling, or write the address"));
        return None;
    };
    Some(PlatformKind::External { url: url.value.clone(), address: *address, authority: target.authority })
}
