//! What was made of a run by analysing all of its slices, kept for the next who asks.

use std::sync::{Arc, Mutex, PoisonError};

use loadline_model::RunState;
use loadline_model::rows::RunHeading;

/// What was made of the latest runs that were asked for.
pub(crate) struct Kept<T> {
    /// The latest last.
    made: Mutex<Vec<(RunHeading, Arc<T>)>>,
    most: usize,
}

impl<T> Kept<T> {
    pub(crate) fn at_most(most: usize) -> Kept<T> {
        Kept { made: Mutex::default(), most }
    }

    /// What is made of a run, anew if it was not, or if the run has changed. One that is measured changes all the time.
    pub(crate) fn of<E>(
        &self,
        heading: &RunHeading,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if heading.state == RunState::Unfinished {
            return make().map(Arc::new);
        }
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = made().iter().find(|(of, _)| of == heading) {
            return Ok(known.clone());
        }
        let new = Arc::new(make()?);
        let mut made = made();
        made.retain(|(of, _)| of.id != heading.id);
        made.push((heading.clone(), new.clone()));
        let outdated = made.len().saturating_sub(self.most);
        made.drain(..outdated);
        Ok(new)
    }
}
