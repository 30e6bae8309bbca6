//! The question of the run and its answer in a sentence, from the median response time of each contrast, with the bound that the interval
//! proves. What can't be trusted gets its figures, but no verdict.

use loadline_model::result::{Contrast, Row, RunResult, Verdict};

use crate::figures::{self, Scale};
use crate::groups::{self, Group, HEADLINE};
use crate::verdict::{Tone, tone};
use crate::words::said;

/// Words by which a question asks for a yes or a no.
const YES_NO: [&str; 9] = ["is", "are", "does", "do", "will", "can", "has", "did", "was"];
/// Words that turn such a question round, so that "Yes" could be read either way.
const TURNS: [&str; 7] = ["no", "not", "never", "faster", "or", "why", "how"];

/// The question and what the run says to it.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The author's question, or one made of the cells' names.
    pub question: String,
    /// What all lines have in common, `median, 95 % interval`, when there are several.
    pub common: Option<String>,
    /// One per contrast.
    pub lines: Vec<AnswerLine>,
}

/// The answer for one contrast.
#[derive(Debug)]
pub(crate) struct AnswerLine {
    /// Which contrast, when there are several.
    pub about: Option<String>,
    /// The answer in a word or two: `Yes`.
    pub lead: String,
    /// How the lead should look.
    pub tone: Tone,
    /// The sentence after the lead, from its punctuation on.
    pub rest: String,
}

/// How much a sentence says of its own figures.
#[derive(Clone, Copy)]
enum Detail<'a> {
    /// Everything.
    Full { interval_name: &'a str },
    /// Not what stands above all lines.
    Brief,
}

impl Detail<'_> {
    fn median(self) -> &'static str {
        match self {
            Detail::Full { .. } => " at the median",
            Detail::Brief => "",
        }
    }
}

/// The answer; none when nothing was compared.
pub(crate) fn answer(result: &RunResult) -> Option<Answer> {
    let groups = groups::groups(result);
    let several = groups.iter().map(|group| group.contrasts.len()).sum::<usize>() > 1;
    let question = question_about(result, &groups)?;
    let interval_name = figures::interval_name(result);
    let common = several.then(|| format!("median, {interval_name}"));
    let detail = if several { Detail::Brief } else { Detail::Full { interval_name: &interval_name } };
    let yes_no = wants_yes_or_no(&question);
    let lines = groups
        .iter()
        .flat_map(|group| {
            group.contrasts.iter().map(|(candidate, contrast)| (group.baseline, candidate, contrast))
        })
        .map(|(baseline, candidate, contrast)| AnswerLine {
            about: several.then(|| groups::contrast_name(result, candidate, baseline)),
            ..line(contrast, yes_no, detail)
        })
        .collect::<Vec<_>>();
    (!lines.is_empty()).then_some(Answer { question, common, lines })
}

/// The author's question, or one made of the cells' names; none when nothing was compared.
pub(crate) fn question(result: &RunResult) -> Option<String> {
    question_about(result, &groups::groups(result))
}

