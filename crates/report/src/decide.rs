//! What platforms cost: a table, and what would turn it around.

use std::io::Write;

use loadline_model::decision::{CostOption, Decision, Turn};

use crate::ReportError;
use crate::figures;
use crate::text::{Align, Table, wrap};
use loadline_model::printable;

/// The cheapest first, then why, and what would turn it around.
pub fn decision(decision: &Decision, width: usize) -> String {
    let mut text = wrap("", &answer(decision), width, 2);
    let columns = [
        ("", Align::Left),
        ("a month", Align::Point),
        ("95 % interval", Align::Point),
        ("of it fixed", Align::Point),
        ("replicas", Align::Right),
        ("each carries", Align::Point),
        ("free at the peak", Align::Right),
        ("one lost", Align::Right),
    ];
    let mut table = Table::new(columns.map(|(heading, align)| (heading.to_owned(), align)).into());
    for option in &decision.options {
        table.push(row(option));
    }
    text.push_str(&table.render(width));
    text.push_str(&wrap(
        "",
        &format!(
            "Amounts are in {} for a month of 30.4 days. {}",
            printable(&decision.currency),
            profile(decision)
        ),
        width,
        2,
    ));
    for turn in &decision.turns {
        text.push_str(&wrap("  ", &words(turn, &decision.currency), width, 4));
    }
    text
}

/// `host costs least, 1,240 USD a month; the next is pod with 1,390 USD (+12 %).`
fn answer(decision: &Decision) -> String {
    let [first, rest @ ..] = &decision.options[..] else { return "Nothing can be decided.".to_owned() };
    let currency = printable(&decision.currency);
    let cost =
        format!("{} costs least, {} {currency} a month", printable(&first.label), amount(first.monthly_cost));
    let Some(second) = rest.first() else { return format!("{cost}.") };
    let more = figures::percent(second.monthly_cost / first.monthly_cost - 1.0);
    let next = format!(
        "the next is {} with {} {currency} ({more})",
        printable(&second.label),
        amount(second.monthly_cost)
    );
    let is_sure = second.monthly_interval[0] > first.monthly_interval[1];
    let doubt = if is_sure { "" } else { ", but the intervals overlap" };
    format!("{cost}; {next}{doubt}.")
}

fn row(option: &CostOption) -> Vec<String> {
    let (least, most) = option
        .replicas
        .iter()
        .fold((u32::MAX, 0), |(least, most), replicas| (least.min(*replicas), most.max(*replicas)));
    let replicas = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let lost = match option.headroom_one_lost {
        lost if lost < 0.0 => "not carried".to_owned(),
        lost => figures::unsigned_percent(lost),
    };
    let [low, high] = option.monthly_interval;
    vec![
        printable(&option.label).into_owned(),
        amount(option.monthly_cost),
        format!("[{}, {}]", amount(low), amount(high)),
        amount(option.monthly_fixed),
        replicas,
        figures::rate(option.capacity),
        figures::unsigned_percent(option.headroom),
        lost,
    ]
}

fn profile(decision: &Decision) -> String {
    let rates = &decision.profile.per_second;
    let (least, most) =
        rates.iter().fold((f64::INFINITY, 0.0f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    match least == most {
        true => format!("The load is {} at all hours.", figures::rate(most)),
        false => format!("The load is {} to {} over the day.", figures::rate(least), figures::rate(most)),
    }
}

fn words(turn: &Turn, currency: &str) -> String {
    let currency = printable(currency);
    match turn {
        Turn::Load { label, times } => {
            format!("{} would cost least at {times:.1} times the load", printable(label))
        }
        Turn::LessLoad { label, times } => {
            format!("{} would cost least at {times:.3} times the load", printable(label))
        }
        Turn::Capacity { label, rate } => {
            format!("{} would cost least if a replica carried {}", printable(label), figures::rate(*rate))
        }
        Turn::Fixed { label, amount: fixed } => format!(
            "{} would cost least if what it costs without any load were below {} {currency} a month",
            printable(label),
            amount(*fixed)
        ),
    }
}

/// A whole amount with its thousands apart; of a small one the cents, too.
fn amount(amount: f64) -> String {
    match amount < 100.0 {
        true => format!("{amount:.2}"),
        false => figures::count(amount.round() as u64),
    }
}

/// The whole decision, indented, ending with a line break.
///
/// # Errors
/// When `out` does not take it.
pub fn decision_json(decision: &Decision, out: &mut dyn Write) -> Result<(), ReportError> {
    serde_json::to_writer_pretty(&mut *out, decision)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}
