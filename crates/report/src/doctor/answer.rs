//! What can be told on a machine in how much time, first in a sentence and then in a table.

use loadline_model::result::doctor::{Correlation, Noise, NoiseRow, NoiseRun, Resolution};

use crate::figures::{Scale, count, time};
use crate::text::{Align, Table};

/// Share of disturbed slices from which on the estimate is one of a loud machine: runs are not trusted from there on.
const LOUD_SHARE: f64 = 0.1;

/// The answer: the difference of medians that can be told in each time.
pub(super) fn sentence(noise: &Noise) -> Option<String> {
    let row = noise.rows.first()?;
    let scale = Scale::of(row.unit, &[row.figure]);
    let told =
        |resolution: &Resolution| (scale.uncertainty(resolution.difference), minutes(resolution.minutes));
    let ((size, time), others) = row.resolution.split_first().map(|(first, others)| (told(first), others))?;
    let others = others.iter().map(told).map(|(size, time)| format!(", {size} in {time}"));
    Some(format!(
        "On this machine a comparison detects a difference of {size} at the median in {time}{}.",
        others.collect::<String>()
    ))
}

/// What the answer is worth.
pub(super) fn basis(run: &NoiseRun) -> String {
    let loud = run.disturbed_slices as f64 > LOUD_SHARE * run.slices as f64;
    let loud = if loud {
        " The machine was disturbed meanwhile: in a quieter hour it detects smaller ones."
    } else {
        ""
    };
    format!(
        "An estimate from {} against its twin at {}: {} deployments × {:.0} blocks × {} in {:.0} s. A comparison of two platforms that are \
        as noisy finds such a difference in 19 of 20 cases.{loud}",
        run.site,
        run.load,
        run.deployments,
        run.blocks,
        time(run.slice_s * 1e9),
        run.seconds
    )
}

/// The noise of each metric, and the differences that can be told.
pub(super) fn table(noise: &Noise, width: usize) -> String {
    let times = noise.rows.first().map(|row| row.resolution.as_slice()).unwrap_or_default();
    let right = |heading: String| (heading, Align::Right);
    let headings = [
        (String::new(), Align::Left),
        right(noise.run.site.clone()),
        right(format!("± in these {:.0} s", noise.run.seconds)),
    ];
    let columns =
        headings.into_iter().chain(times.iter().map(|at| right(format!("in {}", minutes(at.minutes)))));
    let mut table = Table::new(columns.collect());
    for row in &noise.rows {
        table.push(cells(row));
    }
    table.render(width)
}

fn cells(row: &NoiseRow) -> Vec<String> {
    let scale = Scale::of(row.unit, &[row.figure]);
    let figures = [row.label.clone(), scale.figure(row.figure), scale.uncertainty(row.half_width)];
    figures
        .into_iter()
        .chain(row.resolution.iter().map(|resolution| scale.uncertainty(resolution.difference)))
        .collect()
}

/// How the times would be spent.
pub(super) fn plans(noise: &Noise) -> Option<String> {
    let plans: Vec<String> = noise
        .rows
        .first()?
        .resolution
        .iter()
        .map(|plan| {
            let (deployments, blocks, time) = (plan.deployments, plan.blocks, minutes(plan.minutes));
            format!("--deployments {deployments} --blocks {blocks} in {time}")
        })
        .collect();
    let slice = time(noise.run.slice_s * 1e9).replace(' ', "");
    (!plans.is_empty()).then(|| format!("with loadline compare --slice {slice}, and {}", plans.join(", ")))
}

/// How the correlation falls with the distance.
pub(super) fn correlation(correlations: &[Correlation]) -> Option<String> {
    let seconds = |seconds: f64| format!("{seconds}");
    let each: Vec<String> = correlations
        .iter()
        .map(|at| {
            let share = format!("{:.2}", at.correlation).replace('-', "−");
            format!("{share} at {}–{} s", seconds(at.from_s), seconds(at.to_s))
        })
        .collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// Slices that were disturbed.
pub(super) fn disturbed(run: &NoiseRun) -> String {
    format!("{} of {} slices failed a gate", count(run.disturbed_slices as u64), count(run.slices as u64))
}

fn minutes(minutes: u32) -> String {
    match minutes {
        1 => "a minute".to_owned(),
        60 => "an hour".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}
