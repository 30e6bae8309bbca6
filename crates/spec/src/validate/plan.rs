//! The plan: how much is measured, in which order, with its defaults.

use std::time::Duration;

use super::choices::{choice, set, switch};
use crate::draft::PlanDraft;
use crate::error::{Complaint, Problems};
use crate::units::{parse_count, parse_duration_within, parse_share};
use crate::{Interleave, Isolation, Nodes, OnFailure, PlanSpec};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The plan of an experiment that says nothing about it.
fn defaults() -> PlanSpec {
    PlanSpec {
        slice: Duration::from_millis(1200),
        blocks: 3,
        deployments: 8,
        seed: 7,
        until: None,
        within: None,
        twin: true,
        isolation: Isolation::default(),
        interleave: Interleave::default(),
        warmup: Duration::from_secs(30),
        repeats: 2,
        margin: None,
        on_failure: OnFailure::default(),
        nodes: Nodes::default(),
        profile: None,
    }
}

/// How long `until` may take if nothing is said.
const WITHIN: Duration = Duration::from_secs(15 * 60);

/// The plan; every value that the draft leaves out is the default.
pub(super) fn plan(draft: Option<&PlanDraft>, problems: &mut Problems) -> Option<PlanSpec> {
    let mut plan = defaults();
    let Some(draft) = draft else { return Some(plan) };
    let before = problems.count();
    set(&mut plan.slice, &draft.slice, problems, |text| {
        parse_duration_within(text, "a slice", Duration::from_millis(20), 10 * MINUTE)
    });
    set(&mut plan.blocks, &draft.blocks, problems, |text| count(text, "the number of blocks", 1, 10_000));
    set(&mut plan.deployments, &draft.deployments, problems, |text| {
        count(text, "the number of deployments", 1, 1_000)
    });
    set(&mut plan.seed, &draft.seed, problems, |text| parse_count(text, "a seed", 0, u64::MAX));
    set(&mut plan.until, &draft.until, problems, |text| parse_share(text).map(Some));
    set(&mut plan.within, &draft.within, problems, |text| {
        parse_duration_within(text, "a run", Duration::from_secs(1), 7 * DAY).map(Some)
    });
    set(&mut plan.twin, &draft.twin, problems, switch);
    set(&mut plan.isolation, &draft.isolation, problems, isolation);
    set(&mut plan.interleave, &draft.interleave, problems, interleave);
    set(&mut plan.warmup, &draft.warmup, problems, |text| {
        parse_duration_within(text, "a warm-up", Duration::from_secs(1), 60 * MINUTE)
    });
    set(&mut plan.repeats, &draft.repeats, problems, |text| count(text, "the number of repeats", 0, 20));
    set(&mut plan.margin, &draft.margin, problems, |text| parse_share(text).map(Some));
    set(&mut plan.on_failure, &draft.on_failure, problems, on_failure);
    set(&mut plan.nodes, &draft.nodes, problems, nodes);
    set(&mut plan.profile, &draft.profile, problems, |text| {
        parse_duration_within(text, "a profile", Duration::from_millis(100), 10 * MINUTE).map(Some)
    });
    if plan.until.is_some() {
        plan.within = plan.within.or(Some(WITHIN));
    }
    (problems.count() == before).then_some(plan)
}

fn count(text: &str, what: &str, least: u32, most: u32) -> Result<u32, Complaint> {
    let count = parse_count(text, what, u64::from(least), u64::from(most))?;
    u32::try_from(count).map_err(|_| Complaint::new(format!("{what} is too large")))
}

fn isolation(text: &str) -> Result<Isolation, Complaint> {
    choice(text, "an isolation", &[("shared", Isolation::Shared), ("exclusive", Isolation::Exclusive)])
}

fn interleave(text: &str) -> Result<Interleave, Complaint> {
    let choices =
        [("auto", Interleave::Auto), ("slices", Interleave::Slices), ("requests", Interleave::Requests)];
    choice(text, "a way of taking turns", &choices)
}

pub(super) fn nodes(text: &str) -> Result<Nodes, Complaint> {
    choice(text, "a choice of nodes", &[("shared", Nodes::Shared), ("own", Nodes::Own)])
}

fn on_failure(text: &str) -> Result<OnFailure, Complaint> {
    choice(text, "a way to go on", &[("end", OnFailure::End), ("continue", OnFailure::Continue)])
}
