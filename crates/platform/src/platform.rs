//! A place where services run.

use loadline_machine::Environment;
use loadline_model::platform::Capabilities;

use crate::{deployment::Deployment, error::PlatformError, service::Service};

/// A place where services run.
pub trait Platform: Send + Sync {
    /// What it can do and what it takes, with the options that it has.
    fn capabilities(&self) -> Capabilities;

    /// Starts the service. It has been started when this returns; whether it is ready is for the caller to ask it.
    /// `progress` is told, in half a sentence, what takes long: pulling an image, waiting for a node.
    ///
    /// # Errors
    /// Whatever was made by then has been removed.
    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError>;

    /// The first half of [`Platform::deploy`]: asks for the service, and leaves the waiting for later, so that several that
    /// wait for nothing but time can do so together.
    ///
    /// # Errors
    /// As those of `deploy`.
    fn start<'g>(
        &self,
        environment: &'g Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<PendingDeployment<'g>, PlatformError> {
        let deployment = self.deploy(environment, service, progress)?;
        Ok(PendingDeployment::started(deployment))
    }

    /// What kind of daemon or cluster it is, if it is one; read once a run.
    ///
    /// # Errors
    /// When it can't be asked.
    fn info(&self, environment: &Environment) -> Result<Option<PlatformInfo>, PlatformError> {
        let _ = environment;
        Ok(None)
    }
}

/// A service that was asked for. Dropping it removes what was made for it.
pub struct PendingDeployment<'g>(Box<WaitForStart<'g>>);

type WaitForStart<'g> = dyn FnOnce(&mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, PlatformError> + 'g;

impl<'g> PendingDeployment<'g> {
    /// `wait` returns once the service has been started.
    pub fn new(
        wait: impl FnOnce(&mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, PlatformError> + 'g,
    ) -> PendingDeployment<'g> {
        PendingDeployment(Box::new(wait))
    }

    /// One that there is no waiting for.
    pub fn started(deployment: Box<dyn Deployment>) -> PendingDeployment<'g> {
        PendingDeployment::new(|_| Ok(deployment))
    }

    /// The second half of [`Platform::deploy`]: returns once the service has been started.
    ///
    /// # Errors
    /// Whatever was made by then has been removed.
    pub fn wait(self, progress: &mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, PlatformError> {
        (self.0)(progress)
    }
}

/// What a platform's daemon or cluster is, to be kept with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformInfo {
    /// In one line, for people.
    pub summary: String,
    /// All that is known of it, in the platform's own shape.
    pub facts: serde_json::Value,
}
