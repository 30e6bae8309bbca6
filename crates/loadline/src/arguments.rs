//! The command line. Values that describe an experiment stay as typed: the spec reads and checks them, as it does a file's.

mod capacity;
mod layers;
mod load;
mod options;
mod stored;
mod ui;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use loadline_spec::Flags;

use crate::console::ConsoleArguments;
use crate::exit::UsageError;

pub use capacity::CapacityArguments;
pub use layers::LayersArguments;
pub use load::{Format, LoadArguments};
pub use stored::{DecideArguments, HistoryArguments, StoreArguments, StoreCommand};
pub use ui::UiArguments;

use options::{OfCommand, OptionFlags};

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
    /// Keep stored runs in order: name, tag, delete, export and import them
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
    /// The API of `loadline ui`, as OpenAPI
    Api,
}

/// The service and its requests.
#[derive(Args)]
struct ServiceFlags {
    /// Built-in service with its arguments: orders, hello or cpu; 'orders --delay 200us' [default: orders]
    #[arg(long, value_name = "LINE", help_heading = "What")]
    service: Vec<String>,
    /// Your own service, started without a shell; {host} and {port} are replaced by the address to listen on;
    /// 'NAME: COMMAND' names it
    #[arg(long, value_name = "LINE", help_heading = "What")]
    command: Vec<String>,
    /// Measure each service whose line has {NAME} with each of these values: --vary threads=1,4; repeat for more
    #[arg(long, value_name = "NAME=VALUES", help_heading = "What")]
    vary: Vec<String>,
    /// Request: '/path', 'POST /path' or, with its weight, '3 GET /path'; repeat for a mix
    #[arg(long, value_name = "REQUEST", help_heading = "What")]
    request: Vec<String>,
    /// Header of all requests, 'Name: value'; repeat for more
    #[arg(long, short = 'H', value_name = "HEADER", help_heading = "What")]
    header: Vec<String>,
    /// Body; requests with POST, PUT and PATCH get it, and without a --request it is posted
    #[arg(long, value_name = "TEXT", help_heading = "What", conflicts_with = "body_file")]
    body: Option<String>,
    /// File with the body, as UTF-8 text
    #[arg(long, value_name = "FILE", help_heading = "What")]
    body_file: Option<PathBuf>,
    /// What a response must have: status=2xx, header:NAME, header:NAME~TEXT, body=TEXT or body~TEXT; repeat for more
    /// [default: status=2xx]
    #[arg(long, value_name = "CHECK", help_heading = "What")]
    expect: Vec<String>,
}

#[derive(Args)]
pub struct CompareArguments {
    /// Services to compare, each as of --command: 'old: ./server-1 -p {port}' 'new: ./server-2 -p {port}'. Or the numbers of two stored
    /// runs, which are compared as they are: the second with the first
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

/// Whether other programs of this kind are waited for.
#[derive(Args)]
pub struct TurnArguments {
    /// Measure even while another loadline of this user measures on this machine, which disturbs both; otherwise it is waited for
    #[arg(long, env = "LOADLINE_ANYWAY", hide_env = true, value_parser = FalseyValueParser::new(), action = ArgAction::SetTrue)]
    pub anyway: bool,
}

/// What a run is held against once it is measured.
#[derive(Args, Default)]
pub struct AgainstArguments {
    /// Compare with a stored run once this one is measured: its number, or the file of another store, whose latest run is taken. It must
    /// be of this machine
    #[arg(long, value_name = "RUN|FILE", help_heading = "Results")]
    pub against: Option<String>,
    /// Compare even with a run of another machine, kernel or version of loadline
    #[arg(long, requires = "against", help_heading = "Results")]
    pub allow_different: bool,
}

/// By what figures are shown apart.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    Request,
}

/// Where results go.
#[derive(Args)]
pub struct OutputArguments {
    /// File in which runs are stored
    #[arg(
        long,
        value_name = "FILE",
        default_value = "loadline.db",
        help_heading = "Results",
        env = "LOADLINE_STORE",
        hide_env = true
    )]
    pub store: PathBuf,
    /// Show every comparison in full, however many there are
    #[arg(long, help_heading = "Results")]
    pub full: bool,
    /// Also show the figures of each request of a mix by itself; JSON and Markdown always have them
    #[arg(long, value_name = "WHAT", help_heading = "Results")]
    pub by: Option<By>,
    /// Also show the whole distribution of response times, as wrk2 does
    #[arg(long, help_heading = "Results")]
    pub spectrum: bool,
    /// Write the whole result as JSON; - writes to standard output instead of the table
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,
    /// Write a CSV row for each slice
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub csv: Option<PathBuf>,
    /// Write a CSV row for each deployment and cell: iteration,target,rpm,mean_latency_ms,p99_latency_ms,rps
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub csv_summary: Option<PathBuf>,
    /// Write what happens while it happens, as a line of JSON each; - writes to standard output instead of the table. The run ends when
    /// nobody reads it any more
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub events: Option<PathBuf>,
    /// Write flame graphs of profiled cells into this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Results")]
    pub flame_graphs: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub markdown: Option<PathBuf>,
    /// Write the report as one HTML file, which opens without a network
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub html: Option<PathBuf>,
    /// Write the response times of each slice that counts as a log of HdrHistogram, under the name of its cell
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub hlog: Option<PathBuf>,
    /// Write conditions, and claims that must hold, as test cases in JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub junit: Option<PathBuf>,
    /// Write conditions and claims that do not hold, or were not judged, as annotations of GitHub Actions
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub annotations: Option<PathBuf>,
    /// End with exit code 4 if the interval of a comparison proves this: 'p99 slower by > 5%', 'cpu.service costlier by > 2us';
    /// repeat for more, beside those of the experiment file
    #[arg(long, value_name = "CONDITION", help_heading = "Results")]
    pub fail_if: Vec<String>,
    /// With --on-failure continue: don't end with exit code 1 because a service was given up, and begin without platforms that cannot be
    /// reached. Also measure without limits where this user cannot set them
    #[arg(long, help_heading = "Results")]
    pub allow_missing: bool,
}

