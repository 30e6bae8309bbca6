//! The command line. Values that describe an experiment stay as typed: the spec reads and checks them, as it does a file's.

mod capacity;
mod compare;
mod layers;
mod load;
mod options;
mod outputs;
mod serve;
mod service;
mod stored;
mod ui;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::console::ConsoleArguments;

pub use capacity::CapacityArguments;
pub use compare::{CompareArguments, PreviewArguments, StoredRuns, TryArguments};
pub use layers::LayersArguments;
pub use load::{Format, LoadArguments};
pub use outputs::{AgainstArguments, By, OutputArguments, TurnArguments};
pub use serve::{ServeArguments, ServeCommand, ServeOptions};
pub use service::or_orders;
pub use stored::{DecideArguments, HistoryArguments, StoreArguments, StoreCommand};
pub use ui::UiArguments;

use options::{OfCommand, OptionFlags};
use service::ServiceFlags;

/// Measures what a deployment platform costs an HTTP service, with confidence intervals.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done · 1 failed · 2 wrong usage or a bad file · \
    3 measured, but not to be trusted ·\n\
    4 a --fail-if condition holds · 130 interrupted\n\
    Defaults: ~/.config/loadline/config.yaml may set store, color, quiet and anyway; LOADLINE_STORE and so on\n\
    override it, and options both"
)]
pub struct Arguments {
    #[command(flatten)]
    pub console: ConsoleArguments,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compare a service on several platforms, or several services on one
    Compare(Box<CompareArguments>),
    /// Run an experiment file
    Run(RunArguments),
    /// Write a commented experiment for what is found in this folder: a running service, a Dockerfile, manifests
    Init(InitArguments),
    /// Show what a run would do: the experiment as YAML, its cells, the turns of the first block and its duration; nothing is started
    Plan(Box<PreviewArguments>),
    /// Send each request once, to each service on each platform, and show what was sent and what came back; nothing is measured
    Try(Box<TryArguments>),
    /// Measure what each layer between client and service costs: cgroup, veth, bridge, connection tracking, node port, overlay …
    Layers(Box<LayersArguments>),
    /// Find the highest rate at which a service meets objectives, on each platform
    Capacity(Box<CapacityArguments>),
    /// Send load to a URL and show its response times
    Load(Box<LoadArguments>),
    /// Show a stored run again
    Report(ReportArguments),
    /// Show what each platform costs that carries a load over a day, from the capacities that a run found
    Decide(DecideArguments),
    /// Show a metric over the stored runs, and where it changed
    History(HistoryArguments),
    /// Serve the stored runs as pages, and start new ones from them
    Ui(UiArguments),
    /// Keep stored runs in order: list, name, tag, delete, export and import them
    Store(StoreArguments),
    /// Run a built-in service
    Serve(ServeArguments),
    /// Write an image of a built-in service, a static binary or a folder
    Image(ImageArguments),
    /// Generate load and observe containers on behalf of a loadline elsewhere
    ///
    /// A run starts it inside a cluster, as the command of a Job or a DaemonSet with the image of loadline, and reaches it through the
    /// API server's port-forward. It obeys whoever can connect, so it listens on a loopback address only. It prints `listening on
    /// ADDRESS` and ends on SIGTERM or Ctrl-C; a load ends with the connection that asked for it.
    ///
    /// To observe a container it needs the node's processes and cgroups: hostPID, and /sys/fs/cgroup of the node mounted.
    // Not for the list of what a user does.
    #[command(hide = true)]
    Agent(AgentArguments),
    /// Examine this machine: which differences it detects in 1, 10 and 60 minutes, and what would improve that
    Doctor(DoctorArguments),
    /// Remove what killed runs left behind on this machine
    Clean,
    /// Print a JSON Schema: of experiment files, of their results, of the result of a load, or of an examination of a machine; or the API of
    /// `loadline ui`
    Schema {
        #[arg(value_enum)]
        which: SchemaOf,
    },
    /// Print a script that completes commands and options in a shell: loadline completions bash > ~/.local/share/bash-completion/completions/loadline
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write man pages into a folder
    Man {
        /// Is created if it is not there
        folder: PathBuf,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SchemaOf {
    Experiment,
    Result,
    Load,
    Doctor,
    History,
    /// The API of `loadline ui`, as OpenAPI
    Api,
}

#[derive(Args)]
pub struct InitArguments {
    /// File to write; one that is there already stays as it is
    #[arg(default_value = "loadline.yaml")]
    pub file: PathBuf,
}

#[derive(Args)]
pub struct RunArguments {
    /// Experiment file (YAML); see examples/. - reads it from standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub turn: TurnArguments,
    #[command(flatten)]
    pub against: AgainstArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

#[derive(Args)]
pub struct ReportArguments {
    /// Number of the run [default: the latest]
    pub run: Option<i64>,
    /// List the newest runs of the store, the latest last
    #[arg(long, conflicts_with = "run")]
    pub list: bool,
    /// List so many runs at most
    #[arg(long, value_name = "COUNT", default_value_t = 20, requires = "list")]
    pub last: usize,
    /// List those whose name, question, services, platforms or loads hold this text
    #[arg(long = "match", value_name = "TEXT", requires = "list")]
    pub matching: Option<String>,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

#[derive(Args)]
pub struct DoctorArguments {
    /// About how long to measure; the longer, the surer the estimate
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(10..=3600))]
    pub seconds: u32,
    #[command(flatten)]
    pub turn: TurnArguments,
    /// Write the whole result as JSON; - writes to standard output instead of the table
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,
}

#[derive(Args)]
pub struct AgentArguments {
    /// Loopback address to listen on; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS")]
    pub listen: SocketAddr,
}

#[derive(Args)]
pub struct ImageArguments {
    /// Built-in service (orders, hello, cpu), loadline itself, the path of a static binary, or a folder with a service's files
    /// (write ./orders for a file or folder with that name)
    #[arg(value_name = "SERVICE|BINARY|FOLDER")]
    pub program: PathBuf,
    /// Default arguments of the service or binary in a container; for a folder, the command that starts the service in it
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
    /// Program of this machine that a folder's image gets, with its runtime and libraries: python3, node, java, /usr/sbin/nginx; may be repeated
    #[arg(long, value_name = "PROGRAM")]
    pub with: Vec<PathBuf>,
    /// Archive to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Image name; without a tag, the binary's or folder's digest is the tag
    /// [default: localhost/ and the name of the binary or folder, or localhost/loadline]
    #[arg(long, value_name = "NAME[:TAG]")]
    pub name: Option<String>,
}
