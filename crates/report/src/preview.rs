//! What a run would do: its cells, the turns of its first block, and where its time goes.

use loadline_model::CellId;
use loadline_model::preview::{Preview, PreviewCell, Range, TimeBudget};
use loadline_model::result::Role;

use crate::terminal::{Style, printable_but_colours};
use crate::text::{Align, Table, wrap};

/// The preview as text for a terminal, ending with a line break.
pub fn preview(preview: &Preview, style: &Style) -> String {
    let sections =
        [sites(preview, style), cells(preview, style), turns(preview, style), time(preview, style)];
    printable_but_colours(&sections.join("\n"), style.colour)
}

fn sites(preview: &Preview, style: &Style) -> String {
    let (count, time) = (preview.sites.len(), &preview.time);
    let times = if time.deployments == 1 { "once".to_owned() } else { format!("{} times", time.deployments) };
    let together = if preview.stages > 1 { ", one at a time" } else { "" };
    let what = if count == 1 { "1 site".to_owned() } else { format!("{count} sites") };
    let heading = format!("{what}, deployed {times}{together}");
    let order: Vec<&str> = preview.first_stage.iter().map(|site| preview.sites[site.0].as_str()).collect();
    let first = match preview.stages {
        0 | 1 => format!("the first time in this order: {}", order.join(", ")),
        _ => format!("{}; the first is {}", preview.sites.join(", "), order.join(", ")),
    };
    format!("{heading}\n") + &wrap("  ", &first, style.width, 4)
}

fn cells(preview: &Preview, style: &Style) -> String {
    let searches = preview.time.trials_s.is_some();
    let (loads, slices) = if searches { ("searched from", "trials") } else { ("load", "slices") };
    let headings = ["", "cell", loads, slices, "compared with"];
    let columns = headings.iter().enumerate();
    let align = |at: usize| if at == 0 { Align::Right } else { Align::Left };
    let mut table = Table::new(columns.map(|(at, name)| ((*name).to_owned(), align(at))).collect());
    for (index, cell) in preview.cells.iter().enumerate() {
        let slices = match searches {
            true => "as many as it takes".to_owned(),
            false => format!("{} × {}", cell.slices, seconds(cell.slice_s)),
        };
        table.push(vec![
            number(CellId(index)),
            site(preview, cell),
            load(cell),
            slices,
            compared(preview, cell),
        ]);
    }
    table.render(style.width)
}

fn turns(preview: &Preview, style: &Style) -> String {
    let of = if preview.stages > 1 { " of the first site" } else { "" };
    let heading = format!("Turns of the first block{of} (seed {})", preview.seed);
    let columns = [("", Align::Right), ("cell", Align::Left), ("length", Align::Right)];
    let mut table = Table::new(columns.map(|(name, align)| (name.to_owned(), align)).into());
    for (turn, at) in preview.first_block.iter().zip(1..) {
        let cells: Vec<String> = turn.cells.iter().map(|cell| with_load(preview, *cell)).collect();
        table.push(vec![at.to_string(), cells.join(" + "), seconds(turn.seconds)]);
    }
    let guess = match preview.side_by_side_if_idle {
        true => wrap(
            "",
            "Cells of one turn run side by side, request by request, if together they keep one CPU nearly idle; that is known after the \
             first warm-up. Otherwise each has a turn of its own.",
            style.width,
            0,
        ),
        false => String::new(),
    };
    wrap("", &heading, style.width, 0) + &table.render(style.width) + &guess
}

fn time(preview: &Preview, style: &Style) -> String {
    let time = &preview.time;
    let mut table = Table::new(
        [("Time", Align::Left), ("", Align::Right), ("", Align::Left)]
            .map(|(name, align)| (name.to_owned(), align))
            .into(),
    );
    let measuring = match time.trials_s {
        Some(trials) => {
            ("trials", range(trials), "estimate: until each interval is as narrow as asked for".to_owned())
        }
        None => ("slices", seconds(time.slices_s), format!("planned: {}", planned(preview))),
    };
    let mut rows = vec![
        measuring,
        ("repeats", range(time.repeats_s), "only of blocks that the machine disturbs".to_owned()),
        ("starts", range(time.starts_s), "not known before a run; bounded by `ready`".to_owned()),
    ];
    if time.warm_ups_s.most > 0.0 {
        rows.insert(2, ("warm-ups", range(time.warm_ups_s), "estimate: until each cell is warm".to_owned()));
    }
    if time.profiles_s > 0.0 {
        rows.push(("profiles", seconds(time.profiles_s), "planned".to_owned()));
    }
    rows.push(("together", range(time.total_s), total(time)));
    for (what, how_long, why) in rows {
        table.push(vec![what.to_owned(), how_long, why]);
    }
    let rest = "Not included: fetching images, stopping services, and the moments between slices.";
    let short = too_short(time).map_or_else(String::new, |text| wrap("", &text, style.width, 0));
    table.render(style.width) + &wrap("", rest, style.width, 0) + &short
}

