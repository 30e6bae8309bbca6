//! Sentences about the run as a whole, the same in every output: what was measured, how it ended, whether it can be
//! trusted, what it could have seen.

use std::borrow::Cow;

use loadline_model::Machine;
use loadline_model::experiment::PlanSpec;
use loadline_model::notes::Note;
use loadline_model::result::{
    CellRepeats, Contrast, Ladder, Row, RunResult, RunState, Statement, TwinDifference, Unit,
};

use crate::figures::{self, Scale};
use crate::groups::{self, Group};
use crate::ladder;
use crate::throttling;
use crate::words::said;

/// Metrics whose resolution is stated, and how.
const RESOLUTIONS: [(&str, &str); 2] = [("response.p50", "p50"), ("response.p99", "p99")];

/// What was run, in pieces: services, platforms, loads.
pub(crate) fn subject(result: &RunResult) -> Vec<String> {
    let services = groups::unique(groups::asked_cells(result).map(|cell| cell.service.as_str()));
    let platforms = groups::unique(groups::asked_cells(result).map(|cell| cell.platform.as_str()));
    let mut pieces = Vec::new();
    if services.is_empty() {
        pieces.push(result.run.name.clone());
    } else {
        // What is compared with what is said once it isn't the usual.
        let listed = match groups::compares_with_the_first(result) {
            true => against,
            false => |names: &[&str]| names.join(", "),
        };
        pieces.push(listed(&services));
        pieces.push(if platforms.len() == 1 { format!("on {}", platforms[0]) } else { listed(&platforms) });
        pieces.push(groups::all_loads(result));
    }
    pieces
}

/// What was run and how, in pieces: the subject, limits, seed, CPUs.
pub(crate) fn title(result: &RunResult) -> Vec<String> {
    let mut pieces = subject(result);
    pieces.extend(throttling::limits(result));
    pieces.push(format!("seed {}", result.run.seed));
    let (service, load) = (&result.plan.service_cpus, &result.plan.load_cpus);
    if !service.is_empty() && !load.is_empty() {
        let sees_all = result.run.experiment["placement"]["service_sees_all"] == true;
        let service = if sees_all { "all".to_owned() } else { figures::cpu_list(service) };
        let load = figures::cpu_list(load);
        pieces.push(format!("CPUs: service {service}, load {load}"));
    }
    pieces
}

/// `host against pod`, `host against docker, pod`
fn against(names: &[&str]) -> String {
    match names {
        [first, rest @ ..] if !rest.is_empty() => format!("{first} against {}", rest.join(", ")),
        _ => names.join(", "),
    }
}

/// How the run ended, unless it did all it was to do.
pub(crate) fn state(result: &RunResult) -> Option<String> {
    let plan = &result.plan;
    let measured = plan.blocks_measured;
    let planned = plan.blocks.saturating_mul(plan.deployments_planned);
    let is_open_ended = plan.until.is_some() || result.capacities.is_some();
    let extent = match (result.slices.is_empty(), is_open_ended) {
        (true, _) => "before anything was measured".to_owned(),
        (false, true) => format!("after {measured} blocks"),
        (false, false) => format!("after {measured} of {planned} blocks"),
    };
    match result.run.state {
        RunState::Complete => None,
        RunState::Interrupted => Some(format!("Interrupted {extent}.")),
        RunState::Failed => Some(format!("Failed {extent}.")),
        RunState::Unfinished => Some(format!("Not finished: still running, or killed, {extent}.")),
    }
}

/// What a run that went on without a service lacks; none when it ended for that, which is said of its state.
pub(crate) fn missing(result: &RunResult) -> Option<String> {
    if result.run.failures.is_empty() || result.run.state != RunState::Complete {
        return None;
    }
    let sites = groups::unique(groups::asked_cells(result).map(|cell| cell.label.as_str()));
    let is_measured = |site: &str| {
        let mut cells = groups::asked_cells(result).filter(|cell| cell.label == site);
        cells.any(|cell| result.slices.iter().any(|slice| slice.cell == cell.id && slice.counted))
    };
    let lost: Vec<&str> = sites.iter().copied().filter(|site| !is_measured(site)).collect();
    Some(match lost[..] {
        [] => "A service was given up before the end of this run.".to_owned(),
        [site] => format!("1 of {} was not measured: {site}.", sites.len()),
        _ => format!("{} of {} were not measured: {}.", lost.len(), sites.len(), lost.join(", ")),
    })
}

