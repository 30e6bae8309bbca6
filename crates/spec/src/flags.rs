//! Flags of the command line, as typed, turned into the same tree that a file is read into.

mod known;
mod several;
mod vary;

use crate::error::{Complaint, Place, Problems, SpecError};
use crate::experiment::{self, PLACEMENTS, PUBLISHING, load_from_flags, service_from_flags};
use crate::http;
use crate::machine::Machine;
use crate::node::{Node, Shape};
use crate::words::split;
use crate::{Experiment, Service};
use several::{OF_LOADS, OF_PLATFORMS, apart, combinations};
use vary::Filled;

/// Platforms that are one word.
const KINDS: [&str; 5] = ["host", "pod", "container", "docker", "kubernetes"];

/// The flags that describe an experiment, every value as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--service`, repeatable: a built-in service with its arguments, `orders --delay 200us`, or a reference service with its mode,
    /// `quarkus virtual`.
    pub services: Vec<String>,
    /// `--command`, repeatable: a command line with `{port}`, and `NAME: ` before it if it is to be called something.
    pub commands: Vec<String>,
    /// `--vary`, repeatable: `threads=1,4`, for the services whose lines have `{threads}`.
    pub vary: Vec<String>,
    /// `--request`, repeatable: `GET /path` or `/path`, for all services.
    pub requests: Vec<String>,
    /// `--header`, repeatable: `Name: value`, for all requests.
    pub headers: Vec<String>,
    /// `--body`: for all requests that have one.
    pub body: Option<String>,
    /// `--expect`, repeatable: a check of responses, for all services.
    pub expect: Vec<String>,
    /// `--on`, repeatable: `host`, `pod`, `container`, `local:cgroup+veth`, `docker:host`, `kubernetes:podIP+other-node`, `http://…`, each with `NAME=` before it if
    /// it is to be called otherwise.
    pub on: Vec<String>,
    /// `--rate`, repeatable: `2000/s`.
    pub rates: Vec<String>,
    /// `--objective`, repeatable: `p99 <= 50ms`; given (even if none is), a search begins at each rate.
    pub objectives: Option<Vec<String>>,
    /// `--closed`: a closed loop, beside the rates if there are any.
    pub closed: bool,
    /// The flags of single keys, those that [`flags`](crate::flags) lists: name with its dashes, and value; that of a switch is empty.
    pub options: Vec<(String, String)>,
}

impl Flags {
    /// With the flag of a key: `("--blocks", "3")`.
    pub fn with(mut self, flag: &str, value: &str) -> Flags {
        self.options.retain(|(name, _)| name != flag);
        self.options.push((flag.to_owned(), value.to_owned()));
        self
    }

    /// Whether the flag of a key was given.
    pub fn has(&self, flag: &str) -> bool {
        self.options.iter().any(|(name, _)| name == flag)
    }

    /// With a flag of a key, unless it was given.
    pub(crate) fn or(self, flag: &str, value: &str) -> Flags {
        if self.has(flag) { self } else { self.with(flag, value) }
    }
}

/// Makes an experiment of flags.
///
/// # Errors
/// When the flags are not a valid experiment on this machine.
pub fn from_flags(flags: &Flags, machine: &Machine) -> Result<Experiment, SpecError> {
    let tree = tree(flags, machine).map_err(SpecError::without_text)?;
    experiment::experiment(tree, None, machine).map_err(SpecError::without_text)
}

/// Makes an experiment of flags for a known service. The flags name no other; what they say of services wins over what is known of this one,
/// key by key.
///
/// # Errors
/// When this is not a valid experiment on this machine.
pub fn from_flags_for(service: &Service, flags: &Flags, machine: &Machine) -> Result<Experiment, SpecError> {
    let tree = known::tree_for(service, flags, machine).map_err(SpecError::without_text)?;
    experiment::experiment(tree, None, machine).map_err(SpecError::without_text)
}

