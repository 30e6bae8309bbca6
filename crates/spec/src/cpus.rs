//! Sets of CPUs, written `0,2-3` as the kernel writes them (cpuset(7), "List format").

use crate::error::Complaint;

/// Reads a list of numbers and ranges that are all among `available`, ascending.
pub fn parse_cpus(text: &str, available: &[usize]) -> Result<Vec<usize>, Complaint> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        add_cpus(part, available, &mut cpus)?;
    }
    cpus.sort_unstable();
    Ok(cpus)
}

/// Adds what `2` or `2-3` means to `cpus`; each must be available and new there.
pub(crate) fn add_cpus(text: &str, available: &[usize], cpus: &mut Vec<usize>) -> Result<(), Complaint> {
    let (first, last) = range(text)?;
    for cpu in first..=last {
        if !available.contains(&cpu) {
            let complaint = Complaint::new(format!("this machine has no CPU {cpu}"));
            return Err(complaint.help(format!("this process may use {}", show_cpus(available))));
        }
        if cpus.contains(&cpu) {
            return Err(Complaint::new(format!("CPU {cpu} is listed twice")).help("list each CPU once"));
        }
        cpus.push(cpu);
    }
    Ok(())
}

/// `0, 2, 3`
pub fn show_cpus(cpus: &[usize]) -> String {
    let words: Vec<String> = cpus.iter().map(usize::to_string).collect();
    words.join(", ")
}

/// `0`, `2-3`: the words that are read as these CPUs, which are ascending.
pub(crate) fn show_ranges(cpus: &[usize]) -> Vec<String> {
    let runs = cpus.chunk_by(|cpu, next| cpu + 1 == *next);
    runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => show_cpus(run),
    })
    .collect()
}

fn range(text: &str) -> Result<(usize, usize), Complaint> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let bounds = match text.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(|cpu| (cpu, cpu)),
    };
    bounds.filter(|(first, last)| first <= last).ok_or_else(|| {
        Complaint::new(format!("`{}` is not a CPU", text.trim())).help("write numbers and ranges: 0 or 2-3")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_and_ranges_are_read() {
        let here = [0, 1, 2, 3, 8];
        for (text, cpus) in [("0", vec![0]), ("8,0-2", vec![0, 1, 2, 8]), (" 1 , 3 ", vec![1, 3])] {
            assert_eq!(parse_cpus(text, &here), Ok(cpus), "{text}");
        }
        for text in ["", "0,", "3-1", "a", "0-", "4", "0-4", "0,0", "1,0-2", "-1"] {
            assert!(parse_cpus(text, &here).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,20}", first: usize, last: usize) {
            let _ = parse_cpus(&text, &[0, 1]);
            let _ = parse_cpus(&format!("{first}-{last}"), &[0, 1]);
        }
    }
}