/// What is not reached in the time that a run has, if that is known beforehand.
pub fn too_short(time: &TimeBudget) -> Option<String> {
    let (least, within) = (time.total_s.least, time.within_s?);
    let lost = match time.trials_s {
        Some(_) => "the intervals may be wider than asked for, and not all will be compared at one rate",
        None => "there will be fewer deployments than planned, or none",
    };
    (least > within).then(|| {
        format!("This takes at least {}, and `within` allows {}: {lost}.", seconds(least), seconds(within))
    })
}

/// `8 deployments × 36 blocks × 3 slices of 0.1 s`
fn planned(preview: &Preview) -> String {
    let time = &preview.time;
    let deployments = plural(time.deployments, "deployment");
    let slices = plural(preview.cells.len() as u32, "slice");
    let alike = |(one, other): (&PreviewCell, &PreviewCell)| {
        (one.slices, one.slice_s) == (other.slices, other.slice_s)
    };
    match &preview.cells[..] {
        [first, ..] if preview.cells.iter().map(|cell| (first, cell)).all(alike) => {
            format!(
                "{deployments} × {} × {slices} of {}",
                plural(time.blocks, "block"),
                seconds(first.slice_s)
            )
        }
        _ => format!("{deployments} × the slices above"),
    }
}

fn total(time: &TimeBudget) -> String {
    let within =
        time.within_s.map(|within| format!("no deployment begins that would end after {}", seconds(within)));
    let open = time.open_ended.then(|| "more deployments until the figures are settled".to_owned());
    open.into_iter().chain(within).collect::<Vec<_>>().join("; ")
}

fn site(preview: &Preview, cell: &PreviewCell) -> String {
    preview.sites[cell.site.0].clone()
}

fn load(cell: &PreviewCell) -> String {
    let text = cell.options.of_load(&cell.load, cell.new_connections, cell.connections);
    match &cell.load_name {
        Some(name) => format!("{name}: {text}"),
        None => text,
    }
}

fn compared(preview: &Preview, cell: &PreviewCell) -> String {
    let against: Vec<String> = cell
        .against
        .iter()
        .map(|id| format!("{} {}", number(*id), site(preview, &preview.cells[id.0])))
        .collect();
    let against = against.join(", ");
    match cell.role {
        Role::Twin => format!("{against}, to see the noise"),
        Role::Uncompared => "nothing".to_owned(),
        Role::Baseline => "– (a baseline)".to_owned(),
        Role::Candidate => against,
    }
}

/// A cell, with its number in the table of cells.
fn with_load(preview: &Preview, id: CellId) -> String {
    format!("{} {}", number(id), site(preview, &preview.cells[id.0]))
}

/// Cells are counted from one for people.
fn number(id: CellId) -> String {
    (id.0 + 1).to_string()
}

fn plural(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn range(range: Range) -> String {
    match range.least == range.most {
        true => seconds(range.least),
        false => format!("{} to {}", seconds(range.least), seconds(range.most)),
    }
}

/// `1.2 s`, `3 min 20 s`, `2 h 5 min`
fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let pair = |large: u64, unit: &str, small: u64, below: &str| match small {
        0 => format!("{large} {unit}"),
        small => format!("{large} {unit} {small} {below}"),
    };
    match whole {
        0..60 => format!("{} s", format!("{seconds:.3}").trim_end_matches('0').trim_end_matches('.')),
        60..3600 => pair(whole / 60, "min", whole % 60, "s"),
        _ => pair(whole / 3600, "h", whole % 3600 / 60, "min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_than_it_may_is_said_beforehand() {
        let all = |least| Range { least, most: 3600.0 };
        let time = TimeBudget {
            deployments: 1,
            blocks: 1,
            slices_s: 0.0,
            trials_s: Some(all(780.0)),
            repeats_s: Range::default(),
            warm_ups_s: Range::default(),
            starts_s: Range::default(),
            profiles_s: 0.0,
            total_s: all(780.0),
            within_s: Some(300.0),
            open_ended: false,
        };
        let said = "This takes at least 13 min, and `within` allows 5 min: the intervals may be wider than asked for, and not all will be compared at one rate.";
        assert_eq!(too_short(&time).as_deref(), Some(said));
        assert_eq!(too_short(&TimeBudget { within_s: Some(900.0), ..time.clone() }), None);
        assert_eq!(too_short(&TimeBudget { within_s: None, ..time }), None);
    }

    #[test]
    fn times_are_as_short_as_they_stay_clear() {
        for (time, text) in [
            (0.0, "0 s"),
            (0.025, "0.025 s"),
            (1.2, "1.2 s"),
            (59.4, "59.4 s"),
            (60.0, "1 min"),
            (86.4, "1 min 26 s"),
            (7200.0, "2 h"),
            (7505.0, "2 h 5 min"),
        ] {
            assert_eq!(seconds(time), text);
        }
    }
}
