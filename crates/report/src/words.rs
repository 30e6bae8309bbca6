//! The words for what is typed in the model: each enum of it in one place, so that every output says the same.

mod capacity;
mod doctor;
mod errors;
mod events;
mod gates;
mod notes;
mod remarks;
mod runtimes;

use std::borrow::Cow;

use loadline_model::result::{Contrast, RunResult, Statement};

pub(crate) use doctor::{named_cpus, program};
pub use events::logged;
pub use gates::remedy;

/// Something that can be said.
pub trait Words {
    /// It in a sentence, or half of one.
    fn words(&self) -> String;
}

/// A statement in words: those that it was read with, or ours.
pub(crate) fn said<T: Words>(statement: &Statement<T>) -> Cow<'_, str> {
    match &statement.what {
        Some(what) => what.words().into(),
        None => statement.text.as_str().into(),
    }
}

/// The result with all of its statements worded, as it is written.
pub(crate) fn worded(result: &RunResult) -> RunResult {
    let mut result = result.clone();
    word(&mut result.plan.interval_method);
    result.notes.iter_mut().for_each(word);
    result.runtimes.iter_mut().flat_map(|runtime| &mut runtime.unseen).for_each(word);
    for gate in &mut result.trust.gates {
        word(&mut gate.figure);
        word(&mut gate.remedy);
    }
    let rows = |contrasts: &mut Vec<Contrast>| {
        let rows = contrasts.iter_mut().flat_map(Contrast::all_rows_mut);
        rows.filter_map(|row| row.note.as_mut()).for_each(word);
    };
    rows(&mut result.contrasts);
    rows(&mut result.noise);
    let findings = result.claims.iter_mut().flat_map(|claim| &mut claim.findings);
    findings.filter_map(|finding| finding.note.as_mut()).for_each(word);
    if let Some(found) = &mut result.capacities {
        rows(&mut found.at_the_same_rate);
        rows(&mut found.at_their_own);
        found.cells.iter_mut().flat_map(|capacity| &mut capacity.findings).for_each(word);
    }
    result.slices.iter_mut().flat_map(|slice| &mut slice.failed_gates).for_each(word);
    result
}

/// Adds its words to a statement.
pub(crate) fn word<T: Words>(statement: &mut Statement<T>) {
    statement.text = said(statement).into_owned();
}
