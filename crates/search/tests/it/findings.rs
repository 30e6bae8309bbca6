//! Services without a single capacity are told from those that have one.

use loadline_model::result::Irregularity;
use loadline_search::{Trial, irregularities};

use crate::services::{Bimodal, Cliff, Hysteresis, Leak, Service, Tiring, random, search};

fn cliff(seed: u64) -> Cliff {
    Cliff { capacity: 1000.0, noise: 0.01, random: random(seed) }
}

pub type Make = fn(u64) -> Box<dyn Service>;
pub type Finding = fn(&Irregularity) -> bool;

/// Irregular services and what is to be found of them.
pub const IRREGULAR: [(&str, Make, Finding); 4] = [
    (
        "carries 1.5 % less after each slice",
        |seed| Box::new(Leak { cliff: cliff(seed), each: 0.015 }),
        |found| matches!(found, Irregularity::WorseWithTime),
    ),
    (
        "carries a third less after an overload",
        |seed| Box::new(Hysteresis { cliff: cliff(seed), bad: 0.67, is_bad: false }),
        |found| matches!(found, Irregularity::Hysteresis { .. }),
    ),
    (
        "carries half in half of the slices",
        |seed| Box::new(Bimodal { cliff: cliff(seed), less: 0.5 }),
        |found| matches!(found, Irregularity::Unsteady { .. }),
    ),
    (
        "carries a tenth less in slices five times as long",
        |seed| Box::new(Tiring { cliff: cliff(seed), for_longer: 0.9 }),
        |found| matches!(found, Irregularity::WorseWithTime),
    ),
];

/// In how many of so many searches it is found.
pub fn found(make: Make, is_it: Finding, searches: u64) -> usize {
    let is_found = |trials: Vec<Trial>| irregularities(&trials).iter().any(is_it);
    (0..searches).filter(|seed| is_found(search(make(*seed).as_mut()))).count()
}

#[test]
fn each_irregularity_is_named() {
    for (name, make, is_it) in IRREGULAR {
        let found = found(make, is_it, 8);
        println!("{name}: found in {found} of 8");
        // Of 8 with 95 % each, fewer than 5 is one case in 2,500.
        assert!(found >= 5, "{name}: {found}");
    }
}
