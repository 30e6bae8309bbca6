//! The trials at one rate, counted.

use std::collections::BTreeMap;

use crate::trial::{Trial, counted};

/// The slices of a search at one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    pub rate: f64,
    pub log_rate: f64,
    pub passed: u32,
    pub failed: u32,
}

impl Load {
    pub fn slices(&self) -> u32 {
        self.passed + self.failed
    }
}

/// By rising rate.
pub(crate) fn loads(trials: &[Trial]) -> Vec<Load> {
    // Rates are positive, whose bits are in their order.
    let mut loads: BTreeMap<u64, Load> = BTreeMap::new();
    for trial in counted(trials) {
        let load = loads.entry(trial.rate.to_bits()).or_default();
        (load.rate, load.log_rate) = (trial.rate, trial.rate.ln());
        *if trial.passed { &mut load.passed } else { &mut load.failed } += 1;
    }
    loads.into_values().collect()
}
