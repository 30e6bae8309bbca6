//! Several runs as one, whose cells are compared across them: `loadline compare RUN1 RUN2`.
//!
//! Deployments are paired by their number. Those of two runs have nothing in common, so that such pairs are as good as drawn at random: the
//! standard error of the difference is that of two independent samples, with the degrees of freedom of one of them, which is the safe side.
//! What differs between the hours of the runs is the same in all deployments of each, and so in no interval; `Note::NotInterleaved` says
//! it. What only one of the runs measured is compared with nothing. Of searches the capacities alone are compared: their rates differ.

mod surroundings;

use loadline_model::experiment::{Experiment, PlanSpec, Platform};
use loadline_model::notes::{Change, Circumstance, Failure, Note, Resources};
use loadline_model::plan::{CellPlan, ContrastKind, ContrastPlan, Plan, Role, Site};
use loadline_model::platform::Limits;
use loadline_model::rows::{JoinedRun, RunData, RunRow};
use loadline_model::{CellId, LoadId, Machine, PlatformId, RunState, ServiceId, SiteId};

use surroundings::Runtimes;

/// Why two runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// They are one.
    #[error("{0} cannot be compared with itself: name two runs")]
    Same(String),
    /// One is a ladder, whose rungs are judged within it.
    #[error("{0} is of `loadline layers`, whose rungs are compared within a run")]
    Ladder(String),
    /// One alone searched for capacities.
    #[error("{searched} searched for capacities, and {other} did not")]
    OneSearch {
        /// That one.
        searched: String,
        /// The other one.
        other: String,
    },
    /// They searched for different capacities.
    #[error(
        "{before} and {after} searched for different capacities: what they had to meet, or to which precision"
    )]
    OtherCapacities {
        /// The earlier run.
        before: String,
        /// The later run.
        after: String,
    },
    /// No service on a platform under a load was measured in both.
    #[error(
        "{before} and {after} have nothing in common to compare: a service, a platform and a load with the same names and connections{measured}"
    )]
    NothingInCommon {
        /// The earlier run.
        before: String,
        /// The later run.
        after: String,
        /// What each of them measured, a line for each cell.
        measured: String,
    },
}

/// A run, and what its services are called in a comparison: `run 3`.
pub struct NamedRun {
    /// The name.
    pub name: String,
    /// The run.
    pub data: RunData,
}

impl NamedRun {
    /// A run by its number in its store.
    pub fn by_number(data: RunData) -> NamedRun {
        NamedRun { name: format!("run {}", data.run.id), data }
    }
}

/// Joins runs: the cells of the first are the baselines of the same cells of each later one.
///
/// # Errors
/// When there is nothing to compare.
pub fn join(first: NamedRun, later: Vec<NamedRun>) -> Result<RunData, NotComparable> {
    let mut labels = vec![first.data.run.label.clone()];
    let names: Vec<String> = later.iter().map(|run| run.name.clone()).collect();
    let runtimes = surroundings::runtimes(&first.data);
    let baseline = Baseline { run: first.data.run.clone(), name: first.name, runtimes };
    let mut joined = first.data;
    make_baselines(&mut joined.run, &baseline.name);
    joined.joined = vec![JoinedRun { name: baseline.name.clone(), first_cell: CellId(0), begins_s: 0.0 }];
    for run in later {
        if labels.contains(&run.data.run.label) {
            return Err(NotComparable::Same(run.name));
        }
        comparable((&baseline.run.experiment, &baseline.name), (&run.data.run.experiment, &run.name))?;
        labels.push(run.data.run.label.clone());
        compare(&mut joined, &baseline, run)?;
    }
    joined.run.experiment.name = format!("{} against {}", names.join(", "), baseline.name);
    Ok(joined)
}

/// The first run as it was, with which the later ones are compared.
struct Baseline {
    run: RunRow,
    name: String,
    runtimes: Runtimes,
}

/// Whether runs of these experiments are of a kind that can be compared. Each with what such a run is called.
///
/// # Errors
/// When they are not.
pub fn comparable(
    (before, before_name): (&Experiment, &str),
    (after, after_name): (&Experiment, &str),
) -> Result<(), NotComparable> {
    if let Some((_, ladder)) =
        [(before, before_name), (after, after_name)].into_iter().find(|(one, _)| one.is_ladder())
    {
        return Err(NotComparable::Ladder(ladder.to_owned()));
    }
    let (before_name, after_name) = (before_name.to_owned(), after_name.to_owned());
    match (&before.capacity, &after.capacity) {
        (None, None) => Ok(()),
        (Some(_), None) => Err(NotComparable::OneSearch { searched: before_name, other: after_name }),
        (None, Some(_)) => Err(NotComparable::OneSearch { searched: after_name, other: before_name }),
        (Some(one), Some(other))
            if (&one.objectives, one.precision) == (&other.objectives, other.precision) =>
        {
            Ok(())
        }
        _ => Err(NotComparable::OtherCapacities { before: before_name, after: after_name }),
    }
}

