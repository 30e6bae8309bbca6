//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Compares loadline with other load generators on this machine.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub bench: BenchArguments,
}

#[derive(Subcommand)]
pub enum Command {
    /// The bare epoll loop, one of the contestants
    #[command(hide = true)]
    Bare { address: SocketAddr, connections: usize, seconds: f64 },
}

#[derive(Args)]
pub struct BenchArguments {
    /// Measure this only; repeat for more
    #[arg(long, value_enum, value_name = "WHAT")]
    only: Vec<Part>,
    /// Rounds; each measures every generator once
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Two short rounds, to check that everything works; the figures are meaningless
    #[arg(long)]
    quick: bool,
    /// The loadline program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    pub loadline: Option<PathBuf>,
    /// Where bench/install-peers installed the others [default: peers/ next to this program's folder]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
    /// Where `cargo bench` wrote its results [default: criterion/ next to this program's folder]
    #[arg(long, value_name = "FOLDER")]
    pub criterion: Option<PathBuf>,
    /// Write the results to this file; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// CPU time per request and throughput of a closed loop
    Saturation,
    /// Exactness of times and of the rate, and how requests are spaced
    Rate,
    /// Memory with many connections and over time
    Memory,
}

impl BenchArguments {
    /// Whether a part was requested.
    pub fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// How much is measured.
    pub fn effort(&self) -> Effort {
        Effort { rounds: if self.quick { self.rounds.min(2) } else { self.rounds }, quick: self.quick }
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds of everything that is repeated.
    pub rounds: u32,
    /// Whether this is only a check that everything works.
    pub quick: bool,
}

impl Effort {
    /// How long to run what takes `time` in a complete measurement.
    pub fn time(&self, time: Duration) -> Duration {
        if self.quick { time.min(Duration::from_secs(1)) } else { time }
    }
}
