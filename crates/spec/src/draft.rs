//! An experiment as it was written, every value a text with its place.
//!
//! YAML and flags both fill a draft; validation reads nothing else. The shapes below are also where the JSON Schema for
//! editors comes from, so their descriptions speak to the author of an experiment file.

mod claims;
mod platforms;

use std::path::PathBuf;

use schemars::JsonSchema;

use super::error::{Complaint, Place, Problems};
use super::texts;

pub use claims::{ClaimDraft, WhereDraft};
pub use platforms::{DockerDraft, KindDraft, KubernetesDraft, LayerDraft, PlatformDraft};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub place: Place,
}

/// A text and where it was written; numbers and switches are kept as texts too.
pub type Text = Located<String>;

impl Located<String> {
    /// Reads the text with `parse`; a complaint is noted at the text's place.
    pub(crate) fn read<T>(
        &self,
        problems: &mut Problems,
        parse: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<T> {
        problems.note(&self.place, parse(&self.value))
    }
}

/// A loadline experiment: services, platforms and loads to compare.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(title = "loadline experiment", deny_unknown_fields)]
pub struct Draft {
    /// The whole file or command line.
    #[schemars(skip)]
    pub place: Place,
    /// The folder of the file, which the paths in it are relative to.
    #[schemars(skip)]
    pub folder: Option<PathBuf>,
    /// Short name, shown as the title.
    pub name: Option<Text>,
    /// The question that the run is to answer, in your words.
    pub question: Option<Text>,
    /// What is measured. Write either `service` or `services`.
    pub service: Option<ServiceDraft>,
    /// What is compared, if it is more than one service; the first is the baseline.
    #[schemars(length(min = 1))]
    pub services: Option<Located<Vec<ServiceDraft>>>,
    /// What a service may use, the same on every platform.
    pub limits: Option<LimitsDraft>,
    /// Where the services run; the first is the baseline.
    #[schemars(required, length(min = 1))]
    pub platforms: Option<Located<Vec<PlatformDraft>>>,
    /// What is offered to the services.
    #[schemars(required, length(min = 1))]
    pub loads: Option<Located<Vec<LoadDraft>>>,
    /// How much is measured, in which order.
    pub plan: Option<PlanDraft>,
    /// Which CPUs serve and which load; chosen automatically if left out.
    pub cpus: Option<CpusDraft>,
    /// What somebody says of it, judged at the end: confirmed, refuted, or out of this run's reach.
    pub claims: Option<Located<Vec<ClaimDraft>>>,
}

/// What is measured: how to start it, what to ask of it, how to tell that it is ready.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Service")]
pub struct ServiceDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// Name in tables; by default the built-in's with its arguments, or the program's.
    pub name: Option<Text>,
    /// A service that comes with loadline. Write either `builtin` or `command`.
    #[schemars(with = "Option<texts::Builtin>")]
    pub builtin: Option<Text>,
    /// Arguments of the built-in service.
    #[schemars(with = "Option<texts::Words>")]
    pub args: Option<Words>,
    /// Program and arguments of your own service. `{host}` and `{port}` are filled in; no shell is involved.
    #[schemars(with = "Option<texts::Words>")]
    pub command: Option<Words>,
    /// What a container platform starts: an image's name, or {archive: FILE}. A built-in service and a static program need none.
    /// The image's own program gets the arguments of `command`.
    pub image: Option<ImageDraft>,
    /// Environment variables added to the inherited ones; `{host}`, `{port}`, `{limits.cpu}` and `{limits.memory}` are filled in.
    #[schemars(with = "Option<texts::TextMap>")]
    pub env: Option<Vec<(Text, Text)>>,
    /// The port that the service insists on. Without it the service takes `{port}` or `$PORT`.
    #[schemars(with = "Option<u16>", range(min = 1))]
    pub port: Option<Text>,
    /// The request mix.
    #[schemars(length(min = 1))]
    pub requests: Option<Located<Vec<RequestDraft>>>,
    /// CSV file, relative to the experiment file: {{column}} in paths, headers and bodies stands for its values, a row for each request.
    pub feed: Option<Text>,
    /// What a response must have, one check or several: status=2xx, header:NAME, header:NAME~TEXT, body=TEXT or body~TEXT.
    #[schemars(with = "Option<texts::OneOrMore>")]
    pub expect: Option<Located<Vec<Text>>>,
    /// The service speaks https where it is started. Of one that already runs, its URL says so.
    #[schemars(with = "Option<bool>")]
    pub https: Option<Text>,
    /// What the client does where https is spoken.
    pub tls: Option<TlsDraft>,
    /// When the service counts as ready.
    pub ready: Option<ReadyDraft>,
}