/// Adds a later run behind those that are there, and compares its cells with those of the first.
fn compare(joined: &mut RunData, baseline: &Baseline, later: NamedRun) -> Result<(), NotComparable> {
    let Baseline { run: before, name: before_name, runtimes } = baseline;
    let NamedRun { name, data: after } = later;
    let pairs = pairs((&before.experiment, &before.plan), (&after.run.experiment, &after.run.plan));
    if pairs.is_empty() {
        return Err(NotComparable::NothingInCommon {
            before: before_name.clone(),
            after: name.clone(),
            measured: measured(before, before_name) + &measured(&after.run, &name),
        });
    }
    let after_cpus = after.run.service_cpus.clone();
    let mut changes = changes_between(before, &after.run);
    changes.extend(surroundings::changed_daemons(before, &after.run, &pairs));
    let seen = (&after.run, &surroundings::runtimes(&after));
    changes.extend(surroundings::changed_runtimes((before, runtimes), seen, &pairs));
    let offsets = Offsets::behind(&mut joined.run.experiment, &joined.run.plan, &after.run, &name);
    add(joined, after, &offsets, &name);
    let pairs: Vec<(CellId, CellId)> =
        pairs.into_iter().map(|(baseline, candidate)| (baseline, offsets.cell(candidate))).collect();
    for (baseline, candidate) in pairs.iter().copied() {
        let plan = &mut joined.run.plan;
        plan.cells[baseline.0].role = Role::Baseline;
        plan.cells[candidate.0].role = Role::Candidate;
        plan.contrasts.push(ContrastPlan { candidate, baseline, kind: ContrastKind::Planned });
    }
    let unequal = unequal(joined, &pairs, [&before.service_cpus, &after_cpus]);
    joined.run.notes.push(Note::NotInterleaved { before: before_name.clone(), after: name, changes });
    joined.run.notes.extend(unequal);
    Ok(())
}

/// The cells that both experiments have. The only service of one may have another name in the other, and so may its only platform.
fn pairs(before: (&Experiment, &Plan), after: (&Experiment, &Plan)) -> Vec<(CellId, CellId)> {
    let [one_service, one_platform] = [
        [before, after].iter().all(|(experiment, _)| experiment.services.len() == 1),
        [before, after].iter().all(|(experiment, _)| experiment.platforms.len() == 1),
    ];
    let load = |(experiment, plan): (&Experiment, &Plan), cell| experiment.load(plan.load_of(cell)).clone();
    let is_same = |earlier: CellId, later: CellId| {
        let [one, other] = [Named::of(before, earlier), Named::of(after, later)];
        (one_service || one.service == other.service)
            && (one_platform || one.platform == other.platform)
            && load(before, earlier) == load(after, later)
    };
    let later: Vec<CellId> = asked(after.1).collect();
    let found = asked(before.1)
        .filter_map(|earlier| Some((earlier, *later.iter().find(|later| is_same(earlier, **later))?)));
    found.collect()
}

/// All cells but the twins.
fn asked(plan: &Plan) -> impl Iterator<Item = CellId> {
    plan.cell_ids().filter(|cell| !plan.site_of(*cell).twin)
}

/// A cell by the names of its service and platform.
struct Named<'a> {
    service: &'a str,
    platform: &'a str,
}

impl Named<'_> {
    fn of<'a>((experiment, plan): (&'a Experiment, &Plan), cell: CellId) -> Named<'a> {
        let site = plan.site_of(cell);
        Named {
            service: &experiment.service(site.service).name,
            platform: &experiment.platform(site.platform).name,
        }
    }
}

fn measured(run: &RunRow, name: &str) -> String {
    let cell = |cell: CellId| {
        let load = run.experiment.load(run.plan.load_of(cell));
        let site = run.plan.site_of(cell).label(&run.experiment);
        format!("\n  {name}: {site} at {}, {} connections", load.load, load.connections)
    };
    asked(&run.plan).map(cell).collect()
}

/// How the runs differ as a whole.
fn changes_between(before: &RunRow, after: &RunRow) -> Vec<Change> {
    let cpus = |run: &RunRow| run.load_cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let of_load = [(Circumstance::LoadCpus, cpus(before), cpus(after))];
    let warmth = |run: &RunRow| if run.experiment.plan.is_cold() { "none" } else { "until warm" }.to_owned();
    let of_warm_up = [(Circumstance::WarmUp, warmth(before), warmth(after))];
    changes(before, &after.machine, &after.version)
        .into_iter()
        .chain(changed(of_load.into_iter().chain(of_warm_up)))
        .collect()
}