impl OutputArguments {
    /// The files that the result goes to; `-` among them is standard output.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let reports = [&self.json, &self.csv, &self.csv_summary, &self.markdown, &self.html, &self.junit];
        reports.into_iter().chain([&self.hlog, &self.annotations, &self.events]).flatten()
    }
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
pub struct ServeArguments {
    #[command(subcommand)]
    pub service: ServeCommand,
}

#[derive(Subcommand)]
pub enum ServeCommand {
    /// GET /api/orders: a list of orders as JSON
    Orders {
        /// How many orders; 12 are about 1 KB
        #[arg(long, default_value_t = 12)]
        orders: usize,
        /// Simulated delay: 200us, or a range over which requests are spread evenly: 1ms..5ms
        #[arg(long, value_name = "TIME")]
        delay: Option<loadline_services::Delay>,
        /// Work on at most N requests at once and let the others wait; with --delay, its capacity is then known
        #[arg(long, value_name = "N")]
        at_once: Option<std::num::NonZeroUsize>,
        #[command(flatten)]
        common: ServeOptions,
    },
    /// GET /hello/KEY: a look-up in a concurrent cache
    Hello {
        #[command(flatten)]
        common: ServeOptions,
    },
    /// GET /cpu?n=N: the N-th Fibonacci number, recursively
    Cpu {
        #[command(flatten)]
        common: ServeOptions,
    },
}

#[derive(Args, Clone)]
pub struct ServeOptions {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Do not answer for part of every period: 1s/10s shows what coordinated omission hides
    #[arg(long, value_name = "LENGTH/EVERY")]
    pub stall: Option<loadline_services::Stall>,
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

impl CompareArguments {
    /// The flags of the spec, with the default job filled in.
    ///
    /// # Errors
    /// When the file with the body cannot be read.
    pub fn flags(&self) -> Result<Flags, UsageError> {
        self.experiment.with_commands(&self.services)
    }

    /// The stored runs to compare, if numbers are given instead of services.
    ///
    /// # Errors
    /// When they are not two, or other flags describe something to measure.
    pub fn stored_runs(&self) -> Result<Option<[i64; 2]>, UsageError> {
        let runs: Vec<i64> = self.services.iter().filter_map(|service| service.parse().ok()).collect();
        if runs.is_empty() || runs.len() < self.services.len() {
            return Ok(None);
        }
        let [before, after] = runs[..] else {
            let why = format!("name two stored runs to compare, the earlier one first, not {}", runs.len());
            return Err(UsageError(why));
        };
        if !self.experiment.are_absent() || self.against.against.is_some() {
            let why = format!(
                "runs {before} and {after} are compared as they were measured: leave out the flags that describe a run"
            );
            return Err(UsageError(why));
        }
        Ok(Some([before, after]))
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
        self.experiment.with_commands(&self.what)
    }
}

impl CompareFlags {
    /// Whether none was given.
    pub fn are_absent(&self) -> bool {
        let lists = [
            &self.what.service,
            &self.what.command,
            &self.what.vary,
            &self.what.request,
            &self.what.header,
            &self.what.expect,
            &self.on,
            &self.rate,
        ];
        let body = self.what.body.is_some() || self.what.body_file.is_some();
        lists.iter().all(|given| given.is_empty()) && !body && !self.closed && self.options.given.is_empty()
    }

    /// The flags of the spec with these services, as of `--command`, and with the default job filled in.
    fn with_commands(&self, commands: &[String]) -> Result<Flags, UsageError> {
        let commands = [commands, &self.what.command].concat();
        let or = |given: &[String], defaults: &[&str]| -> Vec<String> {
            if given.is_empty() {
                defaults.iter().map(|word| (*word).to_owned()).collect()
            } else {
                given.to_vec()
            }
        };
        // External platforms bring their own service.
        let external = !self.on.is_empty() && self.on.iter().all(|on| on.contains("://"));
        let no_service = !commands.is_empty() || external;
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
        if !no_service {
            flags.services = or(&flags.services, &["orders"]);
        }
        Ok(flags)
    }
}

impl ServiceFlags {
    fn fill(&self, flags: &mut Flags) -> Result<(), UsageError> {
        flags.services = self.service.clone();
        flags.commands = self.command.clone();
        flags.vary = self.vary.clone();
        flags.requests = self.request.clone();
        flags.headers = self.header.clone();
        flags.body = self.body.clone();
        if let Some(path) = &self.body_file {
            let read = std::fs::read_to_string(path);
            let failed = |error| UsageError(format!("cannot read the body {}: {error}", path.display()));
            flags.body = Some(read.map_err(failed)?);
        }
        flags.expect = self.expect.clone();
        Ok(())
    }
}
