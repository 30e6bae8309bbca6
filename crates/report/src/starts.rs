//! How the starts went, as a table: what was reached when, and what image and idle service weigh.

use loadline_model::result::{RunResult, Start, Unit};

use crate::figures::Scale;

/// The heading of the table.
pub(crate) const HEADING: &str = "From the start to the first answer, medians over deployments.";

/// Headings and rows; empty unless a platform told more of a start than when it was answered.
pub(crate) fn table(result: &RunResult) -> (Vec<String>, Vec<Vec<String>>) {
    if result.starts.iter().all(|start| start.phases.len() < 2) {
        return Default::default();
    }
    let phases = phases(&result.starts);
    let mut headings = vec![String::new()];
    headings.extend(phases.iter().map(|name| (*name).to_owned()));
    headings.extend(["image size", "idle memory"].map(str::to_owned));
    let row = |start: &Start| {
        let mut row = vec![start.label.clone()];
        for name in &phases {
            let phase = start.phases.iter().find(|phase| phase.name == *name);
            row.push(phase.map(|phase| time(phase.median_ms)).unwrap_or_default());
        }
        row.extend(
            [start.image_bytes, start.idle_memory_bytes].map(|bytes| bytes.map(size).unwrap_or_default()),
        );
        row
    };
    (headings, result.starts.iter().map(row).collect())
}

/// All phases in an order that each start keeps to, where there is one.
fn phases(starts: &[Start]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for start in starts {
        let mut at = 0;
        for phase in &start.phases {
            match names.iter().position(|name| *name == phase.name) {
                Some(found) => at = found + 1,
                None => {
                    names.insert(at, &phase.name);
                    at += 1;
                }
            }
        }
    }
    names
}

fn time(ms: f64) -> String {
    let ns = ms * 1e6;
    Scale::of(Unit::Nanoseconds, &[ns]).figure(ns)
}

fn size(bytes: u64) -> String {
    Scale::of(Unit::Bytes, &[bytes as f64]).figure(bytes as f64)
}

#[cfg(test)]
mod tests {
    use loadline_model::result::StartPhase;

    use super::*;

    fn start(names: &[&str]) -> Start {
        let phase =
            |name: &&str| StartPhase { name: (*name).to_owned(), median_ms: 1.0, range_ms: [1.0, 1.0] };
        Start {
            label: String::new(),
            deployments: 1,
            phases: names.iter().map(phase).collect(),
            image_bytes: None,
            idle_memory_bytes: None,
        }
    }

    #[test]
    fn phases_of_several_platforms_stand_in_the_order_of_each() {
        let starts = [
            start(&["answered"]),
            start(&["created", "started", "answered"]),
            start(&["scheduled", "created", "ready", "answered"]),
        ];
        assert_eq!(phases(&starts), ["scheduled", "created", "ready", "started", "answered"]);
    }
}
