//! What all commands that measure have in common: when they may begin, what their results are held against, and where these go.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, ValueEnum};

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
    /// be of this machine, with the same limits
    #[arg(long, value_name = "RUN|FILE", help_heading = "Results")]
    pub against: Option<String>,
    /// Compare even with a run of another machine, kernel, daemon, version of loadline or limits
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
