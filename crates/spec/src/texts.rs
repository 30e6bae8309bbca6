//! What a draft holds as text, by the form that the text must have: for the JSON Schema alone.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Types that stand for a text of a certain form; each is a name and a schema.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident => $schema:tt;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) enum $name {}

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

texts! {
    /// `1.5s`
    DurationText => { "type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(ns|us|µs|ms|s|min|h)\s*$" };
    /// `512Mi`
    SizeText => { "type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(B|k|Ki|M|Mi|G|Gi|T|Ti)\s*$" };
    /// `1%`
    ShareText => { "type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*%\s*$" };
    /// `2000/s`, or a rate over time.
    ProfileText => { "type": "string", "pattern": r"^\s*[0-9][0-9_.e]*\s*/\s*(s|min|h)\s*((\.\.|@|,).*)?$" };
    /// `100ms`, or `100ms:fixed`.
    ThinkText => { "type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(ns|us|µs|ms|s|min|h)\s*(:fixed)?\s*$" };
    /// Whose clock.
    TimestampsText => { "enum": ["user", "kernel"] };
    /// One text or several.
    OneOrMore => {
        "anyOf": [
            { "type": "string" },
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
        ]
    };
    /// Built-in services.
    Builtin => { "enum": ["orders", "hello", "cpu"] };
    /// Arrival processes.
    ArrivalsText => { "enum": ["poisson", "uniform"] };
    /// How cells share the machine.
    IsolationText => { "enum": ["shared", "exclusive"] };
    /// How cells take turns.
    InterleaveText => { "enum": ["auto", "slices", "requests"] };
    /// What a failure ends.
    OnFailureText => { "enum": ["end", "continue"] };
    /// Which node platforms are on.
    NodesText => { "enum": ["shared", "own"] };
    /// How a container is joined to a network.
    DockerNetworkText => { "enum": ["bridge", "host", "macvlan", "none-with-wire"] };
    /// How a container is reached.
    PublishText => { "enum": ["port", "userland-proxy", "none"] };
    /// A user, with or without a group.
    UserText => { "type": ["string", "integer"], "pattern": "^[0-9]+(:[0-9]+)?$" };
    /// How a pod is reached.
    ExposeText => {
        "anyOf": [
            { "enum": ["nodePort", "clusterIP", "podIP", "hostNetwork", "hostPort", "loadBalancer"] },
            { "type": "string", "pattern": r"^ingress\s+http://" },
        ]
    };
    /// Where a pod runs.
    PlacementText => { "enum": ["same-node", "other-node"] };
    /// What the kubelet checks.
    ProbesText => { "enum": ["none", "default"] };
    /// Where the load runs.
    LoadFromText => { "enum": ["auto", "here", "cluster"] };
    /// Who reads counters elsewhere.
    ObserversText => { "enum": ["kubelet", "daemonset"] };
    /// One rate or several.
    RateTexts => {
        "anyOf": [
            { "type": "string", "pattern": r"^\s*[0-9][0-9_.e]*\s*/\s*(s|min|h)\s*$" },
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
        ]
    };
    /// A command line.
    Words => {
        "anyOf": [
            { "type": "string", "description": "Split into words like a shell does." },
            { "type": "array", "items": { "type": ["string", "number"] } },
        ]
    };
    /// Names with their values.
    TextMap => { "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } };
    /// CPU numbers and ranges.
    CpuSet => {
        "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" },
            {
                "type": "array",
                "minItems": 1,
                "items": { "anyOf": [
                    { "type": "integer", "minimum": 0 },
                    { "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" },
                ] },
            },
        ]
    };
    /// CPU numbers and ranges, or all CPUs.
    ServiceCpuSet => {
        "anyOf": [
            { "const": "all" },
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" },
            {
                "type": "array",
                "minItems": 1,
                "items": { "anyOf": [
                    { "type": "integer", "minimum": 0 },
                    { "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" },
                ] },
            },
        ]
    };
    /// What takes no options.
    NoOptions => { "type": ["object", "null"], "additionalProperties": false };
}
