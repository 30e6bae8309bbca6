//! The runs of a store: when each was made, how it ended, what it asked and what came out.

use loadline_model::result::{RunResult, RunState};

use crate::answer::{Answer, answer};
use crate::claims;
use crate::terminal::{Style, printable_but_colours};
use crate::text::{flow, wrap};
use crate::verdict::Tone;
use crate::wording;

/// The indent of what is told of a run, below its number.
const INDENT: usize = 6;

/// Some lines for each run, in the order given. `local_time` words the time at which a run started.
pub fn list(results: &[RunResult], style: &Style, local_time: impl Fn(&str) -> String) -> String {
    let entry = |result: &RunResult| entry(result, style, &local_time(&result.run.started));
    let text: String = results.iter().map(entry).collect();
    printable_but_colours(&text, style.colour)
}

/// What a list shows of a run, as text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How it ended, `complete, trusted in part`.
    pub state: String,
    /// Services, platforms and loads.
    pub subject: Vec<String>,
    /// The question with its answer; further sentences.
    pub outcome: Vec<String>,
}

/// What a run was about, and what came out.
pub fn summary(result: &RunResult) -> Summary {
    Summary {
        state: state(result, false),
        subject: wording::subject(result),
        outcome: outcome(result, false),
    }
}

/// Whether the text, in any case, is part of a run's name, a tag of it, its question, or what was run.
pub fn matches(result: &RunResult, text: &str) -> bool {
    let question = answer(result).map(|answer| answer.question);
    let subject = wording::subject(result);
    let about = [&result.run.name].into_iter().chain(&result.run.tags).chain(&question).chain(&subject);
    let text = text.to_lowercase();
    about.into_iter().any(|words| words.to_lowercase().contains(&text))
}

fn entry(result: &RunResult, style: &Style, started: &str) -> String {
    let pieces: Vec<String> = [started.to_owned(), state(result, style.colour)]
        .into_iter()
        .chain(wording::subject(result))
        .collect();
    let tags = result.run.tags.iter().map(|tag| format!("#{tag}"));
    let pieces: Vec<String> = pieces.into_iter().chain(tags).collect();
    let first = format!("{:>width$}  ", result.run.id, width = INDENT - 2);
    let mut text = flow(&first, &pieces, " · ", style.width, INDENT);
    for sentence in outcome(result, style.colour) {
        text.push_str(&wrap(&" ".repeat(INDENT), &sentence, style.width, INDENT));
    }
    text
}

fn outcome(result: &RunResult, colour: bool) -> Vec<String> {
    answer(result).map(|answer| verdicts(&answer, colour)).into_iter().chain(judgements(result)).collect()
}

fn state(result: &RunResult, colour: bool) -> String {
    let bad = |words: &str| Tone::Bad.paint(words, colour);
    match result.run.state {
        RunState::Complete if result.fails() => bad("complete, fails"),
        RunState::Complete if result.trust.trusted => "complete".to_owned(),
        RunState::Complete if result.is_trusted_in_part() => bad("complete, trusted in part"),
        RunState::Complete => bad("complete, not to be trusted"),
        RunState::Interrupted => bad("interrupted"),
        RunState::Failed => bad("failed"),
        RunState::Unfinished => bad("not finished"),
    }
}

/// The question with its answer, or with how many of each there are.
fn verdicts(answer: &Answer, colour: bool) -> String {
    if let [line] = &answer.lines[..] {
        return format!("{} {}{}", answer.question, line.tone.paint(&line.lead, colour), line.rest);
    }
    let mut counted: Vec<(&str, Tone, usize)> = Vec::new();
    for line in &answer.lines {
        match counted.iter_mut().find(|(lead, ..)| *lead == line.lead) {
            Some((_, _, count)) => *count += 1,
            None => counted.push((&line.lead, line.tone, 1)),
        }
    }
    let counted = counted.iter().map(|(lead, tone, count)| format!("{} ×{count}", tone.paint(lead, colour)));
    format!("{} {}", answer.question, counted.collect::<Vec<_>>().join(", "))
}

/// `claims: 2 confirmed, 1 refuted`
fn judgements(result: &RunResult) -> Option<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for claim in claims::lines(result) {
        match counted.iter_mut().find(|(word, _)| *word == claim.word) {
            Some((_, count)) => *count += 1,
            None => counted.push((claim.word, 1)),
        }
    }
    let counted: Vec<String> = counted.iter().map(|(word, count)| format!("{count} {word}")).collect();
    (!counted.is_empty()).then(|| format!("claims: {}", counted.join(", ")))
}
