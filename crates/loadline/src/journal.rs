//! The store as a run writes to it.

use std::cell::Cell;

use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::{Failure, Note};
use loadline_model::rows::{DeploymentRow, NewRun, ProfileRow, SliceRow, Surroundings, TailRow, WarmUpRow};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, RunState, SiteId, TimeSpent};
use loadline_run::{BoxError, Journal};
use loadline_store::Store;

/// One run in a store.
pub struct StoreJournal<'a> {
    store: &'a Store,
    run: Cell<Option<i64>>,
}

impl<'a> StoreJournal<'a> {
    /// A run that is yet to begin.
    pub fn new(store: &'a Store) -> StoreJournal<'a> {
        StoreJournal { store, run: Cell::new(None) }
    }

    /// The store.
    pub fn store(&self) -> &'a Store {
        self.store
    }

    /// The run's number in the store, once it has begun.
    pub fn run(&self) -> Option<i64> {
        self.run.get()
    }

    fn id(&self) -> Result<i64, BoxError> {
        self.run.get().ok_or_else(|| "the run was not begun".into())
    }
}

impl Journal for StoreJournal<'_> {
    fn begin(&self, run: &NewRun<'_>) -> Result<(), BoxError> {
        self.run.set(Some(self.store.begin_run(run)?));
        Ok(())
    }

    fn metrics(&self, metrics: &[MetricDeclaration]) -> Result<(), BoxError> {
        Ok(self.store.set_metrics(self.id()?, metrics)?)
    }

    fn side_by_side(&self, cells: &[CellId]) -> Result<(), BoxError> {
        Ok(self.store.set_side_by_side(self.id()?, cells)?)
    }

    fn note(&self, note: &Note) -> Result<(), BoxError> {
        Ok(self.store.add_note(self.id()?, note)?)
    }

    fn failure(&self, failure: &Failure) -> Result<(), BoxError> {
        Ok(self.store.add_failure(self.id()?, failure)?)
    }

    fn surroundings(&self, platform: &str, what: &Surroundings) -> Result<(), BoxError> {
        Ok(self.store.add_surroundings(self.id()?, platform, what)?)
    }

    fn deployment(&self, deployment: &DeploymentRow) -> Result<(), BoxError> {
        Ok(self.store.add_deployment(self.id()?, deployment)?)
    }

    fn runtime(&self, site: SiteId, round: u32, runtime: &Runtime) -> Result<(), BoxError> {
        Ok(self.store.set_runtime(self.id()?, site, round, runtime)?)
    }

    fn warm_up(&self, warm_up: &WarmUpRow) -> Result<(), BoxError> {
        Ok(self.store.add_warm_up(self.id()?, warm_up)?)
    }

    fn slice(&self, slice: &SliceRow) -> Result<(), BoxError> {
        Ok(self.store.add_slice(self.id()?, slice)?)
    }

    fn tail(&self, tail: &TailRow) -> Result<(), BoxError> {
        Ok(self.store.add_tail(self.id()?, tail)?)
    }

    fn profile(&self, profile: &ProfileRow) -> Result<(), BoxError> {
        Ok(self.store.add_profile(self.id()?, profile)?)
    }

    fn time_spent(&self, spent: &TimeSpent) -> Result<(), BoxError> {
        Ok(self.store.set_time_spent(self.id()?, spent)?)
    }

    fn finish(&self, state: RunState) -> Result<(), BoxError> {
        Ok(self.store.finish_run(self.id()?, state)?)
    }
}
