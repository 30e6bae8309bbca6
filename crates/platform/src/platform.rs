//! The interface of a platform.

use loadline_machine::Environment;
use loadline_model::platform::Capabilities;

use crate::{deployment::Deployment, error::PlatformError, service::Service};

/// A place where services run.
pub trait Platform: Send + Sync {
    /// Its capabilities and requirements with its options.
    fn capabilities(&self) -> Capabilities;

    /// Starts the service. It has been started when this returns; the caller probes whether it is ready.
    /// `progress` gets a short text about anything that takes long: pulling an image, waiting for a node.
    ///
    /// # Errors
    /// Whatever was created by then has been removed.
    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError>;

    /// The first half of [`Platform::deploy`]: starts the service, and leaves waiting for it to the caller, so that several services can be
    /// waited for together.
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

    /// Checks that its daemon or cluster answers, if it has one; once per run, before anything is started.
    ///
    /// # Errors
    /// When it does not, or cannot be found.
    fn reach(&self, environment: &Environment) -> Result<(), PlatformError> {
        let _ = environment;
        Ok(())
    }

    /// Facts about its daemon or cluster, if it has one; read once per run.
    ///
    /// # Errors
    /// When it does not answer.
    fn info(&self, environment: &Environment) -> Result<Option<PlatformInfo>, PlatformError> {
        let _ = environment;
        Ok(None)
    }
}

/// A service that is being started. Dropping it removes what was created for it.
pub struct PendingDeployment<'g>(Box<WaitForStart<'g>>);

type WaitForStart<'g> = dyn FnOnce(&mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, PlatformError> + 'g;

impl<'g> PendingDeployment<'g> {
    /// `wait` returns once the service has been started.
    pub fn new(
        wait: impl FnOnce(&mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, PlatformError> + 'g,
    ) -> PendingDeployment<'g> {
        PendingDeployment(Box::new(wait))
    }

    /// A deployment that has already been started.
    pub fn started(deployment: Box<dyn Deployment>) -> PendingDeployment<'g> {
        PendingDeployment::new(|_| Ok(deployment))
    }

    /// The second half of [`Platform::deploy`]: returns once the service has been started.
    ///
    /// # Errors
    /// Whatever was created by then has been removed.
    pub fn wait(self, progress: &mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, PlatformError> {
        (self.0)(progress)
    }
}

/// Facts about a platform's daemon or cluster, to be stored with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformInfo {
    /// In one line, for people.
    pub summary: String,
    /// All facts, in the platform's own format.
    pub facts: serde_json::Value,
}