/// What the flags say, as a file would.
pub(crate) fn tree(flags: &Flags, machine: &Machine) -> Result<Node, Vec<crate::Problem>> {
    let mut problems = Problems::default();
    let known = experiment::flags();
    debug_assert!(
        flags.options.iter().all(|(name, _)| known.iter().any(|flag| flag.name == name)),
        "a flag of no key: {:?}",
        flags.options
    );
    let mut tree = Node::map([], Place::CommandLine);
    let lists = [
        ("services", "--service", services(flags, machine, &mut problems)),
        ("platforms", "--on", platforms(flags)),
        ("loads", "--rate", loads(flags)),
    ];
    for (key, flag, nodes) in lists {
        set_list(&mut tree, key, flag, nodes);
    }
    // What has several values is each platform's own.
    let common = flags.options.iter().filter(|(name, value)| !(is_of_platforms(name) && value.contains(',')));
    tree.extend(experiment::from_flags(&common.cloned().collect::<Vec<_>>()));
    if let Some(objectives) = &flags.objectives {
        let place = place("--objective", "");
        let mut search = tree.get_mut("capacity").map_or_else(|| Node::map([], place), |node| node.clone());
        let objectives = objectives.iter().map(|text| scalar("--objective", text)).collect();
        set_list(&mut search, "objectives", "--objective", objectives);
        tree.set("capacity", search);
    }
    problems.finish(Some(tree))
}

/// Sets a list of what a repeatable flag gave, if it was there.
pub(crate) fn set_list(tree: &mut Node, key: &str, flag: &'static str, nodes: Vec<Node>) {
    if !nodes.is_empty() {
        tree.set(key, Node::list(nodes, place(flag, "")));
    }
}

/// The service that the words of a `--service` name: a built-in one with its arguments, or a reference service with its mode.
fn with_start(words: &[String], mut service: Node, machine: &Machine, problems: &mut Problems) -> Node {
    let place = service.place.clone();
    let node = |word: &String| Node::scalar(word, place.clone());
    // An empty line is left to validation, which knows the names to choose from.
    let (name, rest) =
        words.split_first().map_or((String::new(), words), |(name, rest)| (name.clone(), rest));
    if !experiment::is_reference(&name, machine) {
        service.set("builtin", node(&name));
        service.set("args", Node::list(rest.iter().map(node).collect(), place.clone()));
        return service;
    }
    service.set("reference", node(&name));
    match rest {
        [] => {}
        [mode] => service.set("mode", node(mode)),
        [_, more, ..] => {
            let complaint =
                Complaint::new(format!("`{name}` has a mode and no arguments: `{more}` is too much"));
            problems.add(&place, complaint.help(format!("write '{name} MODE'")));
        }
    }
    service
}

fn services(flags: &Flags, machine: &Machine, problems: &mut Problems) -> Vec<Node> {
    let headers: Vec<(String, Node)> =
        flags.headers.iter().filter_map(|line| header(line, problems)).collect();
    let common = || {
        let mut service = service_from_flags(&flags.options);
        if !headers.is_empty() {
            service.set(
                "headers",
                Node::map(
                    headers.iter().map(|(name, value)| (name.as_str(), value.clone())),
                    place("--header", ""),
                ),
            );
        }
        if let Some(body) = &flags.body {
            service.set("body", scalar("--body", body));
        }
        let requests = flags.requests.iter().map(|line| scalar("--request", line)).collect();
        set_list(&mut service, "requests", "--request", requests);
        let expect = flags.expect.iter().map(|check| scalar("--expect", check)).collect();
        set_list(&mut service, "expect", "--expect", expect);
        service
    };
    let lines: Vec<&String> = flags.services.iter().chain(&flags.commands).collect();
    let varied = vary::varied(&flags.vary, &lines, problems);
    let mut services = Vec::new();
    for Filled { line, .. } in flags.services.iter().flat_map(|line| vary::fill(line, &varied)) {
        let place = place("--service", &line);
        let Some(words) = problems.note(&place, split(&line)) else { continue };
        services.push(with_start(&words, Node { place, ..common() }, machine, problems));
    }
    for Filled { line, apart } in flags.commands.iter().flat_map(|line| vary::fill(line, &varied)) {
        let place = place("--command", &line);
        let (name, command) = named(&line);
        let mut service = Node { place: place.clone(), ..common() };
        service.set("command", Node::scalar(command, place.clone()));
        // Of the same program several times, the values alone tell which is which.
        let name = name
            .map(|name| format!("{name}{apart}"))
            .or((!apart.is_empty()).then(|| apart.trim().to_owned()));
        if let Some(name) = name {
            service.set("name", Node::scalar(name, place));
        }
        services.push(service);
    }
    let common = common();
    if services.is_empty() && !common.is_empty() {
        services.push(common);
    }
    services
}

