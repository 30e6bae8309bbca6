//! The arguments of what is done with stored runs: `loadline store`, `history` and `decide`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct DecideArguments {
    /// Number of a run of `loadline capacity` [default: the latest run]
    pub run: Option<i64>,
    /// The load: a rate, 5000/min, or a CSV file with a row for each hour of the day: 13,4200/min
    #[arg(long, value_name = "RATE|FILE")]
    pub load: String,
    /// File with prices (YAML); see examples/prices/prices.yaml
    #[arg(long, value_name = "FILE")]
    pub prices: PathBuf,
    /// File in which runs are stored
    #[arg(long, value_name = "FILE", default_value = "loadline.db", env = "LOADLINE_STORE", hide_env = true)]
    pub store: PathBuf,
    /// Write the whole decision as JSON; - writes to standard output instead of the table
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,
}

#[derive(Args)]
pub struct StoreArguments {
    /// File in which runs are stored
    #[arg(
        long,
        value_name = "FILE",
        default_value = "loadline.db",
        env = "LOADLINE_STORE",
        hide_env = true,
        global = true
    )]
    pub store: PathBuf,
    #[command(subcommand)]
    pub command: StoreCommand,
}

#[derive(Subcommand)]
pub enum StoreCommand {
    /// List the newest runs, the latest last
    List(ListArguments),
    /// Rename a run
    Rename { run: i64, name: String },
    /// Add tags to a run, by which `loadline report --list --match` finds it
    Tag {
        run: i64,
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Remove tags from a run
    Untag {
        run: i64,
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Delete runs with all that was measured in them
    Delete {
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<i64>,
    },
    /// Delete all runs except the newest and those that have a tag
    Prune {
        /// How many of the newest stay
        #[arg(long, value_name = "COUNT")]
        keep: usize,
    },
    /// Copy runs into another store, which is made if it is not there
    Export {
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<i64>,
        /// The other store
        #[arg(long, short = 'o', value_name = "FILE")]
        file: PathBuf,
    },
    /// Copy all runs of another store into this one: merges the two
    #[command(visible_alias = "merge")]
    Import {
        /// The other store
        file: PathBuf,
    },
}

#[derive(Args)]
pub struct ListArguments {
    /// List so many runs at most
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub last: usize,
    /// List those whose name, question, services, platforms or loads hold this text
    #[arg(long = "match", value_name = "TEXT")]
    pub matching: Option<String>,
}

#[derive(Args)]
pub struct HistoryArguments {
    /// Metric: p50, p99, mean, cpu.service, memory.peak …, or capacity of what searches found
    #[arg(default_value = "p50")]
    pub metric: String,
    /// Only runs whose name or tag contains this text
    #[arg(long = "match", value_name = "TEXT")]
    pub matching: Option<String>,
    /// File in which runs are stored
    #[arg(long, value_name = "FILE", default_value = "loadline.db", env = "LOADLINE_STORE", hide_env = true)]
    pub store: PathBuf,
    /// Write the whole history as JSON; - writes to standard output instead of the chart
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,
    /// Write a CSV row for each point
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub csv: Option<PathBuf>,
}
