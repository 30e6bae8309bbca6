//! The plan: how much is measured, in which order.

use std::time::Duration;

use super::{HOW_MUCH, WHERE};
use crate::kinds::{choice, count, duration, share, switch};
use crate::options::Table;
use crate::{Interleave, Isolation, Nodes, OnFailure, PlanSpec};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long `until` may take if nothing is said.
const UNTIL_WITHIN: Duration = Duration::from_secs(15 * 60);

const ISOLATIONS: [(&str, Isolation); 2] =
    [("shared", Isolation::Shared), ("exclusive", Isolation::Exclusive)];
const INTERLEAVINGS: [(&str, Interleave); 3] =
    [("auto", Interleave::Auto), ("slices", Interleave::Slices), ("requests", Interleave::Requests)];
const FAILURES: [(&str, OnFailure); 2] = [("end", OnFailure::End), ("continue", OnFailure::Continue)];
const NODES: [(&str, Nodes); 2] = [("shared", Nodes::Shared), ("own", Nodes::Own)];

pub(super) fn table() -> Table<PlanSpec> {
    let (second, ms) = (Duration::from_secs(1), Duration::from_millis);
    Table::<PlanSpec>::new("Plan", "plan", "How much is measured, in which order")
        .key("slice", duration("a slice", ms(20), 10 * MINUTE), "Length of a slice", |plan| &mut plan.slice)
        .flag("--slice", HOW_MUCH)
        .key(
            "blocks",
            count("the number of blocks", 1, 10_000),
            "Blocks in each deployment; a block is one slice of every cell",
            |plan| &mut plan.blocks,
        )
        .flag("--blocks", HOW_MUCH)
        .key(
            "deployments",
            count("the number of deployments", 1, 1_000),
            "How often everything is deployed; intervals are computed over deployments",
            |plan| &mut plan.deployments,
        )
        .flag("--deployments", HOW_MUCH)
        .key("seed", count("a seed", 0, u64::MAX), "Seed of the order and the schedules", |plan| {
            &mut plan.seed
        })
        .flag("--seed", HOW_MUCH)
        .key(
            "until",
            share(),
            "Continue until the interval of every median is this narrow on each side: 1%",
            |plan| &mut plan.until,
        )
        .flag("--until", HOW_MUCH)
        .key(
            "within",
            duration("a run", second, 7 * DAY),
            "Start no further deployment after this time",
            |plan| &mut plan.within,
        )
        .flag("--within", HOW_MUCH)
        .default("none; 15min with until")
        .key("twin", switch(), "Deploy the baseline a second time to see the noise", |plan| &mut plan.twin)
        .switch(
            "--no-twin",
            HOW_MUCH,
            "false",
            "Do not deploy the baseline a second time: no twin, no resolution",
        )
        .key(
            "isolation",
            choice("an isolation mode", &ISOLATIONS),
            "Whether all cells are deployed at once, or one platform at a time",
            |plan| &mut plan.isolation,
        )
        .flag("--isolation", HOW_MUCH)
        .key("interleave", choice("an interleaving mode", &INTERLEAVINGS), "How cells take turns", |plan| {
            &mut plan.interleave
        })
        .flag("--interleave", HOW_MUCH)
        .key("warmup", duration("a warm-up", second, 60 * MINUTE), "Longest warm-up of a cell", |plan| {
            &mut plan.warmup
        })
        .flag("--warmup", HOW_MUCH)
        .key(
            "repeats",
            count("the number of repeats", 0, 20),
            "How often the cells of a load are measured again in a disturbed block",
            |plan| &mut plan.repeats,
        )
        .flag("--repeats", HOW_MUCH)
        .key("margin", share(), "Differences within this share of the baseline are equivalent", |plan| {
            &mut plan.margin
        })
        .flag("--margin", HOW_MUCH)
        .default("the larger of 1% and the resolution")
        .key(
            "on_failure",
            choice("a failure mode", &FAILURES),
            "When a service cannot be deployed or dies: end the run, or continue without it",
            |plan| &mut plan.on_failure,
        )
        .flag("--on-failure", HOW_MUCH)
        .key(
            "nodes",
            choice("a node mode", &NODES),
            "Whether host and local platforms share this machine's network or each have a node of their own, which some layers need",
            |plan| &mut plan.nodes,
        )
        .flag("--nodes", WHERE)
        .key(
            "profile",
            duration("a profile", ms(100), 10 * MINUTE),
            "Profile the kernel for this long per cell and deployment, in slices of their own",
            |plan| &mut plan.profile,
        )
}

/// The plan, with a limit to how long `until` may take.
pub(super) fn plan(written: &PlanSpec) -> PlanSpec {
    let mut plan = written.clone();
    if plan.until.is_some() {
        plan.within = plan.within.or(Some(UNTIL_WITHIN));
    }
    plan
}