/// How a machine and a version of loadline differ from those of a run.
pub fn changes(before: &RunRow, machine: &Machine, version: &str) -> Vec<Change> {
    let of = |machine: &Machine| {
        let Machine { hostname, cpu_model, online_cpus, kernel, governor, .. } = machine.clone();
        [hostname, cpu_model, online_cpus, kernel, governor].map(Option::unwrap_or_default)
    };
    let what = [
        Circumstance::Machine,
        Circumstance::CpuModel,
        Circumstance::Cpus,
        Circumstance::Kernel,
        Circumstance::Governor,
    ];
    let machines = what.into_iter().zip(of(&before.machine)).zip(of(machine));
    let machines = machines.map(|((what, before), after)| (what, before, after));
    let versions = [(Circumstance::Version, before.version.clone(), version.to_owned())];
    changed(machines.chain(versions))
}

/// How the daemons and clusters of a run differ from those of an earlier one, where both measured the same. They are known once it was measured.
pub fn changed_daemons(before: &RunRow, after: &RunRow) -> Vec<Change> {
    let pairs = pairs((&before.experiment, &before.plan), (&after.experiment, &after.plan));
    surroundings::changed_daemons(before, after, &pairs)
}

/// The limits that the services of a run had, and what the same would have in an experiment, where they differ.
pub fn changed_limits(before: &RunRow, experiment: &Experiment) -> Vec<(Limits, Limits)> {
    let plan = Plan::new(experiment);
    let limits = |experiment: &Experiment, plan: &Plan, cell: CellId| {
        let site = plan.site_of(cell);
        experiment.limits_of(site.service, site.platform)
    };
    let mut found: Vec<(Limits, Limits)> = Vec::new();
    for (earlier, later) in pairs((&before.experiment, &before.plan), (experiment, &plan)) {
        let both = (limits(&before.experiment, &before.plan, earlier), limits(experiment, &plan, later));
        if both.0 != both.1 && !found.contains(&both) {
            found.push(both);
        }
    }
    found
}

fn changed(all: impl IntoIterator<Item = (Circumstance, String, String)>) -> Vec<Change> {
    let different = all.into_iter().filter(|(_, before, after)| before != after);
    different.map(|(what, before, after)| Change { what, before, after }).collect()
}

