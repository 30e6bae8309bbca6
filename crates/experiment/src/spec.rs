//! An experiment as its author means it: services, platforms, loads and the plan, valid by construction.
//!
//! Flags and YAML both end here; everything after this point trusts it.

mod claim;
pub mod cpus;
mod draft;
mod error;
mod flags;
pub mod http;
mod ladder;
mod machine;
mod node;
mod read;
mod schema;
pub mod units;
pub mod url;
mod validate;
mod words;
mod yaml;

use std::net::SocketAddr;
use std::time::Duration;

use loadline_engine::{Load, Reuse};
use loadline_platform::{Docker, Image, Kubernetes, Layer, Limits};
use serde::{Deserialize, Serialize};

pub use claim::{CLAIM_METRICS, Claim, Says};
pub use error::{Complaint, Place, Problem, Problems, SpecError};
pub use flags::{Flags, from_flags};
pub use ladder::{Ladder, LadderFlags, Part, ladder};
pub use machine::{CheckBuiltin, Machine};
pub use schema::experiment_schema;
pub use yaml::{MAX_FILE_BYTES, from_yaml, from_yaml_file};

/// One experiment. The first service on the first platform is the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Short name, shown as the title.
    pub name: String,
    /// The question that the run is to answer, in the author's words.
    pub question: Option<String>,
    /// What is measured; at least one, names unique.
    pub services: Vec<Service>,
    /// What a service may use, the same on every platform.
    pub limits: Limits,
    /// Where the services run; at least one, names unique.
    pub platforms: Vec<Platform>,
    /// What is offered; at least one, no two alike.
    pub loads: Vec<LoadSpec>,
    /// How much is measured, in which order.
    pub plan: PlanSpec,
    /// Which CPUs serve and which load; `None` is chosen automatically.
    pub placement: Placement,
    /// What somebody says of it, judged at the end.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

impl Experiment {
    /// Whether platforms stand above each other, rather than all being compared with the first.
    pub fn is_ladder(&self) -> bool {
        self.platforms.iter().any(|platform| platform.above.is_some())
    }
}

/// What is measured: how to start it, what to ask of it, how to tell that it is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Unique among the services.
    pub name: String,
    /// How it is started; `None` when every platform is external.
    pub start: Option<Start>,
    /// What a container platform starts; `None`: the program itself, made into an image.
    #[serde(default)]
    pub image: Option<Image>,
    /// Environment added to the inherited one.
    pub env: Vec<(String, String)>,
    /// The port that the service insists on; `None`: it takes `{port}` or `$PORT`.
    pub port: Option<u16>,
    /// The request mix; each is sent in proportion to its weight.
    pub requests: Vec<RequestSpec>,
    /// When it counts as ready.
    pub ready: Ready,
}

/// How a service process is started. No shell is involved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// `loadline serve NAME ARGS`.
    Builtin {
        /// `orders`, `hello` or `cpu`.
        name: String,
        /// Its further arguments.
        args: Vec<String>,
    },
    /// Program and arguments; `{host}` and `{port}` are filled in by the platform.
    Command(Vec<String>),
}

/// One request of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestSpec {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query, starting with `/`.
    pub path: String,
    /// Header names and values, `Host` and `Content-Length` excepted: they are set by the engine.
    pub headers: Vec<(String, String)>,
    /// Body, sent with its length.
    pub body: Option<String>,
    /// Share of the mix, relative to the other requests' weights.
    pub weight: u32,
}

/// When a service counts as ready: a successful answer to `GET path`, or an accepted connection without a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// The path asked for; `None`: that the port accepts a connection is enough.
    pub path: Option<String>,
    /// How long that may take once its platform has started it.
    pub within: Duration,
}

/// Where a service runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// Unique among the platforms.
    pub name: String,
    /// Its kind and options.
    pub kind: PlatformKind,
    /// Index of the platform that it is compared with: the rung below it on a ladder. `None`: the first platform.
    #[serde(default)]
    pub above: Option<usize>,
    /// Whether it is the top of a ladder: deployed a second time, so that the sum of the layers below it can be held against the whole.
    #[serde(default)]
    pub top: bool,
}

/// The kinds of platform that this version can deploy to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlatformKind {
    /// A plain process on the node.
    Host,
    /// A process behind layers of a platform's path.
    Local(Vec<Layer>),
    /// A container.
    Docker(Docker),
    /// A pod of a cluster.
    Kubernetes(Kubernetes),
    /// Something that already runs.
    External {
        /// As it was written.
        url: String,
        /// Where to connect.
        address: SocketAddr,
        /// Value of the `Host` header.
        authority: String,
    },
}

/// One load of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Arrival process and rate, or a closed loop.
    pub load: Load,
    /// Connections kept open by the client.
    pub connections: usize,
    /// How long each is used.
    #[serde(default)]
    pub reuse: Reuse,
}

/// How much is measured, in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSpec {
    /// Length of a slice.
    pub slice: Duration,
    /// Blocks in each deployment.
    pub blocks: u32,
    /// How often everything is deployed anew. With `until`, where to start from.
    pub deployments: u32,
    /// Seed of the order and the schedules.
    pub seed: u64,
    /// Go on deploying until every contrast's p50 interval is at most this share of the baseline wide on each side
    /// (0.01 = ±1 %).
    pub until: Option<f64>,
    /// Time after which no further deployment is begun.
    pub within: Option<Duration>,
    /// Whether the baseline is deployed a second time to see the noise.
    pub twin: bool,
    /// How cells share the machine.
    pub isolation: Isolation,
    /// How cells take turns.
    pub interleave: Interleave,
    /// Longest warm-up of a cell.
    pub warmup: Duration,
    /// How often a slice that fails a gate is repeated.
    pub repeats: u32,
    /// Differences within this share of the baseline are `equivalent`; `None`: the larger of 1 % and the resolution.
    pub margin: Option<f64>,
    /// What happens when a service can't be deployed or dies.
    pub on_failure: OnFailure,
    /// Which node platforms of this machine are on.
    #[serde(default)]
    pub nodes: Nodes,
    /// How long each cell is profiled in each deployment, in a slice of its own; `None`: not at all.
    #[serde(default)]
    pub profile: Option<Duration>,
}

/// Which node `host` and `local` platforms are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nodes {
    /// All on this machine's own, as Docker and a cluster are: what one of them sets up there, the others have as well.
    #[default]
    Shared,
    /// Each on one of its own: a network namespace with a wire of its own to the client.
    Own,
}

/// How cells share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// All cells are deployed and warm at once.
    #[default]
    Shared,
    /// One platform's service is deployed at a time, for services too big to share the machine.
    Exclusive,
}

/// How cells take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interleave {
    /// By request where the cells' joint CPU use is a few percent and a slice would gather too little, by slice elsewhere.
    #[default]
    Auto,
    /// One cell at a time, seconds long.
    Slices,
    /// All cells side by side, request by request.
    Requests,
}

/// What happens when a service can't be deployed or dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The run ends; what was measured is kept and reported.
    #[default]
    End,
    /// The run goes on without that service on that platform.
    Continue,
}

/// CPUs of the service and of the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// CPUs that services are pinned to.
    pub service_cpus: Option<Vec<usize>>,
    /// CPUs that load threads are pinned to.
    pub load_cpus: Option<Vec<usize>>,
}
