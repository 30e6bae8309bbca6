//! The command line. Values that describe an experiment stay as typed: the spec reads and checks them, as it does a file's.

mod layers;
mod load;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use loadline_spec::Flags;

pub use layers::LayersArguments;
pub use load::{Format, LoadArguments};

/// What a deployment platform costs an HTTP service, proved with intervals.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done · 1 failed · 2 wrong usage or a bad file · \
    3 measured, but not to be trusted · 130 interrupted"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compare a service on several platforms, or several services on one
    Compare(Box<CompareArguments>),
    /// Run an experiment file
    Run(RunArguments),
    /// What each layer between client and service costs: cgroup, veth, bridge, connection tracking, node port, overlay …
    Layers(Box<LayersArguments>),
    /// Load a URL and show its response times
    Load(Box<LoadArguments>),
    /// Show a run again from the store
    Report(ReportArguments),
    /// Run a built-in service
    Serve(ServeArguments),
    /// Write an image of a built-in service or a static binary
    Image(ImageArguments),
    /// Drive load and observe containers for a loadline elsewhere
    ///
    /// A run starts it inside a cluster, as the command of a Job or a DaemonSet with the image of loadline, and reaches it through the
    /// API server's port-forward. It obeys whoever can connect, so it listens on a loopback address only. It prints `listening on
    /// ADDRESS` and ends on SIGTERM or Ctrl-C; the load that it drives for somebody ends with the connection to them.
    ///
    /// To observe a container it needs the node's processes and cgroups: hostPID, and /sys/fs/cgroup of the node mounted.
    // Not for the list of what a user does.
    #[command(hide = true)]
    Agent(AgentArguments),
    /// Remove what killed runs left on this machine
    Clean,
    /// Print a JSON Schema: of experiment files or of results
    Schema {
        #[arg(value_enum)]
        which: SchemaOf,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SchemaOf {
    Experiment,
    Result,
}

/// The service and its requests.
#[derive(Args)]
struct ServiceFlags {
    /// Built-in service with its arguments: orders, hello or cpu; 'orders --delay 200us' [default: orders]
    #[arg(long, value_name = "LINE", help_heading = "What")]
    service: Vec<String>,
    /// Your own service, started without a shell; {host} and {port} are filled in
    #[arg(long, value_name = "LINE", help_heading = "What")]
    command: Vec<String>,
    /// Request: '/path', 'GET /path' or 'POST /path'; repeat for a mix
    #[arg(long, value_name = "REQUEST", help_heading = "What")]
    request: Vec<String>,
    /// Path that answers 2xx once the service is ready
    #[arg(long, value_name = "PATH", help_heading = "What")]
    ready: Option<String>,
}

/// Who runs on which CPUs.
#[derive(Args)]
struct CpuFlags {
    /// CPUs that services are pinned to: 0,2-3, or all: not pinned, they see every CPU, as a pod does
    #[arg(long, value_name = "CPUS", help_heading = "Where")]
    service_cpus: Option<String>,
    /// CPUs that load threads are pinned to
    #[arg(long, value_name = "CPUS", help_heading = "Where")]
    load_cpus: Option<String>,
}

#[derive(Args)]
pub struct CompareArguments {
    #[command(flatten)]
    what: ServiceFlags,
    /// Image that a container platform starts [default: made of the service's program, if that is linked statically]
    #[arg(long, value_name = "NAME", help_heading = "What")]
    image: Option<String>,
    /// Platform: host, docker, docker:host, kubernetes, kubernetes:podIP+other-node, a URL, or the same paths laid by loadline itself:
    /// container, pod, local:cgroup+veth+bridge+nodeport; the first is the baseline [default: host and pod]
    #[arg(long, value_name = "PLATFORM", help_heading = "Where")]
    on: Vec<String>,
    /// Whether host and local platforms share this machine's network or have a node of their own each, as some layers need: shared or
    /// own [default: shared]
    #[arg(long, value_name = "WHICH", help_heading = "Where")]
    nodes: Option<String>,
    /// CPUs that the service may use on every platform: 1, 0.5
    #[arg(long, value_name = "CPUS", help_heading = "Where")]
    limit_cpu: Option<String>,
    /// Memory that the service may use on every platform: 512Mi
    #[arg(long, value_name = "SIZE", help_heading = "Where")]
    limit_memory: Option<String>,
    #[command(flatten)]
    cpus: CpuFlags,
    /// Rate with its unit: 2000/s, 100/min; repeat for several loads [default: 2000/s]
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    rate: Vec<String>,
    /// Closed loop: every connection sends its next request when the last is answered
    #[arg(long, help_heading = "Load")]
    closed: bool,
    /// How requests arrive: poisson or uniform [default: poisson]
    #[arg(long, value_name = "PROCESS", help_heading = "Load")]
    arrivals: Option<String>,
    /// Time between an answer and the next request of a closed loop, exponential: 100ms; or always the same: 100ms:fixed
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    think: Option<String>,
    /// Connections kept open [default: 16]
    #[arg(long, value_name = "N", help_heading = "Load")]
    connections: Option<String>,
    #[command(flatten)]
    protocol: ProtocolFlags,
    #[command(flatten)]
    tls: TlsFlags,
    #[command(flatten)]
    plan: PlanArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// What is spoken, and what is expected of the responses.
#[derive(Args)]
struct ProtocolFlags {
    /// Open a connection for every request; its handshakes count
    #[arg(long, help_heading = "Load")]
    new_connections: bool,
    /// Speak HTTP/2, over TLS as in clear text
    #[arg(long, help_heading = "Load")]
    http2: bool,
    /// Requests at once on a connection of HTTP/2, which this implies
    #[arg(long, value_name = "N", help_heading = "Load")]
    streams: Option<String>,
    /// Longest wait for a response [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    timeout: Option<String>,
    /// CSV file that fills {{column}} in the requests' paths, a row for each request
    #[arg(long, value_name = "FILE", help_heading = "What")]
    feed: Option<String>,
    /// What a response must have: status=2xx, header:NAME, header:NAME~TEXT, body=TEXT or body~TEXT; repeat for more
    /// [default: status=2xx]
    #[arg(long, value_name = "CHECK", help_heading = "What")]
    expect: Vec<String>,
}

/// What the client does where TLS is spoken.
#[derive(Args)]
struct TlsFlags {
    /// The service speaks https where it is started; of a URL its scheme says so
    #[arg(long, help_heading = "TLS")]
    https: bool,
    /// Certificates to trust instead of the system's (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    ca: Option<String>,
    /// The client's own certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    cert: Option<String>,
    /// Key of the client's certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    key: Option<String>,
    /// Name to ask for and to check the certificate against, instead of the URL's host or the service's address
    #[arg(long, value_name = "NAME", help_heading = "TLS")]
    sni: Option<String>,
    /// Accept any certificate
    #[arg(long, short = 'k', help_heading = "TLS")]
    insecure: bool,
}

#[derive(Args)]
struct PlanArguments {
    /// Length of a slice [default: 1.2s]
    #[arg(long, value_name = "TIME", help_heading = "How much")]
    slice: Option<String>,
    /// Blocks in each deployment; a block is one slice of every cell [default: 3]
    #[arg(long, value_name = "N", help_heading = "How much")]
    blocks: Option<String>,
    /// How often everything is deployed anew; intervals need several [default: 8]
    #[arg(long, value_name = "N", help_heading = "How much")]
    deployments: Option<String>,
    /// Go on until the median's difference is known this well: 1%
    #[arg(long, value_name = "SHARE", help_heading = "How much")]
    until: Option<String>,
    /// Begin no further deployment after this time
    #[arg(long, value_name = "TIME", help_heading = "How much")]
    within: Option<String>,
    /// Differences within this share count as equivalent [default: 1%, or the resolution]
    #[arg(long, value_name = "SHARE", help_heading = "How much")]
    margin: Option<String>,
    /// Seed of order and schedules [default: 7]
    #[arg(long, value_name = "N", help_heading = "How much")]
    seed: Option<String>,
    /// Longest warm-up of a cell [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "How much")]
    warmup: Option<String>,
    /// How often a slice that fails a gate is repeated [default: 2]
    #[arg(long, value_name = "N", help_heading = "How much")]
    repeats: Option<String>,
    /// Don't deploy the baseline a second time to see the noise
    #[arg(long, help_heading = "How much")]
    no_twin: bool,
    /// Whether all services share the machine: shared or exclusive [default: shared]
    #[arg(long, value_name = "HOW", help_heading = "How much")]
    isolation: Option<String>,
    /// How cells take turns: auto, slices or requests [default: auto]
    #[arg(long, value_name = "HOW", help_heading = "How much")]
    interleave: Option<String>,
    /// When a service fails: end or continue without it [default: end]
    #[arg(long, value_name = "WHAT", help_heading = "How much")]
    on_failure: Option<String>,
}

#[derive(Args)]
pub struct RunArguments {
    /// Experiment file (YAML); see examples/
    pub file: PathBuf,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// Where results go.
#[derive(Args)]
pub struct OutputArguments {
    /// File that keeps every run
    #[arg(long, value_name = "FILE", default_value = "loadline.db", help_heading = "Results")]
    pub store: PathBuf,
    /// Write the whole result as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,
    /// Write one CSV row a slice
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub csv: Option<PathBuf>,
    /// Write one CSV row per deployment and cell: iteration,target,rpm,mean_latency_ms,p99_latency_ms,rps
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub csv_summary: Option<PathBuf>,
    /// Folder for flame graphs of what was profiled
    #[arg(long, value_name = "FOLDER", help_heading = "Results")]
    pub flame_graphs: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub markdown: Option<PathBuf>,
}

#[derive(Args)]
pub struct ReportArguments {
    /// Number of the run [default: the latest]
    pub run: Option<i64>,
    /// List the runs in the store
    #[arg(long)]
    pub list: bool,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

#[derive(Args)]
pub struct AgentArguments {
    /// Loopback address to listen on; port 0 takes one that is free
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
        /// Simulated delay: 200us, or 1ms..5ms, over which requests are spread evenly
        #[arg(long, value_name = "TIME")]
        delay: Option<loadline_services::Delay>,
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
    /// Answer nothing for a while in every period: 1s/10s shows what coordinated omission hides
    #[arg(long, value_name = "LENGTH/EVERY")]
    pub stall: Option<loadline_services::Stall>,
}

#[derive(Args)]
pub struct ImageArguments {
    /// Built-in service (orders, hello, cpu), loadline itself, or the path of a static binary (./orders for a file of that name)
    #[arg(value_name = "SERVICE|BINARY")]
    pub program: PathBuf,
    /// Arguments that the service or binary gets in every container that is given none
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
    /// Archive to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Name of the image; without a tag it gets the binary's digest
    /// [default: localhost/ and the binary's name, or localhost/loadline]
    #[arg(long, value_name = "NAME[:TAG]")]
    pub name: Option<String>,
}

impl CompareArguments {
    /// The flags of the spec, with the default job filled in.
    pub fn flags(&self) -> Flags {
        let or = |given: &[String], defaults: &[&str]| -> Vec<String> {
            if given.is_empty() {
                defaults.iter().map(|word| (*word).to_owned()).collect()
            } else {
                given.to_vec()
            }
        };
        // External platforms bring their own service.
        let external = !self.on.is_empty() && self.on.iter().all(|on| on.contains("://"));
        let no_service = !self.what.command.is_empty() || external;
        let mut flags = Flags {
            image: self.image.clone(),
            on: or(&self.on, &["host", "pod"]),
            rates: if self.closed { self.rate.clone() } else { or(&self.rate, &["2000/s"]) },
            closed: self.closed,
            connections: self.connections.clone(),
            arrivals: self.arrivals.clone(),
            nodes: self.nodes.clone(),
            limit_cpu: self.limit_cpu.clone(),
            limit_memory: self.limit_memory.clone(),
            ..Flags::default()
        };
        flags.think = self.think.clone();
        self.what.fill(&mut flags);
        self.protocol.fill(&mut flags);
        self.tls.fill(&mut flags);
        self.cpus.fill(&mut flags);
        self.plan.fill(&mut flags);
        if !no_service {
            flags.services = or(&flags.services, &["orders"]);
        }
        flags
    }
}

impl ServiceFlags {
    fn fill(&self, flags: &mut Flags) {
        flags.services = self.service.clone();
        flags.commands = self.command.clone();
        flags.requests = self.request.clone();
        flags.ready = self.ready.clone();
    }
}

impl ProtocolFlags {
    fn fill(&self, flags: &mut Flags) {
        flags.new_connections = self.new_connections;
        flags.http2 = self.http2;
        flags.streams = self.streams.clone();
        flags.timeout = self.timeout.clone();
        flags.feed = self.feed.clone();
        flags.expect = self.expect.clone();
    }
}

impl TlsFlags {
    fn fill(&self, flags: &mut Flags) {
        flags.https = self.https;
        flags.ca = self.ca.clone();
        flags.cert = self.cert.clone();
        flags.key = self.key.clone();
        flags.server_name = self.sni.clone();
        flags.insecure = self.insecure;
    }
}

impl CpuFlags {
    fn fill(&self, flags: &mut Flags) {
        flags.service_cpus = self.service_cpus.clone();
        flags.load_cpus = self.load_cpus.clone();
    }
}

impl PlanArguments {
    fn fill(&self, flags: &mut Flags) {
        flags.slice = self.slice.clone();
        flags.blocks = self.blocks.clone();
        flags.deployments = self.deployments.clone();
        flags.seed = self.seed.clone();
        flags.until = self.until.clone();
        flags.within = self.within.clone();
        flags.margin = self.margin.clone();
        flags.no_twin = self.no_twin;
        flags.isolation = self.isolation.clone();
        flags.interleave = self.interleave.clone();
        flags.on_failure = self.on_failure.clone();
        flags.warmup = self.warmup.clone();
        flags.repeats = self.repeats.clone();
    }
}