/// The services of pairs that do not have the same limits and CPUs.
fn unequal(joined: &RunData, pairs: &[(CellId, CellId)], cpus: [&[usize]; 2]) -> Vec<Note> {
    let (experiment, plan) = (&joined.run.experiment, &joined.run.plan);
    let has = |cell: CellId, cpus: &[usize]| {
        let site = plan.site_of(cell);
        let limits = experiment.limits_of(site.service, site.platform);
        (site.label(experiment), Resources { limits, cpus: (!cpus.is_empty()).then(|| cpus.to_vec()) })
    };
    let mut notes = Vec::new();
    for (baseline, candidate) in pairs {
        let ((baseline, baseline_has), (candidate, candidate_has)) =
            (has(*baseline, cpus[0]), has(*candidate, cpus[1]));
        let is_unequal = baseline_has != candidate_has;
        let note = Note::UnequalResources { candidate, candidate_has, baseline, baseline_has };
        // Of cells under several loads it is said once.
        if is_unequal && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Leaves of a run what is compared with another one: its cells and their twins.
fn make_baselines(run: &mut RunRow, name: &str) {
    name_services(run, name);
    uncompare(&mut run.plan);
    run.experiment.claims.clear();
    run.experiment.fail_if.clear();
    run.experiment.cells.clear();
    run.experiment.contrasts.clear();
    run.experiment.question = None;
    run.time_spent = None;
}

/// Says of which run each service is, and gives it the limits that it has by way of the experiment.
fn name_services(run: &mut RunRow, name: &str) {
    let common = run.experiment.limits;
    for service in &mut run.experiment.services {
        service.name = format!("{} ({name})", service.name);
        service.limits = service.limits.or(common);
    }
    run.experiment.limits = Default::default();
}

/// Takes the comparisons within a run away, but for those of twins.
fn uncompare(plan: &mut Plan) {
    plan.contrasts.retain(|contrast| contrast.kind == ContrastKind::Noise);
    for cell in &mut plan.cells {
        if cell.role != Role::Twin {
            cell.role = Role::Uncompared;
        }
    }
}

/// What the ids of the later run are in the joined one.
struct Offsets {
    services: usize,
    platforms: Vec<PlatformId>,
    loads: usize,
    sites: usize,
    cells: usize,
}

impl Offsets {
    /// Behind what is there already. Platforms that are the same are one.
    fn behind(experiment: &mut Experiment, plan: &Plan, after: &RunRow, name: &str) -> Offsets {
        let platforms = after.experiment.platforms.iter();
        Offsets {
            services: experiment.services.len(),
            loads: experiment.loads.len(),
            sites: plan.sites.len(),
            cells: plan.cells.len(),
            platforms: platforms.map(|platform| add_platform(experiment, platform, name)).collect(),
        }
    }

    fn site(&self, id: SiteId) -> SiteId {
        SiteId(id.0 + self.sites)
    }

    fn cell(&self, id: CellId) -> CellId {
        CellId(id.0 + self.cells)
    }
}

fn add_platform(experiment: &mut Experiment, platform: &Platform, run: &str) -> PlatformId {
    if let Some(at) = experiment.platforms.iter().position(|other| other == platform) {
        return PlatformId(at);
    }
    let is_taken = experiment.platforms.iter().any(|other| other.name == platform.name);
    let name = if is_taken { format!("{} ({run})", platform.name) } else { platform.name.clone() };
    experiment.platforms.push(Platform { name, ..platform.clone() });
    PlatformId(experiment.platforms.len() - 1)
}

/// Adds a later run behind those that are there, as if they had gone on.
fn add(joined: &mut RunData, mut after: RunData, offsets: &Offsets, name: &str) {
    let ended_s = joined.slices.iter().map(|slice| slice.at_s + slice.duration_s).fold(0.0, f64::max);
    let first_cell = offsets.cell(CellId(0));
    joined.joined.push(JoinedRun { name: name.to_owned(), first_cell, begins_s: ended_s });
    name_services(&mut after.run, name);
    uncompare(&mut after.run.plan);
    add_run(&mut joined.run, after.run, offsets);
    for deployment in &mut after.deployments {
        deployment.site = offsets.site(deployment.site);
        deployment.at_s += ended_s;
    }
    after.warm_ups.iter_mut().for_each(|warm_up| warm_up.cell = offsets.cell(warm_up.cell));
    for slice in &mut after.slices {
        slice.cell = offsets.cell(slice.cell);
        slice.at_s += ended_s;
    }
    after.profiles.iter_mut().for_each(|profile| profile.cell = offsets.cell(profile.cell));
    after.tails.iter_mut().for_each(|tail| tail.cell = offsets.cell(tail.cell));
    joined.deployments.extend(after.deployments);
    joined.warm_ups.extend(after.warm_ups);
    joined.slices.extend(after.slices);
    joined.profiles.extend(after.profiles);
    joined.tails.extend(after.tails);
}

fn add_run(joined: &mut RunRow, after: RunRow, offsets: &Offsets) {
    let sites = after.plan.sites.into_iter().map(|site| Site {
        service: ServiceId(site.service.0 + offsets.services),
        platform: offsets.platforms[site.platform.0],
        ..site
    });
    joined.plan.sites.extend(sites);
    let cells = after.plan.cells.into_iter().map(|cell| CellPlan {
        site: offsets.site(cell.site),
        load: LoadId(cell.load.0 + offsets.loads),
        ..cell
    });
    joined.plan.cells.extend(cells);
    let contrasts = after.plan.contrasts.into_iter().map(|contrast| ContrastPlan {
        candidate: offsets.cell(contrast.candidate),
        baseline: offsets.cell(contrast.baseline),
        ..contrast
    });
    joined.plan.contrasts.extend(contrasts);
    joined.experiment = Experiment {
        services: [std::mem::take(&mut joined.experiment.services), after.experiment.services].concat(),
        loads: [std::mem::take(&mut joined.experiment.loads), after.experiment.loads].concat(),
        // Each was looked at several times.
        plan: PlanSpec {
            until: after.experiment.plan.until.or(joined.experiment.plan.until.take()),
            ..after.experiment.plan
        },
        placement: after.experiment.placement,
        ..joined.experiment.clone()
    };
    joined.id = after.id;
    joined.label = after.label;
    joined.finished = after.finished;
    if joined.state == RunState::Complete {
        joined.state = after.state;
    }
    joined.version = after.version;
    joined.command_line = after.command_line;
    joined.machine = after.machine;
    joined.service_cpus = after.service_cpus;
    joined.load_cpus = after.load_cpus;
    let metrics = after.metrics.into_iter();
    let new: Vec<_> =
        metrics.filter(|metric| joined.metrics.iter().all(|known| known.name != metric.name)).collect();
    joined.metrics.extend(new);
    joined.side_by_side.extend(after.side_by_side.into_iter().map(|cell| offsets.cell(cell)));
    let notes = after.notes.into_iter();
    let new: Vec<Note> = notes.filter(|note| !joined.notes.contains(note)).collect();
    joined.notes.extend(new);
    let failures = after.failures.into_iter();
    joined.failures.extend(
        failures.map(|failure| Failure { site: failure.site.map(|site| offsets.site(site)), ..failure }),
    );
    joined.surroundings.extend(after.surroundings);
}
