//! What the server is given by the command line that it is part of.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use loadline_model::experiment::{Experiment, Service};
use loadline_model::result::history::History;
use loadline_store::{Store, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

/// The command line, as far as the server needs it.
pub trait Program: Send + Sync {
    /// The services that `--service` can name: built-in ones and reference services.
    fn services(&self) -> Vec<String>;

    /// Whether it is a reference service, so that `--service` can name it.
    fn is_reference(&self, service: &Service) -> bool;

    /// The platforms, and whether this machine has them.
    fn platforms(&self) -> Vec<Offer>;

    /// The same as it was found last, with nothing asked or tried.
    fn known_platforms(&self) -> Vec<Offer>;

    /// What an experiment file asks for.
    ///
    /// # Errors
    /// What `loadline plan` would say.
    fn draft(&self, yaml: &str) -> Result<Draft, String>;

    /// What the flags of `loadline compare` ask for, word by word; with `--objective` among them, those of `loadline capacity`.
    ///
    /// # Errors
    /// What `loadline plan` would say.
    fn draft_of_flags(&self, flags: &[String]) -> Result<Draft, String>;

    /// What the same flags ask for with this service; they may not name another.
    ///
    /// # Errors
    /// What `loadline plan` would say.
    fn draft_of_service(&self, service: &Service, flags: &[String]) -> Result<Draft, String>;

    /// An experiment as a file.
    fn yaml(&self, experiment: &Experiment) -> String;

    /// A metric over the runs of a store whose name or tag contains this text. Once `stop` is set nobody waits for it any more: it reads no
    /// further run.
    ///
    /// # Errors
    /// When there is no such metric, or the store cannot be read.
    fn history(
        &self,
        store: &Path,
        metric: &str,
        text: &str,
        stop: &AtomicBool,
    ) -> Result<History, NoHistory>;

    /// The labels of this user's runs that are being measured, by this server or by another process.
    fn alive(&self) -> Vec<String>;

    /// Whether a run of this user has the machine to itself, started by this server or by another process.
    fn others_measure(&self) -> bool;

    /// Gives the space of deleted runs back, unless others measure.
    fn shrink(&self, store: &Store);

    /// A process that measures the experiment on its standard input, stores it, and writes its events (`loadline_model::Event`) to standard
    /// output, a line of JSON each. It ends as by Ctrl-C when nobody reads them any more.
    fn run(&self, store: &Path) -> Command;

    /// A process that sends each request of the experiment on its standard input once, and writes to standard output, as text, what was
    /// sent and what came back.
    fn try_out(&self) -> Command;
}

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum NoHistory {
    /// Nothing is measured by that name; what `loadline history` would say.
    #[error("{0}")]
    Metric(String),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A platform that a run could use.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Offer {
    /// As of `--on`: `host`, `docker`.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    /// Why this machine cannot; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// An experiment that could be run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Draft {
    /// What it is called.
    pub name: String,
    /// The experiment as YAML.
    pub yaml: String,
    /// What it would do, as `loadline plan` prints it.
    pub plan: String,
    /// How long that takes at least and at most, s.
    pub seconds: [f64; 2],
}
