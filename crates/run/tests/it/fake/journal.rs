use std::cell::RefCell;

use loadline_model::RunState;
use loadline_model::TimeSpent;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Failure;
use loadline_model::notes::Note;
use loadline_model::rows::{DeploymentRow, NewRun, ProfileRow, SliceRow, Surroundings, TailRow, WarmUpRow};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, SiteId};
use loadline_run::{BoxError, Journal};

/// Remembers what it was given, and fails at the step that a test names, from a given call on.
#[derive(Default)]
pub struct FakeJournal {
    pub fails_at: Option<(&'static str, usize)>,
    /// All of the run.
    pub metrics: RefCell<Vec<MetricDeclaration>>,
    pub notes: RefCell<Vec<Note>>,
    pub failures: RefCell<Vec<String>>,
    pub deployments: RefCell<Vec<DeploymentRow>>,
    pub runtimes: RefCell<Vec<(SiteId, u32, Runtime)>>,
    pub tails: RefCell<Vec<TailRow>>,
    pub warm_ups: RefCell<Vec<WarmUpRow>>,
    pub slices: RefCell<Vec<SliceRow>>,
    pub together: RefCell<Vec<CellId>>,
    pub time_spent: RefCell<Option<TimeSpent>>,
    pub state: RefCell<Option<RunState>>,
    steps: RefCell<Vec<&'static str>>,
}

impl FakeJournal {
    fn step(&self, name: &'static str) -> Result<(), BoxError> {
        let times = self.steps.borrow().iter().filter(|step| **step == name).count();
        self.steps.borrow_mut().push(name);
        match self.fails_at {
            Some((step, from)) if step == name && times >= from => Err("the disk is full".into()),
            _ => Ok(()),
        }
    }

    /// What was asked of it, in order.
    pub fn steps(&self) -> Vec<&'static str> {
        self.steps.borrow().clone()
    }

    /// Slices of a cell that are in the journal.
    pub fn slices_of(&self, cell: usize) -> usize {
        self.slices.borrow().iter().filter(|slice| slice.cell == CellId(cell)).count()
    }
}

impl Journal for FakeJournal {
    fn begin(&self, run: &NewRun<'_>) -> Result<(), BoxError> {
        *self.metrics.borrow_mut() = run.metrics.to_vec();
        self.step("begin")
    }

    fn metrics(&self, metrics: &[MetricDeclaration]) -> Result<(), BoxError> {
        self.step("metrics")?;
        *self.metrics.borrow_mut() = metrics.to_vec();
        Ok(())
    }

    fn side_by_side(&self, cells: &[CellId]) -> Result<(), BoxError> {
        *self.together.borrow_mut() = cells.to_vec();
        self.step("side by side")
    }

    fn note(&self, note: &Note) -> Result<(), BoxError> {
        self.step("note")?;
        self.notes.borrow_mut().push(note.clone());
        Ok(())
    }

    fn failure(&self, failure: &Failure) -> Result<(), BoxError> {
        self.step("failure")?;
        self.failures.borrow_mut().push(failure.text.clone());
        Ok(())
    }

    fn surroundings(&self, _: &str, _: &Surroundings) -> Result<(), BoxError> {
        self.step("surroundings")
    }

    fn deployment(&self, deployment: &DeploymentRow) -> Result<(), BoxError> {
        self.step("deployment")?;
        self.deployments.borrow_mut().push(deployment.clone());
        Ok(())
    }

    fn runtime(&self, site: SiteId, round: u32, runtime: &Runtime) -> Result<(), BoxError> {
        self.step("runtime")?;
        self.runtimes.borrow_mut().push((site, round, runtime.clone()));
        Ok(())
    }

    fn warm_up(&self, warm_up: &WarmUpRow) -> Result<(), BoxError> {
        self.step("warm up")?;
        self.warm_ups.borrow_mut().push(warm_up.clone());
        Ok(())
    }

    fn slice(&self, slice: &SliceRow) -> Result<(), BoxError> {
        self.step("slice")?;
        self.slices.borrow_mut().push(slice.clone());
        Ok(())
    }

    fn tail(&self, tail: &TailRow) -> Result<(), BoxError> {
        self.step("tail")?;
        self.tails.borrow_mut().push(tail.clone());
        Ok(())
    }

    fn profile(&self, _: &ProfileRow) -> Result<(), BoxError> {
        self.step("profile")
    }

    fn time_spent(&self, spent: &TimeSpent) -> Result<(), BoxError> {
        self.step("time spent")?;
        *self.time_spent.borrow_mut() = Some(*spent);
        Ok(())
    }

    fn finish(&self, state: RunState) -> Result<(), BoxError> {
        self.step("finish")?;
        *self.state.borrow_mut() = Some(state);
        Ok(())
    }
}
