//! What platforms cost: a table, and what would turn it around.

use std::io::Write;

use loadline_model::decision::{Alternatives, CostOption, Decision, LeftOut, Turn, TurnOf, WhyLeftOut};
use loadline_model::printable;
use loadline_model::result::{CapacityFinding, RunResult, Statement};

use crate::ReportError;
use crate::distrust;
use crate::figures;
use crate::text::{Align, Table, flow, wrap};
use crate::words::{said, word};

/// What of the run can't be trusted; then each group by itself: the cheapest first, then what is known of them, what is left out, and what would
/// turn it around. `result` is that of the decision's run.
pub fn decision(decision: &Decision, result: &RunResult, width: usize) -> String {
    text(decision, &distrust::sentences(result), width)
}

fn text(decision: &Decision, distrust: &[String], width: usize) -> String {
    let are_several = decision.groups.len() > 1;
    let mut text: String = distrust.iter().map(|sentence| wrap("", sentence, width, 2)).collect();
    for group in &decision.groups {
        if are_several {
            text.push_str(&wrap("", &title(group), width, 2));
        }
        text.push_str(&alternatives(group, &decision.currency, width));
        if are_several {
            text.push('\n');
        }
    }
    if are_several {
        text.push_str(&wrap("", SEVERAL, width, 2));
    }
    let amounts = format!("Amounts are in {} for a month of 30.4 days.", printable(&decision.currency));
    text + &wrap("", &[amounts, profile(decision), objectives(decision)].join(" "), width, 2)
}

/// What a reader of several groups may not expect.
const SEVERAL: &str = "Each service under each load is decided by itself, as if all of the load were its own. What belongs to one system needs the \
    replicas of all of its services together; what a platform costs without any load is in each of them.";

/// `orders, from 100/s Poisson, 64 connections:`
fn title(group: &Alternatives) -> String {
    format!("{}, {}:", printable(&group.service), printable(&group.load))
}

fn alternatives(group: &Alternatives, currency: &str, width: usize) -> String {
    let mut text = wrap("", &answer(group, currency), width, 2);
    if !group.options.is_empty() {
        text.push_str(&table(&group.options).render(width));
        for option in group.options.iter().filter(|option| changes(option)) {
            let first = format!("  {}: replicas ", printable(&option.label));
            text.push_str(&flow(&first, &by_hour(&option.replicas), ", ", width, 4));
        }
    }
    let losses = group.options.iter().filter_map(loss);
    let of_option = |option: &CostOption| findings(&option.label, &option.findings);
    let known = group.options.iter().flat_map(of_option);
    let others = group.left_out.iter().map(left_out);
    let turns = group.turns.iter().map(|turn| words(turn, currency));
    for line in losses.chain(known).chain(others).chain(turns) {
        text.push_str(&wrap("  ", &line, width, 4));
    }
    text
}

