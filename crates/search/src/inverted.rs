//! A larger load that passes where a smaller one fails. Near a capacity that happens by chance, so both are tried again, the smaller one first.

use crate::bounds::Class;
use crate::load::{Load, loads};
use crate::trial::Trial;

/// Slices of each load that a verdict needs.
const ENOUGH: u32 = 5;
/// Outcomes among them that may contradict it.
const MOST_EXCEPTIONS: u32 = 1;

/// Two loads whose outcomes are the wrong way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inverted {
    /// The smaller one, which fails.
    pub fails: Load,
    /// The larger one, which passes.
    pub passes: Load,
}

impl Inverted {
    /// Whether they were tried so often that another slice of each would not tell more.
    pub fn is_tried_enough(&self) -> bool {
        [self.fails, self.passes].iter().all(|load| load.slices() >= ENOUGH)
    }

    pub fn is_certain(&self) -> bool {
        self.is_tried_enough() && self.fails.passed + self.passes.failed <= MOST_EXCEPTIONS
    }
}

/// The smallest load that fails and the largest that passes nevertheless, if it is larger.
pub(crate) fn inverted(trials: &[Trial]) -> Option<Inverted> {
    let loads = loads(trials);
    let fails = loads.iter().find(|load| load.class() == Class::Upper)?;
    let passes = loads.iter().rfind(|load| load.class() == Class::Lower && load.rate > fails.rate)?;
    Some(Inverted { fails: *fails, passes: *passes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::rows::Purpose;

    fn trials(outcomes: &[(f64, bool, usize)]) -> Vec<Trial> {
        let trial = |rate, passed| Trial { rate, slices: 1.0, passed, purpose: Purpose::Search };
        outcomes.iter().flat_map(|(rate, passed, times)| vec![trial(*rate, *passed); *times]).collect()
    }

    #[test]
    fn it_takes_five_slices_of_both_loads() {
        let seen =
            |times| inverted(&trials(&[(100.0, true, 3), (150.0, false, times), (200.0, true, times)]));
        let twice = seen(2).unwrap();
        assert_eq!((twice.fails.rate, twice.passes.rate), (150.0, 200.0));
        assert!(!twice.is_tried_enough() && !twice.is_certain());
        assert!(seen(5).unwrap().is_certain());
    }

    #[test]
    fn what_passes_and_fails_is_not_inverted() {
        let mixed = trials(&[(150.0, false, 4), (150.0, true, 1), (200.0, true, 4), (200.0, false, 1)]);
        let seen = inverted(&mixed).unwrap();
        assert!(seen.is_tried_enough() && !seen.is_certain());
        assert_eq!(inverted(&trials(&[(100.0, true, 5), (150.0, false, 5)])), None);
    }
}