/// What a reader must know before any figure: what a run was to have and was measured without, as its user allowed, and that two runs took no
/// turns.
pub(crate) fn reservations(result: &RunResult) -> impl Iterator<Item = String> {
    let is_one = |note: &&Statement<Note>| {
        matches!(note.what, Some(Note::WithoutLimits { .. } | Note::NotInterleaved { .. }))
    };
    result.notes.iter().filter(is_one).map(|note| sentence(&said(note)))
}

/// A text with a capital in front and a full stop behind it.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", rest.as_str())
}

/// Where a twin differs significantly, a sentence for each.
pub(crate) fn twins_differ(result: &RunResult) -> Vec<String> {
    let label = |cell| result.cell(cell).map(|cell| groups::cell_name(result, cell)).unwrap_or_default();
    let differ = |found: &TwinDifference| {
        let half_width = (found.interval[1] - found.interval[0]) / 2.0;
        let scale = Scale::of(found.unit, &[found.difference]).with_uncertainty(half_width);
        format!(
            "{} differs from {} in {} by {}, {} {} (p {} after Holm's correction), although they are two deployments of the same thing: \
             differences of this size may come from where a service is placed, not from its platform.",
            label(found.twin),
            label(found.baseline),
            found.metric,
            scale.difference(found.difference),
            figures::interval_name(result),
            scale.bare_interval(found.interval),
            figures::probability(found.p_holm),
        )
    };
    result.trust.twins_differ.iter().map(differ).collect()
}

/// The differences that the run would have found, by load.
pub(crate) fn resolution(result: &RunResult) -> Vec<String> {
    if !result.ladders.is_empty() {
        let several = result.ladders.len() > 1;
        let of = |ladder: &Ladder| {
            let sentence = ladder::resolution(result, ladder)?;
            let load = result.cell(ladder.bottom).filter(|_| several);
            let load = load.map(|cell| format!("{}: ", groups::short_load_name(result, cell)));
            Some(format!("{}{sentence}", load.unwrap_or_default()))
        };
        return result.ladders.iter().filter_map(of).collect();
    }
    let groups = groups::groups(result);
    let several_loads = groups::loads(result).len() > 1;
    let found: Vec<(String, String)> = groups
        .iter()
        .map(|group| {
            let (size, source) = resolution_of(group);
            match several_loads {
                true => (format!("{} {size}", groups::short_load_name(result, group.baseline)), source),
                false => (size, source),
            }
        })
        .collect();
    groups::unique(found.iter().map(|(_, source)| source))
        .into_iter()
        .map(|source| {
            let sizes: Vec<&str> =
                found.iter().filter(|(_, other)| other == source).map(|(size, _)| size.as_str()).collect();
            format!("Resolution: {} ({source}; {}).", sizes.join(" · "), extent(result))
        })
        .collect()
}

/// `0.8 µs at p50, 15 µs at p99`, and by what that is known.
fn resolution_of(group: &Group<'_>) -> (String, String) {
    let sizes: Vec<String> = RESOLUTIONS
        .iter()
        .filter_map(|(metric, name)| {
            let rows = || group.contrasts.iter().filter_map(|(_, contrast)| groups::row_of(contrast, metric));
            let size = rows().filter_map(|row| row.resolution).max_by(f64::total_cmp)?;
            Some(format!("{} at {name}", groups::scale_of(rows())?.uncertainty(size)))
        })
        .collect();
    if sizes.is_empty() {
        return ("unknown".to_owned(), "too little was measured".to_owned());
    }
    let baseline = &group.baseline.label;
    let pooled = group.contrasts.iter().all(|(_, contrast)| contrast.twin.is_some());
    let against =
        if pooled { format!("{baseline} and its twin pooled") } else { format!("{baseline} alone") };
    (sizes.join(", "), format!("differences that a run like this finds 19 times in 20, against {against}"))
}

/// Above the rows of single requests.
pub(crate) const BY_REQUEST: &str = "Each request by itself:";

