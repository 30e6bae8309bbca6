//! Waiting while the machine is too loud to measure on. Now and then other programs, or other machines of the same host, take the CPUs for
//! many seconds; what is measured then is repeated in vain. A run with a time limit has time to wait for the end of it.

use std::collections::VecDeque;
use std::time::Duration;

use loadline_model::Event;

use crate::error::RunError;
use crate::execution::Execution;

/// The latest turns that are looked at.
const WINDOW: usize = 20;
/// So many of them must be disturbed. Of an ordinary loud hour, in which every second turn is, one window in 5,000 has as many.
const LOUD: usize = 18;
/// The first pause. Each further one of the same spell is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);
/// How soon an interruption ends a pause.
const STEP: Duration = Duration::from_millis(200);

/// How disturbed the latest turns were.
pub(crate) struct Loudness {
    disturbed: VecDeque<bool>,
    next_pause: Duration,
}

impl Default for Loudness {
    fn default() -> Self {
        Loudness { disturbed: VecDeque::new(), next_pause: FIRST_PAUSE }
    }
}

impl Loudness {
    /// Adds a turn.
    fn add(&mut self, disturbed: bool) {
        if self.disturbed.len() == WINDOW {
            self.disturbed.pop_front();
        }
        self.disturbed.push_back(disturbed);
    }

    /// How long to wait, if the machine is loud. Then the turns begin anew.
    fn pause(&mut self) -> Option<Duration> {
        if self.disturbed.len() < WINDOW {
            return None;
        }
        if self.disturbed.iter().filter(|disturbed| **disturbed).count() < LOUD {
            self.next_pause = FIRST_PAUSE;
            return None;
        }
        self.disturbed.clear();
        let pause = self.next_pause;
        self.next_pause = (2 * pause).min(LONGEST_PAUSE);
        Some(pause)
    }
}

impl Execution<'_> {
    /// Looks at a turn that was measured, and waits if the machine has become too loud and the run has a time limit that leaves time for it.
    pub fn wait_while_loud(&mut self, disturbed: bool) -> Result<(), RunError> {
        self.loudness.add(disturbed);
        let Some(within) = self.experiment.plan.within else { return Ok(()) };
        let Some(pause) = self.loudness.pause() else { return Ok(()) };
        if self.clock.now() - self.begun + pause >= within {
            return Ok(());
        }
        (self.events)(Event::Waiting { pause });
        self.timed(
            |spent| &mut spent.waiting_s,
            |run| {
                let until = run.clock.now() + pause;
                while run.clock.now() < until {
                    run.check_interrupted()?;
                    run.clock.sleep(STEP.min(until - run.clock.now()));
                }
                Ok(())
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(turns: impl IntoIterator<Item = bool>) -> Vec<u64> {
        let mut loudness = Loudness::default();
        let pause = |disturbed| {
            loudness.add(disturbed);
            loudness.pause().map(|pause| pause.as_secs())
        };
        turns.into_iter().filter_map(pause).collect()
    }

    #[test]
    fn a_spell_has_ever_longer_pauses_until_it_ends() {
        assert_eq!(pauses([true; 20]), [1]);
        assert_eq!(pauses([true; 19]), [], "too few to tell");
        assert_eq!(pauses([true; 140]), [1, 2, 4, 8, 16, 16, 16]);
        let ended = [[true; 20], [false; 20], [true; 20]].concat();
        assert_eq!(pauses(ended), [1, 1]);
    }

    #[test]
    fn an_hour_in_which_every_second_turn_is_disturbed_has_none() {
        assert_eq!(pauses((0..500).map(|turn| turn % 2 == 0)), []);
    }
}
