//! The plan: how much is measured, in which order.

use std::time::Duration;

use super::{HOW_MUCH, WHERE, precision};
use crate::kinds::{choice, count, duration, margin, switch};
use crate::options::{Detail, Table};
use crate::{Experiment, Interleave, Isolation, LoadSpec, Nodes, OnFailure, PlanSpec};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long `until` may take if nothing is said.
const UNTIL_WITHIN: Duration = Duration::from_secs(15 * 60);

/// The longest slice.
pub(super) const LONGEST_SLICE: Duration = Duration::from_secs(10 * 60);

/// What is written of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlanKeys {
    /// Chosen from each load if it is not written, as is the number of blocks.
    slice: Option<Duration>,
    blocks: Option<u32>,
    /// Drawn if it is not written.
    seed: Option<u64>,
    /// Everything else.
    pub plan: PlanSpec,
}

const ISOLATIONS: [(&str, Isolation); 2] =
    [("shared", Isolation::Shared), ("exclusive", Isolation::Exclusive)];
const INTERLEAVINGS: [(&str, Interleave); 3] =
    [("auto", Interleave::Auto), ("slices", Interleave::Slices), ("requests", Interleave::Requests)];
const FAILURES: [(&str, OnFailure); 2] = [("end", OnFailure::End), ("continue", OnFailure::Continue)];
const NODES: [(&str, Nodes); 2] = [("shared", Nodes::Shared), ("own", Nodes::Own)];

pub(super) fn table() -> Table<PlanKeys> {
    let (second, ms) = (Duration::from_secs(1), Duration::from_millis);
    Table::<PlanKeys>::new("Plan", "plan", "How much is measured, in which order")
        .key("slice", duration("a slice", ms(10), LONGEST_SLICE), "Length of a slice", |keys| &mut keys.slice)
        .flag("--slice", HOW_MUCH)
        .default("chosen from each load: 50ms, longer below 2000/s, 1.2s at most")
        .key(
            "blocks",
            count::<u32>("the number of blocks", 1, 10_000),
            "Blocks in each deployment; a block is one slice of every cell",
            |keys| &mut keys.blocks,
        )
        .flag("--blocks", HOW_MUCH)
        .default("as many as measure a cell for 1.5s in each deployment")
        .key(
            "deployments",
            count("the number of deployments", 1, PlanSpec::MOST_DEPLOYMENTS.into()),
            "How often everything is deployed; intervals are computed over deployments",
            |keys| &mut keys.plan.deployments,
        )
        .flag("--deployments", HOW_MUCH)
        .key("seed", count::<u64>("a seed", 0, u64::MAX), "Seed of the order and the schedules", |keys| {
            &mut keys.seed
        })
        .flag("--seed", HOW_MUCH)
        .default("drawn anew, and shown")
        .key(
            "until",
            precision::precisions(),
            "Continue until the interval of every median is this narrow on each side: 1%; or of other metrics: p50:1%,p99:5%",
            |keys| &mut keys.plan.until,
        )
        .flag("--until", HOW_MUCH)
        .key(
            "within",
            duration("a run", second, 7 * DAY),
            "Begin no further deployment that would end after this time; until then, wait while the machine is too busy to measure on",
            |keys| &mut keys.plan.within,
        )
        .flag("--within", HOW_MUCH)
        .default("none; 15min with until")
        .key("twin", switch(), "Deploy the baseline a second time to see the noise", |keys| &mut keys.plan.twin)
        .switch(
            "--no-twin",
            HOW_MUCH,
            "false",
            "Do not deploy the baseline a second time: no twin",
        )
        .key(
            "isolation",
            choice("an isolation mode", &ISOLATIONS),
            "Whether all services are deployed at once, or one at a time",
            |keys| &mut keys.plan.isolation,
        )
        .flag("--isolation", HOW_MUCH)
        .key("interleave", choice("an interleaving mode", &INTERLEAVINGS), "How cells take turns", |keys| {
            &mut keys.plan.interleave
        })
        .flag("--interleave", HOW_MUCH)
        .key("warmup", duration("a warm-up", Duration::ZERO, 60 * MINUTE), "Longest warm-up of a cell; 0s for none", |keys| {
            &mut keys.plan.warmup
        })
        .flag("--warmup", HOW_MUCH)
        .key(
            "repeats",
            count("the number of repeats", 0, 20),
            "How often the cells of a load are measured again in a disturbed block",
            |keys| &mut keys.plan.repeats,
        )
        .flag("--repeats", HOW_MUCH)
        .key(
            "margin",
            margin(),
            "Differences within this share of the baseline, or for times within this time, are equivalent: 2%, 5us",
            |keys| &mut keys.plan.margin,
        )
        .flag("--margin", HOW_MUCH)
        .default("1%")
        .key(
            "on_failure",
            choice("a failure mode", &FAILURES),
            "When a service cannot be deployed or dies: end the run, or continue without it",
            |keys| &mut keys.plan.on_failure,
        )
        .flag("--on-failure", HOW_MUCH)
        .key(
            "nodes",
            choice("a node mode", &NODES),
            "Whether host and local platforms share this machine's network or each have a node of their own, which some layers need",
            |keys| &mut keys.plan.nodes,
        )
        .flag("--nodes", WHERE)
        .key(
            "profile",
            duration("a profile", ms(100), 10 * MINUTE),
            "Profile the kernel for this long per cell and deployment, in slices of their own",
            |keys| &mut keys.plan.profile,
        )
        .key(
            "tails",
            duration("a watched slice", ms(100), 10 * MINUTE),
            "Watch for this long per cell and deployment, in slices of their own, when each service was held up while its slowest requests waited",
            |keys| &mut keys.plan.tails,
        )
        .flag("--tails", HOW_MUCH)
}

/// The plan for these loads, with a limit to how long `until` may take. `drawn`: the seed, if none is written.
pub(super) fn plan(written: &PlanKeys, loads: &[LoadSpec], shortest: Duration, drawn: u64) -> PlanSpec {
    let plan = written.plan.clone().with_slices(loads, shortest, written.slice, written.blocks);
    PlanSpec {
        seed: written.seed.unwrap_or(drawn),
        within: plan.within.or(plan.until.as_ref().map(|_| UNTIL_WITHIN)),
        ..plan
    }
}

impl PlanKeys {
    /// The keys that are read as the experiment's plan. What would be chosen as it is, is left out, unless all is to be written that keys can
    /// say: slices that differ between loads they cannot.
    pub fn of(experiment: &Experiment, detail: Detail) -> PlanKeys {
        let plan = &experiment.plan;
        let all = detail == Detail::All && plan.slices.is_empty();
        let is_chosen = |count| {
            plan.clone().with_slices(&experiment.loads, experiment.shortest_slice(), None, count) == *plan
        };
        let (slice, blocks) = match plan.blocks {
            _ if !all && is_chosen(None) => (None, None),
            blocks if !all && is_chosen(Some(blocks)) => (None, Some(blocks)),
            blocks => (Some(plan.slice), Some(blocks)),
        };
        PlanKeys { slice, blocks, seed: Some(plan.seed), plan: plan.clone() }
    }
}
