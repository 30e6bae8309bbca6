//! Layers of a local platform: which there are, and what each stands on.
//!
//! The platform checks its layers once more when it deploys; here the mistake has a place in the file.

use std::path::PathBuf;

use loadline_model::platform::{Backend, Layer, Proxy, Sidecar, Sides, check_layers};
use serde_json::{Value, json};

use crate::Nodes;
use crate::error::{Complaint, Place, Problems, suggestion};
use crate::kinds::{NoOptions, choice, count};
use crate::node::{Located, Node, Shape, Text};
use crate::options::{Detail, Kind, Table};
use crate::schema::Definitions;
use crate::units::parse_count;

/// Most services of a node port's rules; the platform has addresses for no more.
const MAX_SERVICES: u64 = 20_000;
/// Most rules without a match: beyond, a packet takes longer than a request may.
const MAX_RULES: u64 = 100_000;
/// Most rounds of a spinning program: some milliseconds for each packet.
const MAX_LOOPS: u64 = 1_000_000;

const BACKENDS: [(&str, Backend); 2] = [("iptables", Backend::Iptables), ("nftables", Backend::Nftables)];
const PROXIES: [(&str, Proxy); 3] =
    [("haproxy", Proxy::Haproxy), ("nginx", Proxy::Nginx), ("envoy", Proxy::Envoy)];
const SIDES: [(&str, Sides); 3] =
    [("service", Sides::Service), ("both", Sides::Both), ("both-mtls", Sides::BothMtls)];

/// The options of a node port.
#[derive(Clone, Debug, PartialEq)]
struct NodePortKeys {
    backend: Backend,
    services: u32,
}

impl Default for NodePortKeys {
    fn default() -> NodePortKeys {
        NodePortKeys { backend: Backend::default(), services: 1 }
    }
}

fn node_port_table() -> Table<NodePortKeys> {
    Table::<NodePortKeys>::new("NodePort", "nodeport", "A node port as kube-proxy makes it")
        .key("backend", choice("a backend of a node port", &BACKENDS), "What kube-proxy writes", |port| {
            &mut port.backend
        })
        .key(
            "services",
            count("the number of services", 1, MAX_SERVICES),
            "How many services the rules are for, this one included",
            |port| &mut port.services,
        )
}

/// The options of a sidecar.
#[derive(Clone, Debug, Default, PartialEq)]
struct SidecarKeys {
    proxy: Proxy,
    sides: Sides,
}

fn sidecar_table() -> Table<SidecarKeys> {
    Table::<SidecarKeys>::new("Sidecar", "sidecar", "Proxies in the request path")
        .key("proxy", choice("a proxy", &PROXIES), "The program", |sidecar| &mut sidecar.proxy)
        .key(
            "sides",
            choice("a place for sidecars", &SIDES),
            "Beside the service, beside both, or both with mutual TLS between them",
            |sidecar| &mut sidecar.sides,
        )
}

/// One layer: a name, or a map of one name to its options.
#[derive(Debug)]
pub(super) struct LayerKind;

impl Kind for LayerKind {
    type Value = Located<Layer>;

    fn read(&self, node: Node, key: &str, problems: &mut Problems) -> Option<Located<Layer>> {
        let entries = match node.shape {
            Shape::Scalar(_) => {
                let name = node.text(key, problems)?;
                let value = layer_named(&name, problems)?;
                return Some(Located { value, place: name.place });
            }
            Shape::Map(entries) => entries,
            _ => return node.refuse("layer", "a name or a map of one name to its options", problems),
        };
        let Ok([(name, options)]) = <[_; 1]>::try_from(entries) else {
            let complaint = Complaint::new("a layer must be a single name with its options");
            problems.add(&node.place, complaint.help("start each layer with a `-` of its own"));
            return None;
        };
        let value = layer_with(&name, options, problems)?;
        Some(Located { value, place: name.place })
    }

    fn write(&self, layer: &Located<Layer>, detail: Detail) -> Node {
        let (layer, place) = (&layer.value, Place::File);
        let options = match layer {
            Layer::NodePort { backend, services } => {
                let keys = NodePortKeys { backend: *backend, services: *services };
                node_port_table().write(&keys.into(), detail)
            }
            Layer::Sidecar(Sidecar { proxy, sides }) => {
                sidecar_table().write(&SidecarKeys { proxy: *proxy, sides: *sides }.into(), detail)
            }
            Layer::Rules(count) | Layer::Spin(count) => Node::scalar(count.to_string(), place.clone()),
            Layer::Cni(file) => Node::scalar(file.display().to_string(), place.clone()),
            _ => Node::map([], place.clone()),
        };
        match options.shape {
            Shape::Map(entries) if entries.is_empty() => Node::scalar(layer.to_string(), place),
            _ => Node::map([(layer.to_string().as_str(), options)], place),
        }
    }

