//! An examination as a person reads it: what can be told here, then what was seen, then what would make it better.

use loadline_model::result::doctor::DoctorResult;

use super::{answer, machine};
use crate::Style;
use crate::text::{visible_width, wrap};
use crate::verdict::Tone;
use crate::wording;
use crate::words::said;

/// Between a name and its figures.
const GAP: usize = 3;

/// The result as text for a terminal, ending with a line break.
pub fn table(result: &DoctorResult, style: &Style) -> String {
    let sections = [head(result, style), seen(result, style), advice(result, style), left_out(result, style)];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(result: &DoctorResult, style: &Style) -> String {
    let mut text = String::new();
    if result.interrupted {
        text += &wrap("", &Tone::Bad.paint("interrupted", style.colour), style.width, 0);
    }
    let Some(noise) = &result.noise else { return text + &machine_line(result, style) };
    text += &match answer::sentence(noise) {
        Some(sentence) => wrap("", &sentence, style.width, 0),
        None => wrap(
            "",
            "Nothing can be told here in an hour: deploying the service takes too long.",
            style.width,
            0,
        ),
    };
    text += &wrap("", &answer::basis(&noise.run), style.width, 0);
    text += &machine_line(result, style);
    text += "\n";
    text += &answer::table(noise, style.width);
    if let Some(plans) = answer::plans(noise) {
        text += &wrap("", &plans, style.width, 2);
    }
    text
}

fn machine_line(result: &DoctorResult, style: &Style) -> String {
    wrap("Machine: ", &wording::machine(&result.machine), style.width, 2)
}

fn seen(result: &DoctorResult, style: &Style) -> String {
    let noise = result.noise.as_ref();
    let correlation = noise.and_then(|noise| answer::correlation(&noise.correlation));
    let lines: Vec<(String, String)> = correlation
        .map(|text| ("noise correlates".to_owned(), text))
        .into_iter()
        .chain(noise.map(|noise| ("disturbed".to_owned(), answer::disturbed(&noise.run))))
        .chain(machine::lines(result))
        .collect();
    let column = lines.iter().map(|(name, _)| visible_width(name)).max().unwrap_or(0) + GAP;
    let line = |(name, text): &(String, String)| {
        let space = " ".repeat(column - visible_width(name));
        wrap(&format!("{name}{space}"), text, style.width, column)
    };
    lines.iter().map(line).collect()
}

fn advice(result: &DoctorResult, style: &Style) -> String {
    if result.advice.is_empty() {
        return String::new();
    }
    let mut text = "What would make it better\n".to_owned();
    for advice in &result.advice {
        let mark = Tone::Unsure.paint("!", style.colour);
        let sentence = format!("{}; {}: {}", said(&advice.seen), said(&advice.why), said(&advice.change));
        text += &wrap(&format!("  {mark} "), &sentence, style.width, 4);
    }
    text
}

fn left_out(result: &DoctorResult, style: &Style) -> String {
    let line = |left_out| wrap("Note: ", &said(left_out), style.width, 6);
    result.left_out.iter().map(line).collect()
}
