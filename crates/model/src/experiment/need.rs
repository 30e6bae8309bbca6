//! What a service needs beside it: a broker, a database, a proxy.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Ready, Start};
use crate::platform::{Image, Limits};

/// What a proxy calls the service that it is in front of: `{service.host}`, `{service.port}`.
pub const PROXIED: &str = "service";

/// A program that is started before a service, and that it reaches at `{NAME.host}` and `{NAME.port}`; or a proxy in front of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Unique among the needs of a service: a word.
    pub name: String,
    /// How it is started where there are processes; `{host}` and `{port}` are filled in.
    pub start: Option<Start>,
    /// What a container platform starts.
    pub image: Option<Image>,
    /// The folder that its command is started in.
    pub directory: Option<PathBuf>,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// What it may use.
    pub limits: Limits,
    /// The port that it insists on.
    pub port: Option<u16>,
    /// Whether there is one for all services and platforms of the run, a process on the node; otherwise each has one of its own beside it.
    pub shared: bool,
    /// Whether requests go to it: it is started after the service, which it reaches at `{service.host}` and `{service.port}`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proxy: bool,
    /// When it counts as ready. Stored beside the rest, where `within` was before there was a path.
    #[serde(flatten)]
    pub ready: Ready,
}
