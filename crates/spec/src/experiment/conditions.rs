//! Conditions on which a run fails: `p99 slower by > 5%`, `rate.achieved fewer by > 100/s`, `cpu.service costlier`.

use loadline_model::experiment::{Amount, CAPACITY, Condition, Direction, higher_is};
use loadline_model::metrics::HigherIs;
use serde_json::json;

use super::metric::{metric_or_capacity, short};
use super::published::Figures;
use crate::Experiment;
use crate::error::{Complaint, Place, Problems, SpecError, suggestion};
use crate::kinds::Scalar;
use crate::units::parse_percentage;

/// The flag that adds conditions to those of an experiment.
const FLAG: &str = "--fail-if";
const EXAMPLE: &str = "write `p99 slower by > 5%`";
/// Nothing is lower by as much as all of it.
const ALL: f64 = 1.0;

pub(super) fn condition() -> Scalar<Condition> {
    let words = "slower|faster|costlier|cheaper|more|fewer";
    let pattern = format!(r"^\s*[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\s+({words})(\s+by\s*>\s*[0-9].*)?\s*$");
    Scalar::new(
        read,
        |condition: &Condition| condition.text.clone(),
        json!({ "type": "string", "pattern": pattern }),
    )
}

/// Adds the conditions of the command line to those of an experiment, each once.
///
/// # Errors
/// When a text is not a condition, or the experiment cannot tell whether it holds.
pub fn add_conditions(experiment: &mut Experiment, texts: &[String]) -> Result<(), SpecError> {
    let mut problems = Problems::default();
    for (place, condition) in read_all(texts, &mut problems) {
        if let Some(complaint) = unjudged(experiment, &condition) {
            problems.add(&place, complaint);
        }
        if !experiment.fail_if.contains(&condition) {
            experiment.fail_if.push(condition);
        }
    }
    problems.finish(Some(())).map_err(SpecError::without_text)
}

/// Reads conditions of the command line that are judged by comparing runs of this experiment with an earlier run.
///
/// # Errors
/// When a text is not a condition, or the comparison cannot tell whether it holds.
pub fn check_conditions(experiment: &Experiment, texts: &[String]) -> Result<(), SpecError> {
    let mut problems = Problems::default();
    for (place, condition) in read_all(texts, &mut problems) {
        match (&experiment.capacity, condition.metric == CAPACITY) {
            (None, true) => problems.add(&place, no_search()),
            (Some(_), false) => {
                let complaint = Complaint::new("searches of two runs are compared by their capacities alone");
                problems.add(&place, complaint.help("write `capacity fewer by > 5%`"));
            }
            _ => {}
        }
    }
    problems.finish(Some(())).map_err(SpecError::without_text)
}

fn no_search() -> Complaint {
    Complaint::new("only a search finds a capacity")
        .help("use `loadline capacity`, or write `capacity:` into the file")
}

fn read_all(texts: &[String], problems: &mut Problems) -> Vec<(Place, Condition)> {
    let mut conditions = Vec::new();
    for text in texts {
        let place = Place::Flag { name: FLAG, value: text.clone() };
        conditions.extend(problems.note(&place, read(text)).map(|condition| (place, condition)));
    }
    conditions
}

/// Notes conditions of an experiment that cannot tell whether they hold.
pub(super) fn are_judged(experiment: &Experiment, place: &Place, problems: &mut Problems) {
    if let Some(complaint) = experiment.fail_if.iter().find_map(|condition| unjudged(experiment, condition)) {
        problems.add(place, complaint);
    }
}

/// Why nothing that the experiment compares could tell whether a condition holds.
fn unjudged(experiment: &Experiment, condition: &Condition) -> Option<Complaint> {
    // Runs from before comparisons were written down have them in their plan alone.
    let is_known = !experiment.cells.is_empty();
    if is_known && experiment.contrasts.is_empty() {
        let complaint = Complaint::new("nothing is compared that the condition could be about");
        return Some(complaint.help("add a platform or a service to compare, or leave the condition out"));
    }
    match (&experiment.capacity, condition.metric.as_str()) {
        (None, CAPACITY) => Some(no_search()),
        (Some(_), metric) if metric != CAPACITY && experiment.plan.deployments < 2 => {
            let message = format!("`{}` is judged over deployments, and this search has one", short(metric));
            let help = "give it several (--deployments 3), or write `capacity fewer by > 5%`";
            Some(Complaint::new(message).help(help))
        }
        _ => None,
    }
}

