//! Runs against an earlier one: `loadline compare RUN1 RUN2`, and `--against` once a run is measured.

use std::path::Path;

use anyhow::Result;
use loadline_analysis::{
    NamedRun, RunData, analyse, changed_daemons, changed_limits, changes, comparable, join,
};
use loadline_model::experiment::{Condition, Experiment};
use loadline_model::notes::{Change, Circumstance};
use loadline_observe::describe_machine;
use loadline_report::{Evidence, Words};
use loadline_spec::add_conditions;
use loadline_store::Store;

use super::report::refuse_events;
use crate::arguments::{AgainstArguments, OutputArguments, StoredRuns};
use crate::exit::{Exit, UsageError};
use crate::outputs;
use crate::streams::tell;

/// Compares stored runs with the first of them.
pub fn compare(StoredRuns { first, later }: &StoredRuns, outputs: &OutputArguments) -> Result<Exit> {
    refuse_events(outputs)?;
    outputs::check(outputs)?;
    let store = Store::open(&outputs.store)?;
    let read = |run: i64| store.data(Some(run)).map(NamedRun::by_number);
    let later = later.iter().map(|run| read(*run)).collect::<Result<_, _>>()?;
    show(read(*first)?, later, &[], outputs)
}

/// A baseline that a run is held against once it is measured.
pub struct Baseline {
    run: NamedRun,
    allow_different: bool,
}

impl Baseline {
    /// The run that `--against` names: a number in the store, or a store whose latest run it is. It must be of this machine and this version, and its
    /// services must have had the limits of those that are to be measured, unless it may differ.
    pub fn read(
        arguments: &AgainstArguments,
        experiment: &Experiment,
        outputs: &OutputArguments,
    ) -> Result<Option<Baseline>> {
        let Some(against) = &arguments.against else { return Ok(None) };
        let run = match against.parse() {
            Ok(number) => NamedRun::by_number(Store::open(&outputs.store)?.data(Some(number))?),
            Err(_) => {
                let data = Store::open(Path::new(against))?.data(None)?;
                NamedRun { name: format!("run {} of {against}", data.run.id), data }
            }
        };
        comparable((&run.data.run.experiment, &run.name), (experiment, "this experiment"))
            .map_err(|error| UsageError(error.to_string()))?;
        let limits = changed_limits(&run.data.run, experiment).into_iter().map(|(before, after)| Change {
            what: Circumstance::Limits,
            before: before.words(),
            after: after.words(),
        });
        let mut changes = changes(&run.data.run, &describe_machine(), env!("CARGO_PKG_VERSION"));
        changes.extend(limits);
        if !changes.is_empty() && !arguments.allow_different {
            let why = format!(
                "{} was measured under other circumstances: {}; --allow-different compares nevertheless. Better: measure both versions in \
                 one run, `loadline compare 'old: …' 'new: …'`",
                run.name,
                in_words(&changes)
            );
            return Err(UsageError(why).into());
        }
        Ok(Some(Baseline { run, allow_different: arguments.allow_different }))
    }

    /// Shows the run that was measured against this one, by the conditions that it was to pass. What daemons and clusters are is known by now; if
    /// they are others than before, the comparison is not to be trusted.
    pub fn show(self, run: RunData, outputs: &OutputArguments) -> Result<Exit> {
        let Baseline { run: before, allow_different } = self;
        let changes = changed_daemons(&before.data.run, &run.run);
        let (name, conditions) = (before.name.clone(), run.run.experiment.fail_if.clone());
        let exit = show(before, vec![NamedRun::by_number(run)], &conditions, outputs)?;
        if changes.is_empty() || allow_different || !matches!(exit, Exit::Done | Exit::Fails) {
            return Ok(exit);
        }
        tell(format_args!(
            "error: {name} was measured under other circumstances: {}; --allow-different judges nevertheless",
            in_words(&changes)
        ));
        Ok(Exit::Untrusted)
    }
}

fn in_words(changes: &[Change]) -> String {
    changes.iter().map(Words::words).collect::<Vec<String>>().join(", ")
}

fn show(
    first: NamedRun,
    later: Vec<NamedRun>,
    conditions: &[Condition],
    outputs: &OutputArguments,
) -> Result<Exit> {
    if outputs.flame_graphs.is_some() {
        let why = "--flame-graphs draws those of one run: loadline report RUN --flame-graphs FOLDER";
        return Err(UsageError(why.to_owned()).into());
    }
    let mut data = join(first, later).map_err(|error| UsageError(error.to_string()))?;
    data.run.experiment.fail_if = conditions.to_vec();
    add_conditions(&mut data.run.experiment, &outputs.fail_if)?;
    let mut result = analyse(&data);
    // No further deployments of a run that is over.
    result.plan.seconds_to_settle = None;
    outputs::write_files(&result, || Ok(Evidence::of(data.profiles, data.slices)), outputs)?;
    outputs::print(&result, outputs, None)?;
    Ok(outputs::exit_of(&result, outputs))
}