/// `NAME: COMMAND`, as `old: ./svc-v1 -p {port}`; a name is one word, and a space follows its colon.
fn named(line: &str) -> (Option<&str>, &str) {
    match line.split_once(": ") {
        Some((name, command)) if !name.trim().is_empty() && !name.trim().contains(char::is_whitespace) => {
            (Some(name.trim()), command)
        }
        _ => (None, line),
    }
}

/// The name of a header and its value.
fn header(line: &str, problems: &mut Problems) -> Option<(String, Node)> {
    let place = place("--header", line);
    let (name, value) = problems.note(&place, http::split_header(line))?;
    Some((name.to_owned(), Node::scalar(value, place)))
}

/// Each platform, once for each combination of limits that there are several of.
fn platforms(flags: &Flags) -> Vec<Node> {
    let dimensions: [&str; 2] = OF_PLATFORMS.map(|(flag, _)| flag);
    let combinations = combinations(&flags.options, &dimensions);
    let with_limits = |typed: &String| {
        let limited = |options: &Vec<(String, String)>| match apart(&flags.options, options) {
            Some(apart) => with_own_limits(platform(typed), typed, options, &apart),
            None => platform(typed),
        };
        combinations.iter().map(limited).collect::<Vec<Node>>()
    };
    flags.on.iter().flat_map(with_limits).collect()
}

fn is_of_platforms(flag: &str) -> bool {
    OF_PLATFORMS.iter().any(|(name, _)| *name == flag)
}

/// A platform with limits of its own, which its name tells.
fn with_own_limits(mut platform: Node, typed: &str, options: &[(String, String)], apart: &str) -> Node {
    let place = platform.place.clone();
    let name = match platform.get_mut("name").map(|name| &name.shape) {
        Some(Shape::Scalar(name)) => name.clone(),
        _ => typed.trim().to_owned(),
    };
    let mut platform = match &platform.shape {
        // What is no kind is left to validation as it is.
        Shape::Scalar(kind) if KINDS.contains(&kind.as_str()) => {
            let kind = kind.clone();
            Node::map([(kind.as_str(), Node::map([], place.clone()))], place.clone())
        }
        Shape::Scalar(_) => return platform,
        _ => platform,
    };
    let limits =
        [("cpu", "--limit-cpu"), ("memory", "--limit-memory")].into_iter().filter_map(|(key, flag)| {
            let (_, value) = options.iter().find(|(name, _)| name == flag)?;
            Some((key, scalar(flag, value)))
        });
    platform.set("limits", Node::map(limits.collect::<Vec<_>>(), place.clone()));
    platform.set("name", Node::scalar(format!("{name} {apart}"), place));
    platform
}

/// `[NAME=]KIND`; a name has no colon or slash before the `=`, so that a URL may contain one.
fn platform(typed: &str) -> Node {
    let place = place("--on", typed);
    let (name, kind) = match typed.split_once('=') {
        Some((name, kind)) if !name.contains([':', '/']) => (Some(name), kind),
        _ => (None, typed),
    };
    let of = |key, node| Node::map([(key, node)], place.clone());
    let mut platform = if let Some(layers) = kind.strip_prefix("local:") {
        layer_path(layers, &place)
    } else if let Some(options) = kind.strip_prefix("docker:") {
        of("docker", docker(&place, options))
    } else if let Some(options) = kind.strip_prefix("kubernetes:") {
        of("kubernetes", kubernetes(&place, options))
    } else if kind.contains("://") {
        of("external", Node::scalar(kind.trim(), place.clone()))
    } else {
        let word = Node::scalar(kind.trim(), place.clone());
        match (name, kind.trim()) {
            (None, _) => return word,
            // With a name it is a map; what is no kind is left to validation as it is.
            (Some(_), word) if KINDS.contains(&word) => of(word, Node::map([], place.clone())),
            (Some(_), _) => return word,
        }
    };
    if let Some(name) = name {
        platform.set("name", Node::scalar(name.trim(), place));
    }
    platform
}

