//! What can go wrong with a process of this machine and the layers before it.
//! Every variant says what was tried, on what, and where it helps, what to do.

mod cni;

use std::path::PathBuf;

use loadline_model::platform::{Layer, LayersError};
use loadline_platform::PlatformError;

pub use cni::CniError;

/// A process behind layers could not be had, or not be removed.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Something could not be made on this machine, or not be removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// The service has no command at all.
    #[error("the service has an empty command")]
    EmptyCommand,
    /// No file of that name exists where commands are looked for.
    #[error("the command `{command}` was not found ({searched})")]
    CommandNotFound {
        /// The command as given.
        command: String,
        /// Where it was looked for.
        searched: String,
    },
    /// The file is there, but it isn't a program this user may start.
    #[error("`{}` is not an executable file for this user (chmod +x makes it one)", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// Layers that do not go together.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// What this machine lacks for a layer.
    #[error("the layer `{layer}` can't be had here: {why}")]
    LayerMissing {
        /// The layer asked for.
        layer: Layer,
        /// The kernel's option, the program or the right that is missing, in half a sentence.
        why: String,
    },
    /// The program of a layer is there and doesn't do its work.
    #[error("the layer `{layer}` did not come up: `{program}` {why}")]
    Proxy {
        /// The layer asked for.
        layer: Layer,
        /// The program's name.
        program: &'static str,
        /// What became of it, as the rest of the sentence, and the end of what it printed.
        why: String,
    },
    /// Certificates for mutual TLS could not be made.
    #[error("could not make the certificates of the layer `sidecar`: {source}")]
    Certificates {
        /// The library's reason.
        #[from]
        source: rcgen::Error,
    },
    /// A network that CNI plugins lay, or should give back.
    #[error(transparent)]
    Cni(#[from] CniError),
}

impl From<LocalError> for PlatformError {
    fn from(error: LocalError) -> PlatformError {
        match error {
            LocalError::Machine(error) => PlatformError::Machine(error),
            error => PlatformError::of(error),
        }
    }
}

/// For a cleaner, which fails as the machine does.
impl From<LocalError> for loadline_machine::Error {
    fn from(error: LocalError) -> loadline_machine::Error {
        match error {
            LocalError::Machine(error) => error,
            error => loadline_machine::Error::Cleaner(Box::new(error)),
        }
    }
}
