//! Numbers of a run's deployments, from which their names and addresses are derived.
//! A number is reused once everything that carried it has been removed, after all others have been used.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    addresses::{Block, OwnAddresses, SLOTS, Subnet},
    error::Error,
    owner::Owner,
    run_name::RunName,
};

/// All numbers of a run: 1 to [`SLOTS`].
#[derive(Default)]
pub(crate) struct Slots(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    numbers: BTreeSet<u16>,
    last: u16,
}

/// One number. It stays taken until [`Slot::release`]: what could not be removed keeps its name and addresses.
pub struct Slot {
    number: u16,
    /// The deployment of that number.
    pub owner: Owner,
    /// The run's addresses.
    pub block: Block,
    slots: Arc<Slots>,
}

impl Slots {
    /// The next free number after the one handed out last; the greatest is followed by 1.
    pub fn next(self: &Arc<Slots>, run: RunName, block: Block) -> Result<Slot, Error> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let after_last = (taken.last + 1..=SLOTS).chain(1..=taken.last);
        let free = after_last.into_iter().find(|number| !taken.numbers.contains(number));
        let number = free.ok_or(Error::TooManyDeployments { most: SLOTS })?;
        taken.numbers.insert(number);
        taken.last = number;
        Ok(Slot { number, owner: Owner { run, slot: Some(number) }, block, slots: Arc::clone(self) })
    }
}

impl Slot {
    /// Its addresses, on a node that it shares.
    pub fn subnet(&self) -> Subnet {
        self.block.slot(self.number)
    }

    /// Its addresses, on a node of its own.
    pub fn own(&self) -> OwnAddresses {
        self.block.own(self.number)
    }

    /// Releases the number: nothing carries its name any more.
    pub fn release(&self) {
        self.slots.0.lock().unwrap_or_else(PoisonError::into_inner).numbers.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(slots: &Arc<Slots>) -> Result<Slot, Error> {
        slots.next("0a1b2c".parse().unwrap(), Block::first_free(&[], &[]).unwrap())
    }

    #[test]
    fn numbers_wrap_around_and_skip_those_in_use() {
        let slots = Arc::new(Slots::default());
        let first = next(&slots).unwrap();
        next(&slots).unwrap().release();
        for expected in (3..=SLOTS).chain(2..=SLOTS) {
            let slot = next(&slots).unwrap();
            assert_eq!(slot.number, expected);
            slot.release();
        }
        first.release();
        assert_eq!(next(&slots).unwrap().number, 1);
    }

    #[test]
    fn the_number_of_concurrent_deployments_is_limited() {
        let slots = Arc::new(Slots::default());
        let held: Vec<_> = (1..=SLOTS).map(|_| next(&slots).unwrap()).collect();
        assert!(matches!(next(&slots), Err(Error::TooManyDeployments { most: SLOTS })));
        held[40].release();
        assert_eq!(next(&slots).unwrap().number, 41);
    }
}
