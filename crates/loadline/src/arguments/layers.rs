//! The arguments of `loadline layers`.

use clap::{Args, ValueEnum};
use loadline_spec::{Flags, LadderFlags, Part, ladder_default};

use crate::exit::UsageError;

use super::{OfCommand, OptionFlags, OutputArguments, ServiceFlags, TurnArguments};

#[derive(Args)]
pub struct LayersArguments {
    #[command(flatten)]
    what: ServiceFlags,
    /// Part of the ladder; repeat for several [default: same-node and other-node, or what is below the rungs of your own]
    #[arg(long, value_name = "PART", help_heading = "Where")]
    part: Vec<PartName>,
    /// Layers of your own choice, as a rung above the one it adds to: cgroup+quota+veth+rules=20000, cni=FILE
    #[arg(long, value_name = "LAYERS", help_heading = "Where")]
    rung: Vec<String>,
    /// Rate with its unit, in an open loop: 2000/s [default: one request at a time, as fast as it is answered]
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    rate: Option<String>,
    /// See where the kernel spends its time, in slices of their own
    #[arg(long, help_heading = "How much")]
    profile: bool,
    #[command(flatten)]
    options: OptionFlags<Layers>,
    #[command(flatten)]
    pub turn: TurnArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// `loadline layers` has no flags for what its rungs decide.
struct Layers;

impl OfCommand for Layers {
    fn has(flag: &str) -> bool {
        // Each rung is measured over kept and over new connections.
        let connections = ["--new-connections", "--requests-per-connection"];
        !["--image", "--entrypoint", "--nodes", "--limit-cpu", "--limit-memory"].contains(&flag)
            && !connections.contains(&flag)
            && !loadline_spec::SEARCH_FLAGS.contains(&flag)
    }

    fn default(flag: &str) -> Option<String> {
        ladder_default(flag)
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum PartName {
    /// From a plain process to a pod behind a node port
    SameNode,
    /// A pod on another node: routed, vxlan, ipip, geneve, wireguard
    OtherNode,
    /// What there is instead of veth and bridge: macvlan, ipvlan, netkit, eBPF
    Instead,
    /// Node ports among 1 to 10,000 services
    Services,
    /// A userland proxy, and proxies beside the service and the client
    Proxies,
}

impl LayersArguments {
    /// What the ladder is made of.
    ///
    /// # Errors
    /// When the file with the body cannot be read.
    pub fn flags(&self) -> Result<LadderFlags, UsageError> {
        let mut flags = Flags {
            rates: self.rate.iter().cloned().collect(),
            options: self.options.given.clone(),
            ..Flags::default()
        };
        self.what.fill(&mut flags)?;
        let part = |name: &PartName| match name {
            PartName::SameNode => Part::SameNode,
            PartName::OtherNode => Part::OtherNode,
            PartName::Instead => Part::Instead,
            PartName::Services => Part::Services,
            PartName::Proxies => Part::Proxies,
        };
        Ok(LadderFlags {
            flags,
            parts: self.part.iter().map(part).collect(),
            rungs: self.rung.clone(),
            profile: self.profile,
        })
    }
}