/// An image.
#[derive(Clone, Debug, PartialEq)]
pub enum ImageDraft {
    /// Its name.
    Name(Text),
    /// Spelt out.
    Fields(Box<ImageFields>),
}

/// An image spelt out.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ImageFields {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// A reference, such as nginx:1.27. Write either `name` or `archive`.
    pub name: Option<Text>,
    /// A file that `docker save` or `loadline image` wrote.
    pub archive: Option<Text>,
    /// The program in the image, if it isn't the image's own.
    #[schemars(with = "Option<texts::Words>")]
    pub entrypoint: Option<Words>,
}

/// Words of a command line: one text split like a shell does, or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    /// Still to be split.
    Line(Text),
    /// Already split.
    List(Located<Vec<Text>>),
}

/// One request of the mix.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestDraft {
    /// `GET /path`, or the path alone.
    Line(Text),
    /// Spelt out.
    Fields(Box<RequestFields>),
}

/// A request spelt out.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RequestFields {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// The method, GET by default.
    pub method: Option<Text>,
    /// Path and query, starting with `/`.
    #[schemars(required)]
    pub path: Option<Text>,
    /// Header names and values. Host, Content-Length and the like are set by loadline.
    #[schemars(with = "Option<texts::TextMap>")]
    pub headers: Option<Vec<(Text, Text)>>,
    /// The body, sent with its length.
    pub body: Option<Text>,
    /// Share of the mix relative to the other requests; 1 by default.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub weight: Option<Text>,
}

/// What the client does where https is spoken. Paths are relative to the experiment file.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Tls")]
pub struct TlsDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// Certificates to trust instead of the system's (PEM).
    pub ca: Option<Text>,
    /// The client's own certificate (PEM).
    pub cert: Option<Text>,
    /// Key of the client's certificate (PEM).
    pub key: Option<Text>,
    /// Name to ask for and to check the certificate against, instead of the URL's host or the service's address.
    pub server_name: Option<Text>,
    /// Accept any certificate.
    #[schemars(with = "Option<bool>")]
    pub insecure: Option<Text>,
    /// Resume sessions, as clients do; true by default. Otherwise each connection makes a full handshake.
    #[schemars(with = "Option<bool>")]
    pub resumption: Option<Text>,
}

/// When the service counts as ready.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Ready")]
pub struct ReadyDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// A path whose GET is answered with success; without it an accepted connection is enough.
    pub http: Option<Text>,
    /// How long that may take once the platform has started it; 30s by default.
    #[schemars(with = "Option<texts::DurationText>")]
    pub within: Option<Text>,
}

/// What a service may use.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Limits")]
pub struct LimitsDraft {
    /// CPUs, fractions allowed.
    #[schemars(with = "Option<f64>", range(min = 0.01))]
    pub cpu: Option<Text>,
    /// Memory, as in 512Mi.
    #[schemars(with = "Option<texts::SizeText>")]
    pub memory: Option<Text>,
}

