//! Whose turn it is to measure: two runs on one machine would take each other's CPUs.

use std::fs::{self, File, TryLockError};
use std::io::Write;

use super::{Registry, open_lock};
use crate::error::{Error, ErrorContext};

/// The right to measure, until it is dropped or its process ends.
pub struct MeasuringTurn {
    /// Freed by the kernel when the process is killed.
    _lock: File,
}

/// Whether a process may measure now.
pub enum Turn {
    /// It may.
    Ours(MeasuringTurn),
    /// Another process of this user does; its id, if it has already written that.
    Busy(Option<u32>),
}

impl Registry {
    /// Takes the turn if nobody has it.
    ///
    /// # Errors
    /// When the lock's file cannot be opened or written.
    pub fn take_turn(&self) -> Result<Turn, Error> {
        // `is_turn_taken` holds the turn for a moment.
        let _registry = self.lock()?;
        let path = self.dir.join("measuring");
        let mut lock = open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Ok(Turn::Busy(holder));
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("lock {}", path.display()));
            }
        }
        let pid = std::process::id().to_string();
        lock.set_len(0)
            .and_then(|()| lock.write_all(pid.as_bytes()))
            .with_context(|| format!("write {}", path.display()))?;
        Ok(Turn::Ours(MeasuringTurn { _lock: lock }))
    }

    /// Whether somebody has the turn.
    ///
    /// # Errors
    /// When the lock's file cannot be opened.
    pub fn is_turn_taken(&self) -> Result<bool, Error> {
        let _registry = self.lock()?;
        let path = self.dir.join("measuring");
        match open_lock(&path)?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("lock {}", path.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_the_turn_and_says_who_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::at(dir.path().join("runs")).unwrap();
        let Turn::Ours(first) = registry.take_turn().unwrap() else { panic!("nobody has it") };
        match registry.take_turn().unwrap() {
            Turn::Busy(holder) => assert_eq!(holder, Some(std::process::id())),
            Turn::Ours(_) => panic!("two have it"),
        }
        assert!(registry.is_turn_taken().unwrap());
        drop(first);
        assert!(!registry.is_turn_taken().unwrap());
        assert!(matches!(registry.take_turn().unwrap(), Turn::Ours(_)));
        assert!(registry.runs().unwrap().is_empty(), "the lock is not taken for a run");
    }
}
