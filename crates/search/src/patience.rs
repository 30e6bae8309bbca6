//! Which slices of a search are no trials because the machine disturbed them: the first of each deployment of a cell. A machine that goes on like
//! that is always like that, and what it does is then part of what is measured, or no search would end.

/// So many slices of a cell's search are made again.
const MOST_LOST: usize = 20;

/// How many more are.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    left: usize,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { left: MOST_LOST }
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
        assert!((0..MOST_LOST).all(|_| patience.is_lost(true)));
        assert!(!patience.is_lost(true) && !patience.is_lost(false));
    }
}
