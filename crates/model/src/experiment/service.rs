//! What is measured: how to start it, what to ask of it, how to tell that it is ready.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Need, ServiceCpus};
use crate::load::{ResponseCheck, TlsOptions};
use crate::platform::{Image, Limits};

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
    /// The folder that its command is started in; `None`: that of loadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// Environment over the common one.
    pub env: Vec<(String, String)>,
    /// What it may use, instead of the common limits.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// CPUs that it runs on, instead of the common ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<ServiceCpus>,
    /// The port that the service insists on; `None`: it takes `{port}` or `$PORT`.
    pub port: Option<u16>,
    /// The request mix; each is sent in proportion to its weight.
    pub requests: Vec<RequestSpec>,
    /// CSV file whose rows fill the requests' placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<PathBuf>,
    /// What a response must be; none of them: a status from 200 to 299.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<ResponseCheck>,
    /// Whether it speaks TLS where a platform starts it. Of one that already runs, its URL says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub https: bool,
    /// What the client does where TLS is spoken. Files are named, not included: one of them may be a private key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsOptions<PathBuf>>,
    /// When it counts as ready.
    pub ready: Ready,
    /// What is started before it, in order; and the proxy in front of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// A path with metrics in Prometheus' text format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
}

impl Service {
    /// What is in front of it.
    pub fn proxy(&self) -> Option<&Need> {
        self.needs.iter().find(|need| need.proxy)
    }
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

/// When a service, or what it needs, counts as ready: a successful answer to `GET path`, or an accepted connection without a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// The path asked for; `None`: that the port accepts a connection is enough.
    pub path: Option<String>,
    /// How long that may take once its platform has started it.
    pub within: Duration,
}
