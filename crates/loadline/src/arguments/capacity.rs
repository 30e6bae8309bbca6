//! The arguments of `loadline capacity`.

use clap::Args;
use loadline_spec::Flags;

use super::{
    AgainstArguments, OfCommand, OptionFlags, OutputArguments, ServiceFlags, TurnArguments, or_orders,
};
use crate::exit::UsageError;

#[derive(Args)]
pub struct CapacityArguments {
    /// Services to search, each as of --command: 'old: ./server-1 -p {port}'
    #[arg(value_name = "SERVICE")]
    services: Vec<String>,
    #[command(flatten)]
    what: ServiceFlags,
    /// Platform, as of `loadline compare`; the first is the baseline [default: host]
    #[arg(long, value_name = "PLATFORM", help_heading = "Where")]
    on: Vec<String>,
    /// What a slice must meet: 'success >= 99%', 'p99 <= 50ms', 'cpu.service <= 80us'; repeat for more
    /// [default: success >= 99% and p99 <= 50ms]
    #[arg(long, value_name = "OBJECTIVE", help_heading = "Search")]
    objective: Vec<String>,
    /// Rate at which the search begins
    #[arg(long, value_name = "RATE", default_value = "100/s", help_heading = "Search")]
    rate: String,
    #[command(flatten)]
    options: OptionFlags<Capacity>,
    #[command(flatten)]
    pub turn: TurnArguments,
    #[command(flatten)]
    pub against: AgainstArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// `loadline capacity` has no flags for what a search finds out by itself.
struct Capacity;

/// How much is measured, and what is compared block by block.
const FOUND_OUT: [&str; 9] = [
    "--slice",
    "--blocks",
    "--until",
    "--margin",
    "--interleave",
    "--think",
    "--profile",
    "--tails",
    "--no-twin",
];

impl OfCommand for Capacity {
    fn has(flag: &str) -> bool {
        !FOUND_OUT.contains(&flag)
    }

    fn default(flag: &str) -> Option<String> {
        (flag == "--deployments").then(|| "1".to_owned())
    }
}

impl CapacityArguments {
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
        let mut flags = Flags { options: self.options.given.clone(), ..Flags::default() };
        self.what.fill(&mut flags)?;
        flags.commands = [&self.services[..], &flags.commands].concat();
        flags.on = if self.on.is_empty() { vec!["host".to_owned()] } else { self.on.clone() };
        flags.rates = vec![self.rate.clone()];
        flags.objectives = Some(self.objective.clone());
        Ok(flags)
    }
}
