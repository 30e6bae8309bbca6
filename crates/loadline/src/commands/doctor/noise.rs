//! The noise of this machine: the default service on the host, compared with a second deployment of itself as `loadline compare` does.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use loadline_model::experiment::{Experiment, PlanSpec};
use loadline_model::plan::Plan;
use loadline_model::rows::RunData;
use loadline_run::deploy::{Network, ServiceTraffic};
use loadline_run::strategy::{BlockContext, FixedPlan, NextRound, RoundsSoFar};
use loadline_run::{Strategy, Turn};
use loadline_spec::{Flags, from_flags};
use loadline_store::Store;

use crate::commands::experiment::Measuring;
use crate::commands::machine::machine;
use crate::journal::StoreJournal;

/// As short as a rate of 2000/s allows: a slice holds 100 requests.
const SLICE: Duration = Duration::from_millis(50);
/// Enough for an estimate of the variance within a deployment, and few enough for several deployments in the time.
const BLOCKS: u32 = 24;
/// Fewest deployments: their difference is half of what the estimate is made from.
const LEAST_ROUNDS: u32 = 2;
/// Below this time a warm-up is cut short, and deployments have fewer blocks.
const SHORT: Duration = Duration::from_secs(25);

/// What was measured.
pub struct Noise {
    pub data: RunData,
    /// Why it ended early, unless it was interrupted.
    pub failure: Option<String>,
}

/// Measures for about so long, and at least two deployments. Nothing is kept in a store.
pub fn measure(network: Network, time: Duration, stop: Arc<AtomicBool>) -> Result<Noise> {
    let experiment = experiment(time)?;
    let plan = Plan::new(&experiment);
    let store = Store::in_memory()?;
    let journal = StoreJournal::new(&store);
    let measuring = Measuring {
        network,
        experiment: &experiment,
        plan: &plan,
        traffic: ServiceTraffic::read(&experiment)?,
        allow_missing: false,
        notes: Vec::new(),
        stop,
        journal: &journal,
        events: &mut |event| tracing::debug!("{event:?}"),
    };
    let outcome = measuring.run(&mut Within { fixed: FixedPlan::new(&experiment, &plan), time })?;
    let failure = outcome.failure.map(|failure| failure.to_string());
    Ok(Noise { data: store.data(journal.run())?, failure })
}

/// `loadline compare --service orders --on host --rate 2000/s`, in short slices.
fn experiment(time: Duration) -> Result<Experiment> {
    let one = |text: &str| vec![text.to_owned()];
    let flags = Flags { services: one("orders"), on: one("host"), rates: one("2000/s"), ..Flags::default() };
    let mut experiment = from_flags(&flags, &machine())?;
    let plan =
        PlanSpec { slice: SLICE, blocks: BLOCKS, deployments: u32::MAX, twin: true, ..experiment.plan };
    experiment.plan = match time < SHORT {
        true => PlanSpec { blocks: BLOCKS / 2, warmup: Duration::from_secs(1), ..plan },
        false => plan,
    };
    Ok(experiment)
}

/// The fixed plan, for as many rounds as there is time for.
struct Within<'a> {
    fixed: FixedPlan<'a>,
    time: Duration,
}

impl Strategy for Within<'_> {
    fn next_round(&mut self, so_far: RoundsSoFar) -> NextRound {
        let each = so_far.elapsed / so_far.rounds.max(1);
        let has_time = so_far.rounds < LEAST_ROUNDS || so_far.elapsed + each <= self.time;
        if has_time { self.fixed.next_round(so_far) } else { NextRound::Enough }
    }

    fn next_block(&mut self, block: &BlockContext<'_>) -> Option<Vec<Turn>> {
        self.fixed.next_block(block)
    }
}
