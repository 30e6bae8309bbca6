//! What can go wrong between a wish for a deployment and a running one.

use std::error::Error;

/// A deployment, or its removal, failed.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// Something could not be made on this machine, or not be removed from it.
    #[error(transparent)]
    Machine(#[from] loadline_machine::Error),
    /// A platform's own reason; its crate has the type.
    #[error(transparent)]
    Platform(Box<dyn Error + Send + Sync>),
}

impl PlatformError {
    /// A platform's own reason.
    pub fn of(reason: impl Error + Send + Sync + 'static) -> PlatformError {
        PlatformError::Platform(Box::new(reason))
    }

    /// The platform's own reason, if it is of this type.
    pub fn reason<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            PlatformError::Platform(reason) => reason.downcast_ref(),
            PlatformError::Machine(_) => None,
        }
    }
}