/// `2 deployments × 12 blocks × 1.5 s`
fn extent(result: &RunResult) -> String {
    let plan = &result.plan;
    let plural = |number: u32| if number == 1 { "" } else { "s" };
    let slice = match plan.longest_slice_s.filter(|longest| *longest > plan.slice_s) {
        Some(longest) => format!("{} s to {longest} s", plan.slice_s),
        None => format!("{} s", plan.slice_s),
    };
    if plan.deployments.saturating_mul(plan.blocks) == plan.blocks_measured {
        let (deployments, blocks) = (plan.deployments, plan.blocks);
        format!(
            "{deployments} deployment{} × {blocks} block{} × {slice}",
            plural(deployments),
            plural(blocks)
        )
    } else {
        let (deployments, blocks) = (plan.deployments, plan.blocks_measured);
        format!(
            "{blocks} block{} over {deployments} deployment{} × {slice}",
            plural(blocks),
            plural(deployments)
        )
    }
}

/// How to settle what is unresolved, and how long that takes.
/// `To know response p99 to ±5 %: run again with --deployments 44, about 28 minutes in all.`
pub(crate) fn settle(result: &RunResult) -> Option<String> {
    let settle = result.plan.seconds_to_settle.as_ref()?;
    let share = figures::unsigned_percent(settle.within);
    let (metric, deployments) = (&settle.metric, settle.deployments);
    let time = figures::spell_duration(settle.run_seconds);
    if deployments > PlanSpec::MOST_DEPLOYMENTS {
        let deployments = figures::count(deployments.into());
        return Some(format!(
            "{metric} to ±{share} is out of reach on this machine as it is now: it would take {deployments} deployments, about {time}."
        ));
    }
    let minutes = (settle.run_seconds / 60.0).ceil();
    // What a file says, no flag changes.
    let from_file = result.run.command_line.get(1).is_some_and(|command| command == "run");
    let how = match (from_file, settle.needs_more_time) {
        (false, false) => format!("--deployments {deployments}"),
        (false, true) => format!("--deployments {deployments} --within {minutes}min"),
        (true, false) => format!("`plan: {{deployments: {deployments}}}`"),
        (true, true) => format!("`plan: {{deployments: {deployments}, within: {minutes}min}}`"),
    };
    Some(format!("To know {metric} to ±{share}: run again with {how}, about {time} in all."))
}