/// `host costs least, 1,240 USD a month; the next is pod with 1,390 USD (+12 %).`
fn answer(group: &Alternatives, currency: &str) -> String {
    let [first, rest @ ..] = &group.options[..] else { return "Nothing can be decided.".to_owned() };
    let currency = printable(currency);
    let of = if group.left_out.is_empty() { "" } else { " of those whose cost is known" };
    let cost = format!(
        "{} costs least{of}, {} {currency} a month",
        printable(&first.label),
        amount(first.monthly_cost)
    );
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

fn table(options: &[CostOption]) -> Table {
    let columns = [
        ("", Align::Left),
        ("a month", Align::Point),
        ("95 % interval", Align::Point),
        ("of it fixed", Align::Point),
        ("replicas", Align::Right),
        ("each carries", Align::Point),
        ("free at least", Align::Right),
        ("one lost", Align::Right),
    ];
    let mut table = Table::new(columns.map(|(heading, align)| (heading.to_owned(), align)).into());
    options.iter().for_each(|option| table.push(row(option)));
    table
}

fn row(option: &CostOption) -> Vec<String> {
    let (least, most) = option
        .replicas
        .iter()
        .fold((u32::MAX, 0), |(least, most), replicas| (least.min(*replicas), most.max(*replicas)));
    let replicas = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let lost = match option.headroom_one_lost.iter().copied().fold(f64::INFINITY, f64::min) {
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
        figures::rate(option.carries),
        figures::unsigned_percent(option.headroom),
        lost,
    ]
}

/// Whether its replicas are not as many at all hours, as the table shows them.
fn changes(option: &CostOption) -> bool {
    option.replicas.windows(2).any(|hours| hours[0] != hours[1])
}

/// Each spell of the day with its replicas: `00–07 2`, `08 5`
fn by_hour(replicas: &[u32]) -> Vec<String> {
    let mut hour = 0;
    let spell = |spell: &[u32]| {
        let first = hour;
        hour += spell.len();
        match spell.len() {
            1 => format!("{first:02} {}", spell[0]),
            _ => format!("{first:02}–{:02} {}", hour - 1, spell[0]),
        }
    };
    replicas.chunk_by(|one, next| one == next).map(spell).collect()
}

/// `host: if one replica is lost, the others do not carry the load in the hours 9 to 17`
fn loss(option: &CostOption) -> Option<String> {
    let free = &option.headroom_one_lost;
    let lost: Vec<usize> = (0..free.len()).filter(|hour| free[*hour] < 0.0).collect();
    let when = match lost.len() {
        0 => return None,
        all if all == free.len() => "at any hour".to_owned(),
        1 => format!("in hour {}", hours(&lost)),
        _ => format!("in the hours {}", hours(&lost)),
    };
    let label = printable(&option.label);
    Some(format!("{label}: if one replica is lost, the others do not carry the load {when}"))
}

/// `0, 9 to 17`
fn hours(all: &[usize]) -> String {
    let spells = all.chunk_by(|one, next| one + 1 == *next);
    let spell = |spell: &[usize]| match spell {
        [first, .., last] => format!("{first} to {last}"),
        hours => hours.iter().map(ToString::to_string).collect(),
    };
    spells.map(spell).collect::<Vec<String>>().join(", ")
}

fn findings(label: &str, findings: &[Statement<CapacityFinding>]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", printable(label), said(finding))).collect()
}

/// `pod is left out: it has no prices`
fn left_out(LeftOut { label, why, findings }: &LeftOut) -> String {
    let why = match why {
        WhyLeftOut::NoPrice => "it has no prices",
        WhyLeftOut::NotMeasured => "it has prices, and was not measured",
        WhyLeftOut::NoCapacity => "no capacity was found",
        WhyLeftOut::NotForLonger => "it was not found what it carries for longer",
        WhyLeftOut::NoSize => {
            "its replica has no size: write `replica: {cpu: 1, memory: 1Gi}` in the price file, or measure with `limits`"
        }
    };
    let findings: String = findings.iter().map(|finding| format!("; {}", said(finding))).collect();
    format!("{} is left out: {why}{findings}", printable(label))
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

fn objectives(decision: &Decision) -> String {
    format!(
        "A replica carries the lower end of its interval, or what holds for longer if that is less, and meets: {}.",
        printable(&decision.objectives.join(", "))
    )
}

fn words(Turn { label, what }: &Turn, currency: &str) -> String {
    let currency = printable(currency);
    let condition = match what {
        TurnOf::Load(times) if *times < 1.0 => format!("at {times:.3} times the load"),
        TurnOf::Load(times) => format!("at {times:.1} times the load"),
        TurnOf::Capacity(rate) => format!("if a replica carried {}", figures::rate(*rate)),
        TurnOf::Fixed(fixed) => {
            format!("if what it costs without any load were below {} {currency} a month", amount(*fixed))
        }
        TurnOf::CpuHour(price) => {
            format!("if a CPU there cost less than {} {currency} an hour", price_of(*price))
        }
        TurnOf::GibHour(price) => {
            format!("if a GiB of memory there cost less than {} {currency} an hour", price_of(*price))
        }
        TurnOf::Headroom(share) => {
            format!("if {} of each replica were kept free", figures::unsigned_percent(*share))
        }
    };
    format!("{} would cost least {condition}", printable(label))
}

/// Of what is small: three digits.
fn price_of(amount: f64) -> String {
    let digits = (2 - amount.log10().floor() as i32).max(0) as usize;
    format!("{amount:.digits$}")
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
    let mut worded = decision.clone();
    for group in &mut worded.groups {
        group.options.iter_mut().flat_map(|option| &mut option.findings).for_each(word);
        group.left_out.iter_mut().flat_map(|left_out| &mut left_out.findings).for_each(word);
    }
    serde_json::to_writer_pretty(&mut *out, &worded)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::decision::{DECISION_SCHEMA, DayProfile};

    fn option(label: &str, cost: f64, lost: impl Fn(usize) -> bool) -> CostOption {
        CostOption {
            label: label.to_owned(),
            platform: label.to_owned(),
            capacity: 2_000.0,
            capacity_interval: [1_900.0, 2_100.0],
            carries: 1_800.0,
            replicas: (0..24).map(|hour| if lost(hour) { 2 } else { 4 }).collect(),
            monthly_cost: cost,
            monthly_interval: [0.9 * cost, cost],
            monthly_fixed: 0.1 * cost,
            headroom: 0.31,
            headroom_one_lost: (0..24).map(|hour| if lost(hour) { -0.1 } else { 0.08 }).collect(),
            findings: vec![Statement::of(CapacityFinding::LessForLonger {
                failed: 1_850.0,
                carries: Some(1_800.0),
            })],
        }
    }

    fn group(service: &str) -> Alternatives {
        let turn = |what| Turn { label: "pod".to_owned(), what };
        let carries_all = CapacityFinding::CarriesAll { rate: 5_000.0 };
        Alternatives {
            service: service.to_owned(),
            load: "from 100/s Poisson, 64 connections".to_owned(),
            options: vec![
                option("host", 1_240.0, |_| false),
                option("pod", 1_390.0, |hour| hour == 3 || (9..18).contains(&hour)),
            ],
            left_out: vec![
                LeftOut { label: "docker".to_owned(), why: WhyLeftOut::NoPrice, findings: Vec::new() },
                LeftOut { label: "podman".to_owned(), why: WhyLeftOut::NoSize, findings: Vec::new() },
                LeftOut {
                    label: "vm".to_owned(),
                    why: WhyLeftOut::NoCapacity,
                    findings: vec![Statement::of(carries_all)],
                },
            ],
            turns: [
                TurnOf::Load(2.5),
                TurnOf::Load(0.2),
                TurnOf::Capacity(2_100.0),
                TurnOf::Fixed(90.0),
                TurnOf::CpuHour(0.0271),
                TurnOf::GibHour(0.00304),
                TurnOf::Headroom(0.35),
            ]
            .map(turn)
            .into(),
        }
    }

    fn decided(services: &[&str], distrust: &[&str]) -> String {
        let decided = Decision {
            schema: DECISION_SCHEMA.to_owned(),
            run: 3,
            trusted: distrust.is_empty(),
            objectives: vec!["p99 <= 50ms".to_owned(), "sent >= 99%".to_owned()],
            currency: "USD".to_owned(),
            profile: DayProfile { per_second: (1..=24).map(|hour| 100.0 * f64::from(hour)).collect() },
            groups: services.iter().map(|service| group(service)).collect(),
        };
        text(&decided, &distrust.iter().map(ToString::to_string).collect::<Vec<String>>(), 100)
    }

    #[test]
    fn a_decision_says_what_it_is_of_what_is_left_out_and_what_would_turn_it() {
        insta::assert_snapshot!(decided(&["orders"], &[]));
    }

    #[test]
    fn several_services_are_decided_each_by_itself() {
        let text = decided(&["orders", "users"], &[]);
        for heading in ["orders, from 100/s Poisson, 64 connections:", "users, from 100/s Poisson"] {
            assert!(text.contains(heading), "{text}");
        }
        assert!(text.contains("decided by itself"), "{text}");
        assert_eq!(text.matches("costs least").count(), 2);
    }

    #[test]
    fn what_cannot_be_trusted_is_said_first() {
        let sentence = "This run can't be trusted: the generator had no time to spare.";
        let text = decided(&["orders"], &[sentence]);
        assert!(text.starts_with(&format!("{sentence}\nhost costs least")), "{text}");
    }

    #[test]
    fn hours_with_as_many_replicas_are_one_spell_of_the_day() {
        let day = [[2_u32; 8].as_slice(), &[5; 11], &[3; 4], &[4]].concat();
        assert_eq!(by_hour(&day), ["00–07 2", "08–18 5", "19–22 3", "23 4"]);
        assert_eq!(by_hour(&[2; 24]), ["00–23 2"]);
    }

    #[test]
    fn hours_in_a_row_are_told_as_one_spell() {
        assert_eq!(hours(&[0, 1, 2, 5, 7, 8]), "0 to 2, 5, 7 to 8");
        assert_eq!(hours(&[23]), "23");
    }
}
