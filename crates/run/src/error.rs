//! Why a run cannot continue, with the last output of the service.

use loadline_model::experiment::ObjectiveFault;
use loadline_model::{CellId, printable};

/// An error of a platform or a journal.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a run ended before its plan was complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What all sites share could not be created or removed.
    #[error("{0}")]
    Environment(#[source] BoxError),
    /// Daemons or clusters do not answer, before anything was started.
    #[error("{}", unreachable(platforms, *continues))]
    Unreachable {
        /// The platforms' names, and why.
        platforms: Vec<(String, BoxError)>,
        /// Whether the run would continue without a service that fails.
        continues: bool,
    },
    /// The platform failed for a site.
    #[error("{site}: {source}")]
    Site {
        /// Service and platform.
        site: String,
        /// Why.
        source: BoxError,
    },
    /// The journal failed.
    #[error("{0}")]
    Journal(#[source] BoxError),
    /// The load could not be driven.
    #[error("{site}: {source}")]
    Engine {
        /// Service and platform.
        site: String,
        /// Why.
        source: loadline_agent::DriveError,
    },
    /// A rate is out of range.
    #[error(transparent)]
    Rate(#[from] loadline_model::load::RateError),
    /// A search could not end.
    #[error(transparent)]
    OutOfTime(#[from] crate::strategy::OutOfTime),
    /// A service did not become ready, or ended.
    #[error("{site}: {why}{output}")]
    Service {
        /// Service and platform.
        site: String,
        /// What happened.
        why: String,
        /// The end of its output, each line indented.
        output: String,
    },
    /// Slices cannot be judged by an objective of the search.
    #[error("{site}: cannot judge slices by `{objective}`: {fault}")]
    Objective {
        /// Service and platform.
        site: String,
        /// In its author's words.
        objective: String,
        /// Why.
        fault: ObjectiveFault,
    },
    /// A strategy asked for a cell whose site is not deployed.
    #[error(
        "cannot measure cell {cell}: its site is not deployed (a fault in loadline's plan; please report it)"
    )]
    NotDeployed {
        /// The cell.
        cell: CellId,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

/// Lines of a service's output that an error shows, and characters of each.
const SHOWN_LINES: usize = 20;
const SHOWN_CHARACTERS: usize = 400;

impl RunError {
    /// An error about a service, with the end of its output.
    pub fn service(site: &str, why: impl Into<String>, output: &str) -> RunError {
        let lines: Vec<&str> = output.lines().collect();
        let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        let output = match shown {
            [] => "\n  (it printed nothing)".to_owned(),
            lines => format!(
                "\n  its last output:\n{}",
                lines.iter().map(|line| format!("    {}\n", shown_line(line))).collect::<String>()
            ),
        };
        RunError::Service { site: site.to_owned(), why: why.into(), output: output.trim_end().to_owned() }
    }

    /// Whether it concerns a single site, so that a run may continue without it.
    pub fn is_of_a_site(&self) -> bool {
        matches!(self, RunError::Service { .. } | RunError::Site { .. } | RunError::Engine { .. })
    }
}

/// One line for a single platform, one each for several.
fn unreachable(platforms: &[(String, BoxError)], continues: bool) -> String {
    let way_on = if continues { "; --allow-missing measures the others" } else { "" };
    match platforms {
        [(name, error)] => format!("{name}: {error}\n  no service was started{way_on}"),
        several => {
            let lines: String = several.iter().map(|(name, error)| format!("\n  {name}: {error}")).collect();
            format!("{} platforms cannot be reached{lines}\n  no service was started{way_on}", several.len())
        }
    }
}

/// A line of a service's output as an error shows it.
fn shown_line(line: &str) -> String {
    let mut shown = printable(line).into_owned();
    if let Some((end, _)) = shown.char_indices().nth(SHOWN_CHARACTERS) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}
