//! What runs found, in a few words for a list. It takes an analysis of all of a run's slices, so it is kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use loadline_model::rows::RunHeading;
use loadline_report::Summary;

/// The summaries made so far, by run.
#[derive(Default)]
pub(crate) struct Answers(Mutex<HashMap<i64, (RunHeading, Summary)>>);

impl Answers {
    /// The summary of a run, made if it was not, or if the run has changed.
    pub(crate) fn of<E>(
        &self,
        heading: &RunHeading,
        make: impl FnOnce() -> Result<Summary, E>,
    ) -> Result<Summary, E> {
        let known = |of: &Answers| {
            let kept = of.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get(&heading.id)
                .filter(|(made_of, _)| made_of == heading)
                .map(|(_, summary)| summary.clone())
        };
        if let Some(summary) = known(self) {
            return Ok(summary);
        }
        let summary = make()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(heading.id, (heading.clone(), summary.clone()));
        Ok(summary)
    }
}
