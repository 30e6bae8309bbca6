//! Made-up runs whose truth is known, analysed through the one public entry.

mod capacities;
mod capacity;
mod claims;
mod compiling;
mod conditions;
mod contrasts;
mod coverage;
mod decide;
mod doctor;
mod history;
mod joined;
mod judging;
mod ladder;
mod made_up;
mod of_deployments;
mod overloads;
#[path = "../../../../tests/proof.rs"]
mod proof;
mod prove;
mod repeats;
mod requests;
mod scalability;
mod settling;
mod sweeps;
