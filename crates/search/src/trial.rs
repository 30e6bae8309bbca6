//! What was tried, and how it went.

use loadline_model::rows::Purpose;

/// A slice at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Requests a second that were asked for.
    pub rate: f64,
    /// Its length, in slices of the search: a trial that confirms is longer.
    pub slices: f64,
    /// Whether all objectives were met.
    pub passed: bool,
    /// What it was for.
    pub purpose: Purpose,
}

impl Trial {
    /// Whether it tells where the capacity is in slices of a search. A trial that confirms is longer, in which a service may carry less; an overload,
    /// and what it left behind, tell something else.
    pub fn counts(&self) -> bool {
        self.purpose == Purpose::Search
    }
}

/// The trials that tell where the capacity is in slices of a search.
pub(crate) fn counted(trials: &[Trial]) -> impl Iterator<Item = &Trial> + Clone {
    trials.iter().filter(|trial| trial.counts())
}
