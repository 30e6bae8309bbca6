//! `--vary threads=1,4`: each service whose line has `{threads}` is measured with each value.

use crate::error::{Complaint, Problems};

use super::place;

/// What loadline fills in itself.
const TAKEN: [&str; 2] = ["host", "port"];

/// A name with its values.
pub(super) struct Varied {
    name: String,
    values: Vec<String>,
}

/// A line with values in the place of its names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub line: String,
    /// What sets it apart from the others: ` threads=4`.
    pub apart: String,
}

/// Reads what `--vary` was given; each name must be in one of the lines.
pub(super) fn varied(given: &[String], lines: &[&String], problems: &mut Problems) -> Vec<Varied> {
    let read = |text: &String| {
        let place = place("--vary", text);
        let varied = problems.note(&place, values(text))?;
        let placeholder = placeholder(&varied.name);
        if !lines.iter().any(|line| line.contains(&placeholder)) {
            let complaint = Complaint::new(format!("no service has `{placeholder}`"));
            problems
                .add(&place, complaint.help(format!("--command './server --{} {placeholder}'", varied.name)));
            return None;
        }
        Some(varied)
    };
    given.iter().filter_map(read).collect()
}

fn values(text: &str) -> Result<Varied, Complaint> {
    let help = "write --vary threads=1,4";
    let (name, values) =
        text.split_once('=').ok_or_else(|| Complaint::new(format!("`{text}` has no values")).help(help))?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Err(Complaint::new(format!("`{name}` is no name of letters, digits, - and _")).help(help));
    }
    if TAKEN.contains(&name) {
        return Err(Complaint::new(format!("{{{name}}} is filled in by loadline")).help("take another name"));
    }
    let values = values.split(',').map(|value| value.trim().to_owned()).collect();
    Ok(Varied { name: name.to_owned(), values })
}

fn placeholder(name: &str) -> String {
    format!("{{{name}}}")
}

/// The line once for each combination of the values of the names in it.
pub(super) fn fill(line: &str, varied: &[Varied]) -> Vec<Filled> {
    let mut filled = vec![Filled { line: line.to_owned(), apart: String::new() }];
    for Varied { name, values } in varied.iter().filter(|varied| line.contains(&placeholder(&varied.name))) {
        let with = |filled: &Filled, value: &String| Filled {
            line: filled.line.replace(&placeholder(name), value),
            apart: format!("{} {name}={value}", filled.apart),
        };
        filled = filled
            .iter()
            .flat_map(|each| values.iter().map(|value| with(each, value)).collect::<Vec<_>>())
            .collect();
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_combined_with_every_other() {
        let lines = ["./server -t {threads} -m {mode} {port}".to_owned(), "./other {port}".to_owned()];
        let given = ["threads=1,4".to_owned(), "mode=a,b".to_owned()];
        let mut problems = Problems::default();
        let varied = varied(&given, &lines.iter().collect::<Vec<_>>(), &mut problems);
        let filled = fill(&lines[0], &varied);
        assert_eq!(filled.len(), 4);
        assert_eq!(filled[1].line, "./server -t 1 -m b {port}");
        assert_eq!(filled[1].apart, " threads=1 mode=b");
        assert_eq!(fill(&lines[1], &varied), [Filled { line: lines[1].clone(), apart: String::new() }]);
        assert!(problems.finish(Some(())).is_ok());
    }
}