/// One load.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Load")]
pub struct LoadDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// Requests with their unit of time: 2000/s or 100/min; or a rate over time, which each slice plays from its start: 1000/s..5000/s@30s.
    /// Write either `rate`, `replay` or `closed: true`.
    #[schemars(with = "Option<texts::ProfileText>")]
    pub rate: Option<Text>,
    /// File of due times, one a line, in seconds or as 250ms; relative to the experiment file. Each slice replays it from its start.
    pub replay: Option<Text>,
    /// The arrival process of a rate.
    #[schemars(with = "Option<texts::ArrivalsText>")]
    pub arrivals: Option<Text>,
    /// A closed loop: each connection sends its next request when the last one is answered.
    #[schemars(with = "Option<bool>")]
    pub closed: Option<Text>,
    /// Time between an answer and the next request of a closed loop, exponential: 100ms; or always the same: 100ms:fixed.
    #[schemars(with = "Option<texts::ThinkText>")]
    pub think: Option<Text>,
    /// Connections kept open; 16 by default.
    #[schemars(with = "Option<u16>", range(min = 1))]
    pub connections: Option<Text>,
    /// A new connection for each request; its handshake is part of the response time.
    #[schemars(with = "Option<bool>")]
    pub new_connections: Option<Text>,
    /// Close a connection after so many requests.
    #[schemars(with = "Option<u64>", range(min = 1))]
    pub requests_per_connection: Option<Text>,
    /// Speak HTTP/2, over TLS as in clear text.
    #[schemars(with = "Option<bool>")]
    pub http2: Option<Text>,
    /// Requests at once on a connection of HTTP/2, which this implies; 1 by default.
    #[schemars(with = "Option<u16>", range(min = 1))]
    pub streams: Option<Text>,
    /// Whose clock times requests and responses: user, when the client has read them (the default), or kernel, when the packets came.
    #[schemars(with = "Option<texts::TimestampsText>")]
    pub timestamps: Option<Text>,
    /// Longest wait for a response; 10s by default.
    #[schemars(with = "Option<texts::DurationText>")]
    pub timeout: Option<Text>,
}

impl LoadDraft {
    /// A load of which nothing is written yet.
    pub fn empty(place: Place) -> LoadDraft {
        LoadDraft {
            place,
            rate: None,
            replay: None,
            arrivals: None,
            closed: None,
            think: None,
            connections: None,
            new_connections: None,
            requests_per_connection: None,
            http2: None,
            streams: None,
            timestamps: None,
            timeout: None,
        }
    }
}

/// How much is measured, in which order.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Plan")]
pub struct PlanDraft {
    /// Length of a slice; 1.2s by default.
    #[schemars(with = "Option<texts::DurationText>")]
    pub slice: Option<Text>,
    /// Blocks in each deployment; 3 by default.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub blocks: Option<Text>,
    /// How often everything is deployed anew; 8 by default.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub deployments: Option<Text>,
    /// Seed of the order and the schedules; 7 by default.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Text>,
    /// Go on until every median's interval is this narrow on each side: 1%.
    #[schemars(with = "Option<texts::ShareText>")]
    pub until: Option<Text>,
    /// Time after which no further deployment is begun; with `until` 15min by default.
    #[schemars(with = "Option<texts::DurationText>")]
    pub within: Option<Text>,
    /// Deploy the baseline a second time to see the noise; true by default.
    #[schemars(with = "Option<bool>")]
    pub twin: Option<Text>,
    /// How cells share the machine.
    #[schemars(with = "Option<texts::IsolationText>")]
    pub isolation: Option<Text>,
    /// How cells take turns.
    #[schemars(with = "Option<texts::InterleaveText>")]
    pub interleave: Option<Text>,
    /// Longest warm-up of a cell; 30s by default.
    #[schemars(with = "Option<texts::DurationText>")]
    pub warmup: Option<Text>,
    /// How often a slice that fails a gate is repeated; 2 by default.
    #[schemars(with = "Option<u32>")]
    pub repeats: Option<Text>,
    /// Differences within this share of the baseline are equivalent; by default the larger of 1% and the resolution.
    #[schemars(with = "Option<texts::ShareText>")]
    pub margin: Option<Text>,
    /// What happens when a service can't be deployed or dies.
    #[schemars(with = "Option<texts::OnFailureText>")]
    pub on_failure: Option<Text>,
    /// Whether host and local platforms share this machine's network (the default) or have a node of their own each.
    #[schemars(with = "Option<texts::NodesText>")]
    pub nodes: Option<Text>,
    /// Profile the kernel for so long per cell and deployment, in slices of their own.
    #[schemars(with = "Option<texts::DurationText>")]
    pub profile: Option<Text>,
}

/// CPUs of the service and of the load.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Cpus")]
pub struct CpusDraft {
    /// CPUs that services are pinned to; `all`: they are not pinned, and see all CPUs as an ordinary pod does.
    #[schemars(with = "Option<texts::ServiceCpuSet>")]
    pub service: Option<CpuWords>,
    /// CPUs that load threads are pinned to.
    #[schemars(with = "Option<texts::CpuSet>")]
    pub load: Option<CpuWords>,
}

/// CPU numbers and ranges: `0`, `2-3`.
pub type CpuWords = Located<Vec<Text>>;
