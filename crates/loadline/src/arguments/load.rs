//! The arguments of `loadline load`: its own, and beside them those of wrk and wrk2, so that what was written for them goes on
//! working.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct LoadArguments {
    /// Where to send requests: http://127.0.0.1:8080/path
    pub url: String,

    /// Rate with its unit, or a rate over time: 2000/s, 100/min, 1000/s..5000/s@30s, 1000/s@10s,2000/s@10s
    /// [default: a closed loop]
    #[arg(long, help_heading = "Load", conflicts_with_all = ["closed", "wrk_rate", "replay"])]
    pub rate: Option<String>,
    /// Rate as wrk2 takes it: 2000 or 2k requests per second
    #[arg(short = 'R', value_name = "N", help_heading = "Load", conflicts_with_all = ["closed", "replay"])]
    pub wrk_rate: Option<String>,
    /// How requests arrive: uniform or poisson [default: uniform]
    #[arg(long, value_name = "PROCESS", help_heading = "Load", conflicts_with_all = ["closed", "replay"])]
    pub arrivals: Option<String>,
    /// Send requests at the times in this file: one a line, in seconds or as 250ms
    #[arg(long, value_name = "FILE", help_heading = "Load", conflicts_with = "closed")]
    pub replay: Option<PathBuf>,
    /// Closed loop: every connection sends its next request when the last is answered
    #[arg(long, help_heading = "Load")]
    pub closed: bool,
    /// Time between an answer and the next request of a closed loop, exponential: 100ms; or always the same: 100ms:fixed
    #[arg(long, value_name = "TIME", help_heading = "Load", conflicts_with_all = ["rate", "wrk_rate", "replay"])]
    pub think: Option<String>,
    /// How long [default: 10s, or as long as the rate's steps or the file]
    #[arg(long = "for", value_name = "TIME", help_heading = "Load")]
    pub duration: Option<String>,
    /// How long, as wrk takes it: 30, 30s, 2m
    #[arg(
        short = 'd',
        long = "duration",
        value_name = "TIME",
        help_heading = "Load",
        conflicts_with = "duration"
    )]
    pub wrk_duration: Option<String>,
    /// Seed of the schedule and of the choice among requests
    #[arg(long, value_name = "N", default_value = "7", help_heading = "Load")]
    pub seed: String,

    /// Connections kept open
    #[arg(long, short, value_name = "N", default_value = "64", help_heading = "Connections")]
    pub connections: String,
    /// Load threads
    #[arg(long, short, value_name = "N", default_value = "1", help_heading = "Connections")]
    pub threads: String,
    /// CPUs that load threads are pinned to: 0,2-3
    #[arg(long, value_name = "CPUS", help_heading = "Connections")]
    pub cpus: Option<String>,
    /// Open a connection for every request; its handshakes count
    #[arg(long, help_heading = "Connections", conflicts_with = "requests_per_connection")]
    pub new_connections: bool,
    /// Close a connection after so many requests
    #[arg(long, value_name = "N", help_heading = "Connections")]
    pub requests_per_connection: Option<String>,
    /// Speak HTTP/2, over TLS as in clear text
    #[arg(long, help_heading = "Connections")]
    pub http2: bool,
    /// Requests at once on a connection of HTTP/2, which this implies
    #[arg(long, value_name = "N", help_heading = "Connections")]
    pub streams: Option<String>,
    /// Connect to this Unix socket; the URL gives host and path
    #[arg(
        long,
        value_name = "PATH",
        help_heading = "Connections",
        conflicts_with_all = ["source", "interface", "resolve", "netns", "timestamps"]
    )]
    pub unix: Option<PathBuf>,
    /// Connect from this local address
    #[arg(long, value_name = "ADDRESS", help_heading = "Connections")]
    pub source: Option<String>,
    /// Connect through this network interface alone
    #[arg(long, value_name = "NAME", help_heading = "Connections")]
    pub interface: Option<String>,
    /// When the host's name is looked up: once or per-connection [default: once]
    #[arg(long, value_name = "WHEN", help_heading = "Connections")]
    pub resolve: Option<String>,
    /// Network namespace to load from: a name as of `ip netns`, or a path
    #[arg(long, value_name = "NAME", help_heading = "Connections")]
    pub netns: Option<String>,

    /// Method [default: GET, or POST with a body]
    #[arg(long, short = 'X', help_heading = "Requests", conflicts_with = "request")]
    pub method: Option<String>,
    /// Header, 'Name: value'; repeat for more
    #[arg(long, short = 'H', value_name = "HEADER", help_heading = "Requests")]
    pub header: Vec<String>,
    /// Body; of several requests, those with POST, PUT and PATCH get it
    #[arg(long, value_name = "TEXT", help_heading = "Requests", conflicts_with = "body_file")]
    pub body: Option<String>,
    /// File with the body
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    pub body_file: Option<PathBuf>,
    /// Request '/path', 'POST /path' or, with its weight, '3 GET /path' instead of the URL's path; repeat for a mix
    #[arg(long, value_name = "REQUEST", help_heading = "Requests")]
    pub request: Vec<String>,
    /// CSV file that fills {{column}} in path, headers and body, a row for each request
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    pub feed: Option<PathBuf>,
    /// What a response must have: status=2xx, header:NAME, header:NAME~TEXT, body=TEXT or body~TEXT; repeat for more
    /// [default: status=2xx]
    #[arg(long, value_name = "CHECK", help_heading = "Requests")]
    pub expect: Vec<String>,
    /// Longest wait for a response: 2s or 500ms; a bare number is seconds, as for wrk
    #[arg(long, short = 'T', value_name = "TIME", default_value = "10s", help_heading = "Requests")]
    pub timeout: String,

    /// Certificates to trust instead of the system's (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub ca: Option<PathBuf>,
    /// The client's own certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Key of the client's certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Name to ask for and to check the certificate against, instead of the URL's host
    #[arg(long, value_name = "NAME", help_heading = "TLS")]
    pub sni: Option<String>,
    /// Take any certificate
    #[arg(long, short = 'k', help_heading = "TLS")]
    pub insecure: bool,
    /// Make a full handshake for every connection
    #[arg(long, help_heading = "TLS")]
    pub no_resumption: bool,

    /// What standard output gets: a table, or what wrk prints
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    pub format: Format,
    /// With --format wrk: the distribution of latency as well
    #[arg(long, short = 'L', help_heading = "Output")]
    pub latency: bool,
    /// With --format wrk and a rate: the distribution of service time as well, as wrk2 does
    #[arg(long = "u_latency", short = 'U', help_heading = "Output")]
    pub uncorrected_latency: bool,
    /// Write everything as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Write the table as Markdown
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub markdown: Option<PathBuf>,
    /// Write the distribution of response times for HdrHistogram's plotter, in ms
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub hgrm: Option<PathBuf>,
    /// Write an HdrHistogram log: response, service and send lag of every second, in ns
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub hlog: Option<PathBuf>,
    /// Write one CSV row a second
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<PathBuf>,

    /// Whose clock ends a response: user, when it was read, or kernel, when its last packet came [default: user]
    #[arg(long, value_name = "WHOSE", help_heading = "Measurement")]
    pub timestamps: Option<String>,

    /// wrk's Lua script, which is not run
    #[arg(long, short, value_name = "FILE", hide = true)]
    pub script: Option<PathBuf>,
    /// Arguments of the script
    #[arg(last = true, hide = true, requires = "script")]
    pub script_arguments: Vec<String>,
}

/// What standard output gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Wrk,
}
