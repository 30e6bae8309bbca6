//! The cleanup guard of a deployment: what was created for it is removed once, by name, when it ends or when starting
//! it fails.

use std::{
    fmt::Display,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use crate::{
    clean::{NetworkScope, remove_owned},
    cleaner::Cleaner,
    error::Error,
    owner::Owner,
    registry::RunFolder,
    slots::Slot,
};

/// The resources that a deployment owns.
pub trait Resources {
    /// Why they cannot be removed.
    type Error: From<Error> + Display;

    /// Ends what runs, before everything that carries the deployment's name is removed from this machine.
    ///
    /// # Errors
    /// When something cannot be ended. The rest is still removed.
    fn end(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Removes what is not on this machine, afterwards.
    ///
    /// # Errors
    /// When something cannot be removed.
    fn remove_elsewhere(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Removes everything of a deployment when it is dropped, and then releases its number. What cannot be removed keeps
/// its number, and stays registered for the end of the run.
pub struct Cleanup<R: Resources> {
    resources: R,
    slot: Slot,
    folder: Arc<RunFolder>,
    scope: NetworkScope,
    cleaners: &'static [&'static dyn Cleaner],
    removed: bool,
}

impl<R: Resources> Cleanup<R> {
    /// Guards what carries the slot's name in `scope`; `cleaners` remove the rest of it.
    pub fn new(
        slot: Slot,
        folder: &Arc<RunFolder>,
        scope: NetworkScope,
        cleaners: &'static [&'static dyn Cleaner],
        resources: R,
    ) -> Cleanup<R> {
        Cleanup { resources, slot, folder: Arc::clone(folder), scope, cleaners, removed: false }
    }

    /// The deployment.
    pub fn owner(&self) -> &Owner {
        &self.slot.owner
    }

    /// The run's folder in the registry.
    pub fn folder(&self) -> &Arc<RunFolder> {
        &self.folder
    }

    /// Removes everything, once.
    ///
    /// # Errors
    /// The first failure, after everything was tried.
    pub fn remove(&mut self) -> Result<(), R::Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let ended = self.resources.end();
        let state = self.folder.state();
        let here = remove_owned(&self.slot.owner, &state, &self.scope, self.cleaners, &mut Vec::new());
        let elsewhere = self.resources.remove_elsewhere();
        ended.and(here.map_err(R::Error::from)).and(elsewhere)?;
        self.slot.release();
        Ok(())
    }
}

impl<R: Resources> Deref for Cleanup<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.resources
    }
}

impl<R: Resources> DerefMut for Cleanup<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.resources
    }
}

impl<R: Resources> Drop for Cleanup<R> {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!("cannot remove all of {}: {error}", self.slot.owner);
        }
    }
}
