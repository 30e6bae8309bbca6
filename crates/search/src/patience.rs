//! How long a search goes on, and which slices of it are no trials because the machine disturbed them: the first of each deployment of a cell. A machine that goes on like
//! that is always like that, and what it does is then part of what is measured, or no search would end.

/// A search that has not ended after so many trials will not.
pub const MOST_TRIALS: usize = 120;
/// Nor will one in which so many attempts were no trials: not sent, or disturbed by the machine.
pub const MOST_LOST: usize = 120;
/// So many slices of a cell's search are made again.
const MADE_AGAIN: usize = 20;

/// How many more are.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    left: usize,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { left: MADE_AGAIN }
    }
}

impl Patience {
    /// Whether the next slice of the search is no trial.
    pub fn is_lost(&mut self, disturbed: bool) -> bool {
        let is_lost = disturbed && self.left > 0;
        self.left -= usize::from(is_lost);
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_disturbed_counts_once_so_much_was_lost() {
        let mut patience = Patience::default();
        assert!(!patience.is_lost(false));
        assert!((0..MADE_AGAIN).all(|_| patience.is_lost(true)));
        assert!(!patience.is_lost(true) && !patience.is_lost(false));
    }
}
