//! What was made of a run by analysing all of its slices, kept for the next who asks.

use std::sync::{Mutex, PoisonError};

use loadline_model::RunState;
use loadline_model::rows::RunHeading;

/// What was made of runs, the latest last.
pub(crate) struct Kept<T> {
    made: Mutex<Vec<(RunHeading, T)>>,
    most: usize,
}

impl<T: Clone> Kept<T> {
    /// Keeps what was made latest.
    pub(crate) fn at_most(most: usize) -> Kept<T> {
        Kept { made: Mutex::default(), most }
    }

    /// What is made of a run, anew if it was not, or if the run has changed. One that is measured changes all the time.
    pub(crate) fn of<E>(&self, heading: &RunHeading, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if heading.state == RunState::Unfinished {
            return make();
        }
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = made().iter().find(|(of, _)| of == heading) {
            return Ok(known.clone());
        }
        let new = make()?;
        let mut made = made();
        made.retain(|(of, _)| of.id != heading.id);
        made.push((heading.clone(), new.clone()));
        let outdated = made.len().saturating_sub(self.most);
        made.drain(..outdated);
        Ok(new)
    }
}
