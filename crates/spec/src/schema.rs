//! The JSON Schema of experiment files, for completion and checks in editors.
//!
//! It is generated from the draft; what a draft holds as text gets the pattern of its quantity here.

use std::borrow::Cow;

use loadline_model::platform::Layer;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::draft::{
    DockerDraft, Draft, ImageDraft, ImageFields, KubernetesDraft, LayerDraft, Located, PlatformDraft,
    RequestDraft, RequestFields,
};
use super::texts::NoOptions;

/// The JSON Schema (draft 2020-12) of an experiment file, as published in `docs/experiment.schema.json`.
pub fn experiment_schema() -> serde_json::Value {
    SchemaSettings::draft2020_12()
        // Absent is the only way to leave something out: a null has no meaning here.
        .with(|settings| settings.transforms.push(Box::new(without_null)))
        .into_generator()
        .into_root_schema_for::<Draft>()
        .to_value()
}

/// Takes `null` out of every choice that `Option` put it into, and `null` defaults.
fn without_null(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        for key in ["type", "enum"] {
            if let Some(serde_json::Value::Array(values)) = object.get_mut(key) {
                values.retain(|value| !value.is_null() && value != "null");
                if key == "type" && values.len() == 1 {
                    let single = values.remove(0);
                    object.insert(key.to_owned(), single);
                }
            }
        }
        if let Some(serde_json::Value::Array(choices)) = object.get_mut("anyOf") {
            choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
            if choices.len() == 1
                && let serde_json::Value::Object(only) = choices.remove(0)
            {
                object.remove("anyOf");
                for (key, value) in only {
                    object.entry(key).or_insert(value);
                }
            }
        }
    }
    schemars::transform::transform_subschemas(&mut without_null, schema);
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl JsonSchema for RequestDraft {
    fn schema_name() -> Cow<'static, str> {
        "Request".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One request of the mix: `GET /path`, or its parts.",
            "anyOf": [
                { "type": "string", "pattern": r"^([A-Z]+\s+)?/" },
                generator.subschema_for::<RequestFields>(),
            ]
        })
    }
}

impl JsonSchema for ImageDraft {
    fn schema_name() -> Cow<'static, str> {
        "Image".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An image: its name, or its parts.",
            "anyOf": [{ "type": "string" }, generator.subschema_for::<ImageFields>()],
        })
    }
}

impl JsonSchema for PlatformDraft {
    fn schema_name() -> Cow<'static, str> {
        "Platform".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Where the services run.",
            "anyOf": [
                { "enum": ["host", "pod", "container", "docker", "kubernetes"] },
                generator.subschema_for::<PlatformFields>(),
            ]
        })
    }
}

impl JsonSchema for LayerDraft {
    fn schema_name() -> Cow<'static, str> {
        "Layer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One layer of the path, the service's end first.",
            "anyOf": [
                { "enum": Layer::PLAIN.map(|layer| layer.to_string()).to_vec() },
                {
                    "type": "object",
                    "properties": {
                        "nodeport": generator.subschema_for::<NodePort>(),
                        "sidecar": generator.subschema_for::<Sidecar>(),
                        "rules": {
                            "type": "integer",
                            "minimum": 1,
                            "description": "So many rules that match nothing, tried for each packet: a known cost.",
                        },
                        "spin": {
                            "type": "integer",
                            "minimum": 1,
                            "description": "A BPF program that counts so far for each packet: a known cost.",
                        },
                        "cni": { "type": "string", "description": "Configuration list of a CNI network, run by the real plugins." },
                    },
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": false,
                },
            ]
        })
    }
}

/// A platform with its key and an optional name; the reader turns it into a [`PlatformDraft`].
enum PlatformFields {}

impl JsonSchema for PlatformFields {
    fn schema_name() -> Cow<'static, str> {
        "PlatformFields".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let no_options = generator.subschema_for::<NoOptions>();
        json_schema!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Name in tables; by default what kind it is." },
                "above": { "type": "string", "description": "Name of the platform that it is compared with; by default the first." },
                "top": {
                    "type": "boolean",
                    "description": "The top of a ladder: the layers below it are summed up and held against the whole.",
                },
                "host": no_options,
                "pod": no_options,
                "container": no_options,
                "docker": { "anyOf": [generator.subschema_for::<DockerDraft>(), { "type": "null" }] },
                "kubernetes": { "anyOf": [generator.subschema_for::<KubernetesDraft>(), { "type": "null" }] },
                "local": {
                    "type": "array",
                    "items": generator.subschema_for::<LayerDraft>(),
                    "description": "A process behind layers of your choice.",
                },
                "external": { "type": "string", "format": "uri", "description": "Something that already runs: http://host:port." },
            },
            "additionalProperties": false,
            "oneOf": [
                { "required": ["host"] },
                { "required": ["pod"] },
                { "required": ["container"] },
                { "required": ["docker"] },
                { "required": ["kubernetes"] },
                { "required": ["local"] },
                { "required": ["external"] },
            ],
        })
    }
}

/// The options of a sidecar.
enum Sidecar {}

impl JsonSchema for Sidecar {
    fn schema_name() -> Cow<'static, str> {
        "Sidecar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Proxies in the request path.",
            "properties": {
                "proxy": { "enum": ["haproxy", "nginx", "envoy"], "description": "Which program." },
                "sides": {
                    "enum": ["service", "both", "both-mtls"],
                    "description": "Beside the service, beside both, or both with mutual TLS between them.",
                },
            },
            "additionalProperties": false,
        })
    }
}

/// The options of a node port.
enum NodePort {}

impl JsonSchema for NodePort {
    fn schema_name() -> Cow<'static, str> {
        "NodePort".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A node port as kube-proxy makes it.",
            "properties": {
                "backend": { "enum": ["iptables", "nftables"], "description": "What makes its rules." },
                "services": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Among how many services it stands.",
                },
            },
            "additionalProperties": false,
        })
    }
}