fn question_about(result: &RunResult, groups: &[Group<'_>]) -> Option<String> {
    result.run.question.clone().or_else(|| made_question(groups))
}

fn made_question(groups: &[Group<'_>]) -> Option<String> {
    let baselines = groups::unique(groups.iter().map(|group| group.baseline.label.as_str()));
    let candidates = groups::unique(
        groups.iter().flat_map(|group| &group.contrasts).map(|(candidate, _)| candidate.label.as_str()),
    );
    let [baseline] = baselines[..] else {
        return (!baselines.is_empty()).then(|| "Are they slower than their baselines?".to_owned());
    };
    match candidates[..] {
        [] => None,
        [candidate] => Some(format!("Is {candidate} slower than {baseline}?")),
        [ref first @ .., last] => {
            Some(format!("Are {} and {last} slower than {baseline}?", first.join(", ")))
        }
    }
}

/// Whether "Yes" would mean "slower".
fn wants_yes_or_no(question: &str) -> bool {
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    words.first().is_some_and(|first| YES_NO.contains(first))
        && words.contains(&"slower")
        && !words.iter().any(|word| TURNS.contains(word) || word.ends_with("n't"))
}

fn line(contrast: &Contrast, yes_no: bool, detail: Detail<'_>) -> AnswerLine {
    let new = |lead: &str, tone, rest| AnswerLine { about: None, lead: lead.to_owned(), tone, rest };
    let row = groups::row_of(contrast, HEADLINE);
    let Some((row, scale)) = row.and_then(|row| Some((row, groups::scale_of([row])?))) else {
        return new("Can't tell", Tone::Unsure, ": the median was not measured.".to_owned());
    };
    if !row.trusted {
        return new("Not to be trusted", Tone::Bad, format!(": {}.", measured(row, &scale, detail)));
    }
    let (lead, rest) = match row.verdict {
        Verdict::Slower | Verdict::Costlier | Verdict::More => {
            (if yes_no { "Yes" } else { "Slower" }, bounded(row, &scale, detail))
        }
        Verdict::Faster | Verdict::Cheaper | Verdict::Fewer => {
            (if yes_no { "No, it gets faster" } else { "Faster" }, bounded(row, &scale, detail))
        }
        Verdict::Equivalent => {
            (if yes_no { "No" } else { "No difference that matters" }, equivalent(row, &scale, detail))
        }
        Verdict::Unresolved => ("Can't tell", unresolved(row, &scale, detail)),
    };
    new(lead, tone(row.verdict), rest)
}

/// `+4.1 µs at the median (+6.7 %), 95 % interval [+3.5, +4.7]`
fn measured(row: &Row, scale: &Scale, detail: Detail<'_>) -> String {
    format!("{}{}", difference(row, scale, detail), interval(row, scale, detail))
}

/// `+4.1 µs at the median (+6.7 %)`
fn difference(row: &Row, scale: &Scale, detail: Detail<'_>) -> String {
    let relative = row.relative.map(|share| format!(" ({})", figures::percent(share))).unwrap_or_default();
    format!("{}{}{relative}", scale.difference(row.difference), detail.median())
}

/// `: +4.1 µs at the median (+6.7 %), at least +3.5 µs.`
fn bounded(row: &Row, scale: &Scale, detail: Detail<'_>) -> String {
    let least =
        row.interval.map(|ends| format!(", at least {}", scale.difference(figures::nearer_zero(ends))));
    format!(": {}{}.", difference(row, scale, detail), least.unwrap_or_default())
}

/// `: within ±0.4 µs at the median; the margin is ±0.6 µs (±1 %).`
fn equivalent(row: &Row, scale: &Scale, detail: Detail<'_>) -> String {
    let share = match row.margin / row.baseline {
        share if share.is_finite() => format!(" (±{})", figures::unsigned_percent(share)),
        _ => String::new(),
    };
    let bound = row.bound.map(|bound| format!("within {}{}; ", scale.margin(bound), detail.median()));
    format!(": {}the margin is {}{share}.", bound.unwrap_or_default(), scale.margin(row.margin))
}

/// `: within ±1.6 µs at the median (+0.3 µs [−1.0, +1.6]); <why>.` Among several lines the reason stands below the tables.
fn unresolved(row: &Row, scale: &Scale, detail: Detail<'_>) -> String {
    let shown = match (row.interval, row.bound) {
        (Some(ends), Some(bound)) => {
            let found = format!("{} {}", scale.difference(row.difference), scale.bare_interval(ends));
            format!("within {}{} ({found})", scale.margin(bound), detail.median())
        }
        // Without a claim there is no bound either.
        _ => measured(row, scale, detail),
    };
    let why = row.note.as_ref().map(|note| said(note).trim_end_matches('.').to_owned());
    match (why, detail) {
        (Some(why), Detail::Full { .. }) => format!(": {shown}; {why}."),
        (Some(why), Detail::Brief) if row.interval.is_none() => format!(": {shown}; {why}."),
        _ => format!(": {shown}."),
    }
}

/// `, 95 % interval [+3.5, +4.7]`; nothing when there is none.
fn interval(row: &Row, scale: &Scale, detail: Detail<'_>) -> String {
    let Some(ends) = row.interval else { return String::new() };
    match detail {
        Detail::Full { interval_name } => format!(", {interval_name} {}", scale.bare_interval(ends)),
        Detail::Brief => format!(", {}", scale.bare_interval(ends)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_answer_only_a_question_whether_it_is_slower() {
        for (question, expected) in [
            ("Does it get slower in a pod?", true),
            ("Is pod slower than host?", true),
            ("Are docker and static pod slower than host?", true),
            ("What does Kubernetes cost the orders service?", false),
            ("Does it get faster in a pod?", false),
            ("Is it slower or faster in a pod?", false),
            ("Is a pod no slower than the host?", false),
            ("Isn't it slower?", false),
            ("How much slower is a pod?", false),
            ("", false),
        ] {
            assert_eq!(wants_yes_or_no(question), expected, "{question}");
        }
    }
}