/// What it ran on, as far as it is known: `AMD EPYC 7B13, 2 CPUs, 24.0 GiB, Debian 12, Linux 6.1.0, …`.
pub(crate) fn machine(machine: &Machine) -> String {
    let pieces = [
        machine.cpu_model.clone(),
        machine.cpus.map(|cpus| format!("{cpus} CPUs")),
        machine.memory_bytes.map(|bytes| Scale::of(Unit::Bytes, &[bytes as f64]).figure(bytes as f64)),
        machine.hypervisor.as_ref().map(|maker| format!("virtual ({maker})")),
        machine.distribution.clone(),
        machine.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
        machine.governor.as_ref().map(|governor| format!("governor {governor}")),
        machine.clocksource.as_ref().map(|clock| format!("clock {clock}")),
    ];
    pieces.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What to know of the primary rows, each note once with the metrics that it is about.
pub(crate) fn row_notes<'a>(contrasts: impl IntoIterator<Item = &'a Contrast>) -> Vec<String> {
    let rows: Vec<&Row> = contrasts.into_iter().flat_map(|contrast| &contrast.rows).collect();
    let ungated: Vec<String> = rows.iter().filter(|row| row.primary).filter_map(|row| ungated(row)).collect();
    let rows = rows.into_iter();
    let rows: Vec<(&str, Option<Cow<'_, str>>)> =
        rows.filter(|row| row.primary).map(|row| (row.label.trim(), row.note.as_ref().map(said))).collect();
    groups::unique(rows.iter().filter_map(|(_, note)| note.as_deref()))
        .into_iter()
        .map(|note| {
            let about = rows.iter().filter(|(_, said)| said.as_deref() == Some(note));
            let labels = groups::unique(about.map(|(label, _)| *label));
            let all = groups::unique(rows.iter().map(|(label, _)| *label));
            let about = if labels == all { "all rows".to_owned() } else { labels.join(", ") };
            format!("{about}: {note}")
        })
        .chain(ungated)
        .collect()
}

/// What a row says when nothing is measured again, if that is something else.
fn ungated(row: &Row) -> Option<String> {
    let first = row.first_attempts?;
    let scale = Scale::of(row.unit, &[row.baseline, row.candidate]);
    let difference = scale.difference(first);
    Some(format!("{}: {difference} over the first attempts alone, disturbed ones included", row.label.trim()))
}

/// What a reader must know of the repeats: that there were many, and loads whose cells were not disturbed equally often.
pub(crate) fn repeats(result: &RunResult) -> Vec<String> {
    let repeats = &result.trust.repeats;
    let percent = |part: usize, whole: usize| part as f64 / whole.max(1) as f64 * 100.0;
    let many = repeats.many.then(|| {
        let [disturbed, blocks] =
            [repeats.disturbed, repeats.blocks].map(|count| figures::count(count as u64));
        let share = percent(repeats.disturbed, repeats.blocks);
        let first = if result.trust.slices_repeated > 0 { " at the first attempt" } else { "" };
        let blocks_that = |count: usize, one: &str, several: &str| match count {
            0 => None,
            1 => Some(format!("one block {one}")),
            count => Some(format!("{} blocks {several}", figures::count(count as u64))),
        };
        let left_out = blocks_that(repeats.left_out, "does not count", "do not count");
        let in_part = blocks_that(
            repeats.in_part,
            "counts for the comparisons that were quiet in it",
            "count for the comparisons that were quiet in them",
        );
        let as_they_are = match repeats.as_they_are {
            0 => "the figures come from the quieter part of the run".to_owned(),
            count if count == repeats.disturbed => "they count as they are".to_owned(),
            count => format!("{} count as they are", figures::count(count as u64)),
        };
        let exceptions: Vec<String> = left_out.into_iter().chain(in_part).collect();
        let what_counts = match exceptions.is_empty() {
            true => as_they_are,
            false => format!("{}, and {as_they_are}", exceptions.join(", ")),
        };
        format!("{share:.0} % of the blocks were disturbed{first} ({disturbed} of {blocks}): {what_counts}.")
    });
    let differ = repeats.loads.iter().filter(|load| load.differ).map(|load| {
        let rate = |of: &CellRepeats| {
            let name = result.cell(of.cell).map(|cell| groups::cell_name(result, cell)).unwrap_or_default();
            format!("{name} {:.1} %", percent(of.disturbed, of.slices))
        };
        let rates: Vec<String> = load.cells.iter().map(rate).collect();
        format!(
            "Not disturbed equally often, so that means and tails claim nothing: {} of the slices (Cochran's Q, p {}).",
            rates.join(", "),
            figures::probability(load.p_holm.unwrap_or_default())
        )
    });
    many.into_iter().chain(differ).collect()
}

/// `48 slices, 2 of them repeats; 3 failed a gate on their own`: the gates beside it are those of the whole run.
pub(crate) fn slices(result: &RunResult) -> String {
    let trust = &result.trust;
    let repeats = match trust.slices_repeated {
        0 => String::new(),
        repeats => format!(", {repeats} of them repeats"),
    };
    let failed = match trust.slices_failed {
        0 => String::new(),
        failed => format!("; {failed} failed a gate on their own"),
    };
    format!("{} slices{repeats}{failed}", figures::count(trust.slices as u64))
}

/// What the daemons and clusters were: platforms of the same one named together, `docker, docker host: Docker Engine 27.1, …`.
pub(crate) fn surroundings(result: &RunResult) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    // In the order of the experiment, in which the cells are.
    let mut platforms: Vec<&str> = result.cells.iter().map(|cell| cell.platform.as_str()).collect();
    platforms.dedup();
    for platform in platforms {
        let Some(found) = result.surroundings.get(platform) else { continue };
        match groups.iter_mut().find(|(summary, _)| *summary == found.summary) {
            Some((_, names)) if names.contains(&platform) => {}
            Some((_, names)) => names.push(platform),
            None => groups.push((&found.summary, vec![platform])),
        }
    }
    groups.into_iter().map(|(summary, names)| format!("{}: {summary}", names.join(", "))).collect()
}