/// `METRIC WORD [by > AMOUNT]`
fn read(text: &str) -> Result<Condition, Complaint> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [metric, rest @ ..] = &words[..] else {
        return Err(Complaint::new("the condition is empty").help(EXAMPLE));
    };
    let metric = metric_or_capacity(metric)?;
    let [word, rest @ ..] = rest else {
        let [higher, lower] = words_of(&metric);
        let message =
            format!("the condition does not say whether `{}` is {higher} or {lower}", short(&metric));
        return Err(Complaint::new(message).help(format!("write `{} {higher} by > 5%`", short(&metric))));
    };
    let direction = direction(word, &metric)?;
    let by = if rest.is_empty() { Amount::Share(0.0) } else { amount(&rest.join(" "), &metric)? };
    if direction == Direction::Lower && matches!(by, Amount::Share(share) if share >= ALL) {
        let complaint = Complaint::new(format!("no figure is {word} by all of the baseline or more"));
        return Err(complaint.help("write a share below 100%"));
    }
    Ok(Condition { text: words.join(" "), metric, direction, by })
}

/// What a metric is called that is higher than its baseline, and one that is lower.
fn words_of(metric: &str) -> [&'static str; 2] {
    match higher_is(metric) {
        HigherIs::Slower => ["slower", "faster"],
        HigherIs::Costlier => ["costlier", "cheaper"],
        HigherIs::More => ["more", "fewer"],
    }
}

fn direction(word: &str, metric: &str) -> Result<Direction, Complaint> {
    let words = words_of(metric);
    if word == words[0] {
        Ok(Direction::Higher)
    } else if word == words[1] {
        Ok(Direction::Lower)
    } else {
        let complaint = Complaint::new(format!("`{}` is never `{word}`", short(metric)));
        Err(complaint.help(suggestion(word, &words)))
    }
}

/// `by > 5%`, `by >1ms`
fn amount(text: &str, metric: &str) -> Result<Amount, Complaint> {
    let figures = Figures::of(metric);
    let example = format!("write `by > 5%` of the baseline, or `by > {}`", figures.example());
    let written = text.strip_prefix("by").and_then(|rest| rest.trim_start().strip_prefix('>'));
    let Some(written) = written.map(str::trim).filter(|written| !written.is_empty()) else {
        return Err(Complaint::new(format!("`{text}` does not say by how much")).help(example));
    };
    let amount = match written.contains('%') {
        true => parse_percentage(written).map(Amount::Share),
        false => figures.figure(written).map(Amount::Figure),
    };
    amount.map_err(|complaint| complaint.help(example))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(metric: &str, direction: Direction, by: Amount) -> impl Fn(&str) -> Condition {
        let metric = metric.to_owned();
        move |text| Condition { text: text.to_owned(), metric: metric.clone(), direction, by }
    }

    #[test]
    fn a_condition_names_a_metric_a_word_of_its_verdicts_and_an_amount() {
        use Direction::{Higher, Lower};
        for (text, expected) in [
            ("p99 slower by > 5%", condition("response.p99", Higher, Amount::Share(0.05))),
            ("p99.9 slower by > 150%", condition("response.p99.9", Higher, Amount::Share(1.5))),
            ("response.mean faster", condition("response.mean", Lower, Amount::Share(0.0))),
            ("service.p50 slower by > 2us", condition("service.p50", Higher, Amount::Figure(2_000.0))),
            ("cpu.service costlier by > 1.5us", condition("cpu.service", Higher, Amount::Figure(1_500.0))),
            ("cpu.throttled slower by > 0%", condition("cpu.throttled", Higher, Amount::Share(0.0))),
            ("memory.peak cheaper by > 10Mi", condition("memory.peak", Lower, Amount::Figure(10_485_760.0))),
            ("rate.achieved fewer by > 60/min", condition("rate.achieved", Lower, Amount::Figure(1.0))),
            ("capacity fewer by > 5%", condition("capacity", Lower, Amount::Share(0.05))),
            ("capacity fewer by > 50/s", condition("capacity", Lower, Amount::Figure(50.0))),
            ("switches more by > 0.5", condition("switches", Higher, Amount::Figure(0.5))),
        ] {
            assert_eq!(read(text), Ok(expected(text)));
        }
    }

    #[test]
    fn spaces_mean_nothing() {
        let expected = read("p99 slower by > 5%").unwrap();
        assert_eq!(read("  p99\t slower\nby  >  5% "), Ok(expected.clone()));
        let close = read("p99 slower by >5%").unwrap();
        assert_eq!((&close.metric, close.by), (&expected.metric, expected.by));
        assert_eq!(read(&close.text), Ok(close.clone()));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(p99|rate.achieved|.{0,6}) ?(slower|fewer|.{0,6}) ?(by ?>|.{0,3}) ?.{0,8}") {
            if let Ok(condition) = read(&text) {
                proptest::prop_assert_eq!(read(&condition.text), Ok(condition));
            }
        }
    }
}