    fn schema(&self, definitions: &mut Definitions) -> Value {
        definitions.reference("Layer", |definitions| {
            json!({
                "description": "One layer of the path, the service's end first.",
                "anyOf": [
                    { "enum": Layer::PLAIN.map(|layer| layer.to_string()).to_vec() },
                    {
                        "type": "object",
                        "properties": {
                            "nodeport": node_port_table().schema(definitions),
                            "sidecar": sidecar_table().schema(definitions),
                            "rules": {
                                "type": "integer",
                                "minimum": 1,
                                "description": "nftables rules that match nothing, tried for every packet: a known cost.",
                            },
                            "spin": {
                                "type": "integer",
                                "minimum": 1,
                                "description": "A BPF program that counts to this number for every packet: a known cost.",
                            },
                            "cni": { "type": "string", "description": "A CNI configuration list, run by the real plugins." },
                        },
                        "minProperties": 1,
                        "maxProperties": 1,
                        "additionalProperties": false,
                    },
                ]
            })
        })
    }
}

/// A layer without options.
fn layer_named(name: &Text, problems: &mut Problems) -> Option<Layer> {
    let what = match name.value.trim() {
        "sidecar" => {
            return Some(Layer::Sidecar(Sidecar { proxy: Proxy::default(), sides: Sides::default() }));
        }
        "rules" => "the number of rules",
        "spin" => "the number of loops",
        "cni" => "a CNI configuration list",
        word => {
            let names: Vec<String> = Layer::PLAIN.iter().map(Layer::to_string).collect();
            let names: Vec<&str> =
                names.iter().map(String::as_str).chain(["sidecar", "rules", "spin", "cni"]).collect();
            let unknown =
                || Complaint::new(format!("there is no layer `{word}`")).help(suggestion(word, &names));
            return problems.note(&name.place, Layer::plain(word).ok_or_else(unknown));
        }
    };
    let word = name.value.trim();
    let help = format!("write `{word}: …`, or {word}=… on the command line");
    problems.add(&name.place, Complaint::new(format!("`{word}` needs {what}")).help(help));
    None
}

/// A layer with options.
fn layer_with(name: &Text, options: Node, problems: &mut Problems) -> Option<Layer> {
    let mut number = |options: Node, what: &str, max| {
        let text = options.text(&name.value, problems)?;
        let count = text.read(problems, |text| parse_count(text, what, 1, max))?;
        u32::try_from(count).ok()
    };
    match name.value.as_str() {
        "nodeport" => {
            let keys = node_port_table().read(options, "nodeport", problems)?.value;
            Some(Layer::NodePort { backend: keys.backend, services: keys.services })
        }
        "sidecar" => {
            let SidecarKeys { proxy, sides } = sidecar_table().read(options, "sidecar", problems)?.value;
            Some(Layer::Sidecar(Sidecar { proxy, sides }))
        }
        "rules" => number(options, "the number of rules", MAX_RULES).map(Layer::Rules),
        "spin" => number(options, "the number of loops", MAX_LOOPS).map(Layer::Spin),
        "cni" => options.text("cni", problems).map(|file| Layer::Cni(PathBuf::from(file.value.trim()))),
        _ => {
            let layer = layer_named(name, problems)?;
            NoOptions.read(options, &name.value, problems).map(|()| layer)
        }
    }
}

/// As it is written on the command line: `veth`, `rules=100`.
pub(super) fn short(layer: &Layer) -> String {
    match layer {
        Layer::Rules(count) | Layer::Spin(count) => format!("{layer}={count}"),
        Layer::Cni(file) => format!("{layer}={}", file.display()),
        _ => layer.to_string(),
    }
}

/// The layers of the list, each after what it stands on.
pub(super) fn layers(
    written: &[Located<Layer>],
    place: &Place,
    nodes: Nodes,
    problems: &mut Problems,
) -> Option<Vec<Layer>> {
    if written.is_empty() {
        let complaint = Complaint::new("the list of layers is empty");
        problems.add(place, complaint.help("write `host` for a process without layers"));
        return None;
    }
    let mut layers: Vec<Layer> = Vec::new();
    for layer in written {
        problems.note(&layer.place, fits(&layer.value, &layers, nodes))?;
        layers.push(layer.value.clone());
    }
    Some(layers)
}

/// Whether `layer` can stand on the layers below it.
fn fits(layer: &Layer, below: &[Layer], nodes: Nodes) -> Result<(), Complaint> {
    let is_same = |other: &Layer| std::mem::discriminant(other) == std::mem::discriminant(layer);
    if below.iter().any(is_same) {
        let complaint = Complaint::new(format!("the layer `{layer}` is listed twice"));
        return Err(complaint.help("remove one of them"));
    }
    let all: Vec<Layer> = below.iter().chain([layer]).cloned().collect();
    check_layers(&all, nodes == Nodes::Own).map_err(|error| {
        let text = error.to_string();
        // The model's sentence is what is wrong, and after the colon what to do.
        match text.split_once(": ") {
            Some((what, help)) => Complaint::new(what).help(help.to_owned()),
            None => Complaint::new(text),
        }
    })
}

/// Layers as they are written.
pub(super) fn written(layers: &[Layer]) -> Vec<Located<Layer>> {
    layers.iter().map(|layer| Located { value: layer.clone(), place: Place::File }).collect()
}
