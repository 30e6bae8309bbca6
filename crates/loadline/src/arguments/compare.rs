//! The arguments of `loadline compare`, and of `loadline plan` and `loadline try`, which take the same flags.

use std::path::Path;

use clap::Args;
use loadline_spec::Flags;

use super::{
    AgainstArguments, OfCommand, OptionFlags, OutputArguments, ServiceFlags, TurnArguments, or_orders,
};
use crate::exit::UsageError;

#[derive(Args)]
pub struct CompareArguments {
    /// Services to compare, each as of --command: 'old: ./server-1 -p {port}' 'new: ./server-2 -p {port}'. Or the numbers of stored
    /// runs, which are compared as they are: each further one with the first
    #[arg(value_name = "SERVICE|RUN")]
    services: Vec<String>,
    #[command(flatten)]
    pub experiment: CompareFlags,
    #[command(flatten)]
    pub turn: TurnArguments,
    #[command(flatten)]
    pub against: AgainstArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// Numbers of stored runs that are compared.
pub struct StoredRuns {
    /// The baseline.
    pub first: i64,
    /// Those that are compared with it.
    pub later: Vec<i64>,
}

#[derive(Args)]
pub struct PreviewArguments {
    /// Experiment file (YAML), or the services of `loadline compare`, whose flags describe the rest
    #[arg(value_name = "FILE|SERVICE")]
    what: Vec<String>,
    #[command(flatten)]
    pub experiment: CompareFlags,
    /// Print JSON
    #[arg(long, help_heading = "Results")]
    pub json: bool,
}

#[derive(Args)]
pub struct TryArguments {
    #[command(flatten)]
    pub experiment: PreviewArguments,
    #[command(flatten)]
    pub turn: TurnArguments,
}

/// The flags that describe an experiment.
#[derive(Args)]
pub struct CompareFlags {
    #[command(flatten)]
    what: ServiceFlags,
    /// Platform: host, docker, docker:host, kubernetes, kubernetes:podIP+other-node, a URL, or a path that loadline builds itself:
    /// container, pod, local:cgroup+veth+bridge+nodeport; the first is the baseline [default: host and pod; of several services, host]
    #[arg(long, value_name = "PLATFORM", help_heading = "Where")]
    on: Vec<String>,
    /// Rate with its unit: 2000/s, 100/min; repeat for several loads [default: 2000/s]
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    rate: Vec<String>,
    /// Closed loop: each connection sends its next request when the last one is answered
    #[arg(long, help_heading = "Load")]
    closed: bool,
    #[command(flatten)]
    options: OptionFlags<Compare>,
}

/// `loadline compare` has the flags of all keys but those of a search.
struct Compare;

impl OfCommand for Compare {
    fn has(flag: &str) -> bool {
        !loadline_spec::SEARCH_FLAGS.contains(&flag)
    }

    fn default(_: &str) -> Option<String> {
        None
    }
}

impl CompareArguments {
    /// The flags of the spec, with the default job filled in.
    ///
    /// # Errors
    /// When the file with the body cannot be read.
    pub fn flags(&self) -> Result<Flags, UsageError> {
        self.without_service().map(or_orders)
    }

    /// The same without a default service.
    ///
    /// # Errors
    /// When the file with the body cannot be read.
    pub fn without_service(&self) -> Result<Flags, UsageError> {
        self.experiment.with_commands(&self.services)
    }

    /// The stored runs to compare, if numbers are given instead of services.
    ///
    /// # Errors
    /// When there is only one, or other flags describe something to measure.
    pub fn stored_runs(&self) -> Result<Option<StoredRuns>, UsageError> {
        let runs: Option<Vec<i64>> = self.services.iter().map(|service| service.parse().ok()).collect();
        let Some((first, later)) = runs.as_deref().and_then(|runs| runs.split_first()) else {
            return Ok(None);
        };
        if later.is_empty() {
            let why = format!("name a second stored run to compare run {first} with, the earlier one first");
            return Err(UsageError(why));
        }
        if !self.experiment.are_absent() || self.against.against.is_some() {
            let why = format!(
                "runs {} are compared as they were measured: leave out the flags that describe a run",
                self.services.join(", ")
            );
            return Err(UsageError(why));
        }
        Ok(Some(StoredRuns { first: *first, later: later.to_vec() }))
    }
}

impl PreviewArguments {
    /// The experiment file, if it is one: a service on its own has a name in front of it.
    pub fn file(&self) -> Option<&Path> {
        match &self.what[..] {
            [file] if !file.contains(": ") => Some(Path::new(file)),
            _ => None,
        }
    }

    /// As those of `loadline compare`.
    ///
    /// # Errors
    /// When the file with the body cannot be read.
    pub fn flags(&self) -> Result<Flags, UsageError> {
        self.experiment.with_commands(&self.what).map(or_orders)
    }
}

impl CompareFlags {
    /// Whether none was given.
    pub fn are_absent(&self) -> bool {
        let lists = [&self.on, &self.rate];
        let are_empty = lists.iter().all(|given| given.is_empty()) && self.options.given.is_empty();
        are_empty && !self.closed && self.what.are_absent()
    }

    /// The flags of the spec with these services, as of `--command`, and with the default job filled in but for its service.
    fn with_commands(&self, commands: &[String]) -> Result<Flags, UsageError> {
        let commands = [commands, &self.what.command].concat();
        let or = |given: &[String], defaults: &[&str]| -> Vec<String> {
            if given.is_empty() {
                defaults.iter().map(|word| (*word).to_owned()).collect()
            } else {
                given.to_vec()
            }
        };
        // One that is varied is several.
        let services = self.what.service.len() + commands.len() + self.what.vary.len();
        let mut flags = Flags {
            on: or(&self.on, if services > 1 { &["host"] } else { &["host", "pod"] }),
            rates: if self.closed { self.rate.clone() } else { or(&self.rate, &["2000/s"]) },
            closed: self.closed,
            options: self.options.given.clone(),
            ..Flags::default()
        };
        self.what.fill(&mut flags)?;
        flags.commands = commands;
        Ok(flags)
    }
}
