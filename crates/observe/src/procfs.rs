//! Small helpers for the text files of proc(5) and sysfs: reading one whole, and finding the figures in it.
//! The parsers take any text and never panic; a figure that is not there is `None`.

use std::fs;
use std::path::{Path, PathBuf};

/// Where proc(5) is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proc {
    root: PathBuf,
}

impl Default for Proc {
    fn default() -> Proc {
        Proc::at("/proc")
    }
}

impl Proc {
    pub(crate) fn at(root: impl Into<PathBuf>) -> Proc {
        Proc { root: root.into() }
    }

    /// As [`read`], a file below it.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        read(self.root.join(path))
    }

    /// What a symbolic link below it says.
    pub(crate) fn link(&self, path: &str) -> Option<PathBuf> {
        fs::read_link(self.root.join(path)).ok()
    }

    /// The numeric entries of a directory below it.
    pub(crate) fn ids_in(&self, directory: &str) -> Vec<u32> {
        let entries = fs::read_dir(self.root.join(directory)).into_iter().flatten();
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }
}

/// The whole file. Bytes that are not UTF-8, which a program can put into its own name, are replaced.
pub(crate) fn read(path: impl AsRef<Path>) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// The whole file without surrounding white space; `None` if that leaves nothing.
pub(crate) fn read_trimmed(path: impl AsRef<Path>) -> Option<String> {
    let text = read(path)?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A file that holds one number.
pub(crate) fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    read(path)?.trim().parse().ok()
}

/// The number after `key` and white space, as in cgroup's `cpu.stat` (`usage_usec 12`).
pub(crate) fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some(key)).then(|| words.next()?.parse().ok())?
    })
}

/// The CPUs that a list such as `0-3,8` names (cpuset(7), "List format"); `None` if it is none.
pub fn parse_cpu_list(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last > MOST_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// Far above what a kernel can be built for (CONFIG_NR_CPUS is 8192 at most): a longer list is no list of CPUs.
const MOST_CPUS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_is_found_by_its_whole_key() {
        let text = "nr_periods_x 1\nnr_periods 2\nnr_throttled many\nlast\n";
        assert_eq!(number_after(text, "nr_periods"), Some(2));
        assert_eq!(number_after(text, "nr_throttled"), None);
        assert_eq!(number_after(text, "last"), None);
        assert_eq!(number_after(text, "absent"), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_none() {
        assert_eq!(read("/proc/self/no-such-file"), None);
        assert_eq!(read_number("/proc/self/no-such-file"), None);
    }

    #[test]
    fn a_list_of_cpus_names_each() {
        assert_eq!(parse_cpu_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(parse_cpu_list("3"), Some(vec![3]));
        for none in ["", "3-0", "0-4294967295", "a"] {
            assert_eq!(parse_cpu_list(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_searched_without_a_panic(text in "(?s).*", key in ".*") {
            let _ = parse_cpu_list(&text);
            let _ = number_after(&text, &key);
        }
    }
}