/// Layers of the user's choice, as `flag` was given them: `cgroup+veth`.
pub(crate) fn local(flag: &'static str, layers: &str) -> Node {
    layer_path(layers, &place(flag, layers))
}

fn layer_path(layers: &str, place: &Place) -> Node {
    let words: Vec<&str> = layers.split('+').map(str::trim).filter(|layer| !layer.is_empty()).collect();
    let list = Node::list(words.iter().map(|word| layer(word, place)).collect(), place.clone());
    let mut platform = Node::map([("local", list)], place.clone());
    // The name tells what the layer's own does not.
    if words.iter().any(|word| option_of(word).is_some()) {
        platform.set("name", Node::scalar(words.join("+"), place.clone()));
    }
    platform
}

/// `veth`, `rules=20000`, `nodeport=nftables` or `sidecar=envoy`.
fn layer(word: &str, place: &Place) -> Node {
    let Some((name, value)) = word.split_once('=') else { return Node::scalar(word, place.clone()) };
    let value = Node::scalar(value.trim(), place.clone());
    let value = match option_of(word) {
        Some(option) => Node::map([(option, value)], place.clone()),
        None => value,
    };
    Node::map([(name.trim(), value)], place.clone())
}

/// The option that the value of a layer on the command line is for.
fn option_of(word: &str) -> Option<&'static str> {
    match word.split_once('=')?.0.trim() {
        "nodeport" => Some("backend"),
        "sidecar" => Some("proxy"),
        _ => None,
    }
}

/// `NETWORK[+PUBLISH]`, in any order.
fn docker(place: &Place, options: &str) -> Node {
    let mut docker = Node::map([], place.clone());
    for word in words(options) {
        // `none` is a way to publish; no network at all is `none-with-wire`.
        let is_publish = PUBLISHING.iter().any(|(name, _)| *name == word);
        docker.set(if is_publish { "publish" } else { "network" }, Node::scalar(word, place.clone()));
    }
    docker
}

/// `EXPOSE[+static][+other-node]`, in any order.
fn kubernetes(place: &Place, options: &str) -> Node {
    let mut pod = Node::map([], place.clone());
    for word in words(options) {
        let (key, value) = match word {
            "static" => ("static", "true"),
            _ if PLACEMENTS.iter().any(|(name, _)| *name == word) => ("placement", word),
            _ => ("expose", word),
        };
        pod.set(key, Node::scalar(value, place.clone()));
    }
    pod
}

fn words(options: &str) -> impl Iterator<Item = &str> {
    options.split('+').map(str::trim).filter(|word| !word.is_empty())
}

fn loads(flags: &Flags) -> Vec<Node> {
    combinations(&flags.options, &OF_LOADS).iter().flat_map(|options| loads_with(flags, options)).collect()
}

/// The rates and the closed loop with these options.
fn loads_with(flags: &Flags, options: &[(String, String)]) -> Vec<Node> {
    let common = || load_from_flags(options);
    let mut loads: Vec<Node> = flags
        .rates
        .iter()
        .map(|typed| {
            let rate = scalar("--rate", typed);
            let mut load = Node { place: rate.place.clone(), ..common() };
            load.set("rate", rate);
            if flags.closed {
                // With a closed loop beside it the think time is meant for that.
                load.remove("think");
            }
            load
        })
        .collect();
    if flags.closed {
        let place = place("--closed", "");
        let mut load = Node { place: place.clone(), ..common() };
        load.set("closed", Node::scalar("true", place));
        if !flags.rates.is_empty() {
            // With rates beside it the arrivals are meant for those.
            load.remove("arrivals");
        }
        loads.push(load);
    }
    loads
}

fn place(name: &'static str, value: &str) -> Place {
    Place::Flag { name, value: value.to_owned() }
}

fn scalar(name: &'static str, value: &str) -> Node {
    Node::scalar(value, place(name, value))
}
