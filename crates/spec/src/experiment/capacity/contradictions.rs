//! Objectives that nothing meets together: a smaller quantile is no larger than a larger one, no service time is longer than its response time, and
//! a hundredth of all that is above p99 is in the mean (Markov's inequality).

use loadline_model::experiment::{Bound, Objective};

use crate::error::{Complaint, Place, Problems};

/// Notes objectives that contradict each other.
pub(super) fn note(objectives: &[Objective], place: &Place, problems: &mut Problems) {
    for (at, one) in objectives.iter().enumerate() {
        for other in &objectives[at + 1..] {
            if contradict(one, other) || contradict(other, one) {
                let complaint =
                    Complaint::new(format!("nothing meets both `{}` and `{}`", one.text, other.text));
                problems.add(place, complaint.help("leave one of them out"));
            }
        }
    }
}

/// Whether what is at least so large makes the other larger than it may be.
fn contradict(large: &Objective, small: &Objective) -> bool {
    let (Bound::AtLeast(least), Bound::AtMost(most)) = (large.bound, small.bound) else { return false };
    share_implied(&large.metric, &small.metric).is_some_and(|share| share * least > most)
}

/// The share of one metric's figure that another one's has at least, if there is one.
fn share_implied(metric: &str, other: &str) -> Option<f64> {
    if metric == other {
        return Some(1.0);
    }
    let ((time, of), (other_time, of_other)) = (metric.split_once('.')?, other.split_once('.')?);
    if time != other_time && (time, other_time) != ("service", "response") {
        return None;
    }
    match (percentile(of), percentile(of_other)) {
        (Some(percent), Some(other)) => (percent <= other).then_some(1.0),
        (Some(percent), None) if of_other == "mean" => Some((100.0 - percent) / 100.0),
        (None, None) if of == "mean" && of_other == "mean" => Some(1.0),
        _ => None,
    }
}

/// 99 of `p99`.
fn percentile(of: &str) -> Option<f64> {
    of.strip_prefix('p')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn is_refused(texts: [&str; 2]) -> bool {
        let mut problems = Problems::default();
        note(&texts.map(|text| read(text).unwrap()), &Place::CommandLine, &mut problems);
        problems.count() > 0
    }

    #[test]
    fn what_no_distribution_of_times_can_have_is_refused() {
        for texts in [
            ["p99 <= 1ms", "p99 >= 5ms"],
            ["p99 <= 1ms", "p50 >= 5ms"],
            ["p50 >= 5ms", "p99.9 <= 1ms"],
            ["p99 <= 1ms", "service.p50 >= 5ms"],
            ["mean <= 1ms", "service.mean >= 5ms"],
            // One in a hundred takes more than 100 ms, and alone makes a mean of 1 ms.
            ["mean <= 900us", "p99 >= 100ms"],
        ] {
            assert!(is_refused(texts), "{texts:?}");
        }
    }

    #[test]
    fn what_one_can_have_is_not() {
        for texts in [
            ["p99 <= 5ms", "p50 >= 5ms"],
            ["p50 <= 1ms", "p99 >= 5ms"],
            ["service.p99 <= 1ms", "p50 >= 5ms"],
            ["p99 <= 1ms", "mean >= 5ms"],
            ["mean <= 1ms", "p99 >= 100ms"],
            ["p99 <= 1ms", "cpu.service >= 5ms"],
            ["cpu.path <= 1ms", "cpu.service >= 5ms"],
            ["success >= 99%", "p99 <= 1ms"],
        ] {
            assert!(!is_refused(texts), "{texts:?}");
        }
    }
}
