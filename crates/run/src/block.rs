//! Measuring a block. If any slice of a load was disturbed, all cells of that load are measured again, so that what is compared was always
//! measured under the same conditions and no cell is selected by its own slices.

use std::collections::BTreeSet;
use std::time::Duration;

use loadline_model::{CellId, Event, LoadId};

use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Fleet;
use crate::loud_spell::MOST_OF_TIME;
use crate::turn::{SlicePosition, Turn};

/// How soon an interruption ends a pause.
const STEP: Duration = Duration::from_millis(200);

/// The turns of a block and the repeats of them, in the order in which they are measured.
struct Queue {
    turns: Vec<Queued>,
    /// The attempts in which a slice was disturbed.
    disturbed: BTreeSet<(LoadId, u32)>,
}

#[derive(Clone)]
struct Queued {
    turn: Turn,
    /// All cells of a turn have the same load.
    load: LoadId,
    attempt: u32,
}

impl Queue {
    /// Adds the turns of the load again once an attempt is complete in which it was disturbed; returns the cells of them.
    fn repeat(&mut self, position: usize, repeats: u32) -> Vec<CellId> {
        let Queued { load, attempt, .. } = self.turns[position];
        let is_of_the_attempt = |queued: &&Queued| (queued.load, queued.attempt) == (load, attempt);
        let is_complete = !self.turns[position + 1..].iter().any(|queued| is_of_the_attempt(&queued));
        if !is_complete || attempt >= repeats || !self.disturbed.contains(&(load, attempt)) {
            return Vec::new();
        }
        let again = |queued: &Queued| Queued { attempt: attempt + 1, ..queued.clone() };
        let again: Vec<Queued> = self.turns.iter().filter(is_of_the_attempt).map(again).collect();
        let cells =
            again.iter().flat_map(|queued| queued.turn.visits.iter().map(|visit| visit.cell)).collect();
        self.turns.extend(again);
        cells
    }
}

impl Execution<'_> {
    /// Measures the turns of a block, and at its end those of the loads that were disturbed again.
    pub fn block(
        &mut self,
        round: u32,
        block: u32,
        turns: Vec<Turn>,
        fleet: &mut Fleet,
    ) -> Result<(), RunError> {
        let measured = self.turns(round, block, turns, fleet);
        // However it ended.
        let goes_on = self.let_go_on(fleet);
        measured.and(goes_on)
    }

    /// Lets go on what the platforms do beside running services, for as long as it must before it may be stopped again.
    pub fn let_go_on(&mut self, fleet: &mut Fleet) -> Result<(), RunError> {
        let rest = fleet.resume()?;
        self.clock.sleep(rest);
        Ok(())
    }

    fn turns(&mut self, round: u32, block: u32, turns: Vec<Turn>, fleet: &mut Fleet) -> Result<(), RunError> {
        let queued = turns.into_iter().filter_map(|turn| {
            let load = self.plan.load_of(turn.visits.first()?.cell);
            Some(Queued { turn, load, attempt: 0 })
        });
        let mut queue = Queue { turns: queued.collect(), disturbed: BTreeSet::new() };
        self.wait_while_loud()?;
        let mut position = 0;
        while let Some(Queued { turn, load, attempt }) = queue.turns.get(position).cloned() {
            let at = SlicePosition { round, block, attempt, position: position as u32 };
            match self.measure(at, &turn, fleet) {
                Ok(disturbed) => {
                    if disturbed {
                        queue.disturbed.insert((load, attempt));
                    }
                    self.loudness.add(disturbed);
                }
                Err(failure) => self.continue_without(fleet, failure)?,
            }
            let cells = queue.repeat(position, self.experiment.plan.repeats);
            if !cells.is_empty() {
                (self.events)(Event::Repeating { cells });
                self.let_go_on(fleet)?;
                self.wait_while_loud()?;
            }
            if !fleet.is_quiet() {
                self.abandon_ended(fleet)?;
            }
            position += 1;
        }
        Ok(())
    }
    /// Waits if the machine has become too loud and the run has a time limit that leaves time for it: called where a block or an attempt at it
    /// begins, so that what is paired stays together.
    fn wait_while_loud(&mut self) -> Result<(), RunError> {
        let Some(within) = self.experiment.plan.within else { return Ok(()) };
        let left = within.saturating_sub(self.clock.now() - self.begun);
        let waited = Duration::from_secs_f64(self.spent.waiting_s);
        // A machine that is always loud is measured on as it is.
        let most = left.min((within / MOST_OF_TIME).saturating_sub(waited));
        let Some(pause) = self.loudness.pause(most) else { return Ok(()) };
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
