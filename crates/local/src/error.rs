//! What can go wrong with a process of this machine and the layers before it.
//! Every variant says what was tried, on what, and where it helps, what to do.

mod cni;

use std::path::PathBuf;

use loadline_model::platform::{Layer, LayersError};
use loadline_platform::PlatformError;

pub use cni::CniError;

/// A process behind layers could not be started or removed.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Something could not be created on this machine, or removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// The service has no command at all.
    #[error("the service has an empty command")]
    EmptyCommand,
    /// No file of that name exists where commands are searched.
    #[error("cannot find the command `{command}` ({searched})")]
    CommandNotFound {
        /// The command as given.
        command: String,
        /// Where it was searched.
        searched: String,
    },
    /// The file exists, but this user cannot execute it.
    #[error("`{}` is not an executable file for this user (try chmod +x)", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// Layers that cannot be combined.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// A layer that is not available on this machine.
    #[error("the layer `{layer}` is not available here: {why}")]
    LayerMissing {
        /// The requested layer.
        layer: Layer,
        /// The kernel option, the program or the permission that is missing, as the rest of the sentence.
        why: String,
    },
    /// The program of a layer is installed but fails.
    #[error("cannot start the layer `{layer}`: `{program}` {why}")]
    Proxy {
        /// The requested layer.
        layer: Layer,
        /// The program's name.
        program: &'static str,
        /// How it failed, as the rest of the sentence, and the end of its output.
        why: String,
    },
    /// Certificates for mutual TLS could not be created.
    #[error("cannot create the certificates of the layer `sidecar`: {source}")]
    Certificates {
        /// The library's reason.
        #[from]
        source: rcgen::Error,
    },
    /// A network of CNI plugins could not be created or released.
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

/// For a cleaner, whose errors are those of the machine.
impl From<LocalError> for loadline_machine::Error {
    fn from(error: LocalError) -> loadline_machine::Error {
        match error {
            LocalError::Machine(error) => error,
            error => loadline_machine::Error::Cleaner(Box::new(error)),
        }
    }
}
