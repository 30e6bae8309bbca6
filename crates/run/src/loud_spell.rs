//! Waiting while the machine is too loud to measure on. Now and then other programs, or other machines of the same host, take the CPUs for
//! many seconds; what is measured then is repeated in vain. A run with a time limit has time to wait for the end of it.

use std::collections::VecDeque;
use std::time::Duration;

/// The latest turns that are looked at.
const WINDOW: usize = 20;
/// So many of them must be disturbed. Of an ordinary loud hour, in which every second turn is, one window in 5,000 has as many.
const LOUD: usize = 18;
/// The first pause. Each further one of the same spell is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);
/// The part of the time limit that is waited at most: a quarter.
pub const MOST_OF_TIME: u32 = 4;

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
    pub fn add(&mut self, disturbed: bool) {
        if self.disturbed.len() == WINDOW {
            self.disturbed.pop_front();
        }
        self.disturbed.push_back(disturbed);
    }

    /// How long to wait, if the machine is loud and that is not more than `most`. Then the turns begin anew.
    pub fn pause(&mut self, most: Duration) -> Option<Duration> {
        if self.disturbed.len() < WINDOW || self.next_pause >= most {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(turns: impl IntoIterator<Item = bool>) -> Vec<u64> {
        let mut loudness = Loudness::default();
        let pause = |disturbed| {
            loudness.add(disturbed);
            loudness.pause(Duration::MAX).map(|pause| pause.as_secs())
        };
        turns.into_iter().filter_map(pause).collect()
    }

    #[test]
    fn a_spell_has_ever_longer_pauses_until_it_ends() {
        assert_eq!(pauses([true; 20]), [1]);
        assert!(pauses([true; 19]).is_empty(), "too few to tell");
        assert_eq!(pauses([true; 140]), [1, 2, 4, 8, 16, 16, 16]);
        let ended = [[true; 20], [false; 20], [true; 20]].concat();
        assert_eq!(pauses(ended), [1, 1]);
    }

    #[test]
    fn an_hour_in_which_every_second_turn_is_disturbed_has_none() {
        assert!(pauses((0..500).map(|turn| turn % 2 == 0)).is_empty());
    }
}
