//! Reading the text of a file of due times.
//!
//! One time a line, counted from the start, in seconds (`0.25`) or with a unit (`250ms`), in ascending order. Empty lines
//! and what follows a `#` are left out.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use crate::load::{Nanos, Replay, SECOND, TimeError, parse_time, show_time};

/// Why a file of due times can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A line is no time.
    #[error("{}, line {line}: {error}", path.display())]
    Time {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        error: TimeError,
    },
    /// A time is earlier than the one above it.
    #[error("{}, line {line}: {time} is earlier than the time above it, {before}: sort the file", path.display())]
    Order {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The time on this line.
        time: String,
        /// The time above it.
        before: String,
    },
    /// There is no time in it.
    #[error("{} contains no due times: write one a line, in seconds or with a unit: 0.25 or 250ms", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
}

/// Reads due times from `text`; `path` is where they are said to come from.
///
/// # Errors
/// With the line that cannot be read or is out of order.
pub fn parse_replay(path: &Path, mut text: impl BufRead) -> Result<Replay, ReplayError> {
    let path = path.to_owned();
    let mut times: Vec<Nanos> = Vec::new();
    let mut buffer = String::new();
    for line in 1.. {
        buffer.clear();
        match text.read_line(&mut buffer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(source) => return Err(ReplayError::Read { path, source }),
        }
        let content = buffer.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let time = match parse_time(content, Some(SECOND)) {
            Ok(time) => time,
            Err(error) => return Err(ReplayError::Time { path, line, error }),
        };
        match times.last() {
            Some(before) if *before > time => {
                let (time, before) = (show_time(time), show_time(*before));
                return Err(ReplayError::Order { path, line, time, before });
            }
            _ => times.push(time),
        }
    }
    if times.is_empty() {
        return Err(ReplayError::Empty { path });
    }
    Ok(Replay::new(path, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn parse(text: &str) -> Result<Replay, ReplayError> {
        parse_replay(Path::new("times.txt"), text.as_bytes())
    }

    #[test]
    fn times_are_read_exactly() {
        let replay =
            parse("# recorded on Monday\n\n0\n0.1\n250ms # the second user\r\n250ms\n  1.5s\n3.000000001");
        let replay = replay.unwrap();
        assert_eq!(*replay.times(), [0, 100_000_000, 250_000_000, 250_000_000, 1_500_000_000, 3_000_000_001]);
        assert_eq!(replay.duration(), Duration::from_nanos(3_000_000_002));
        assert_eq!(replay.count_before(Duration::from_millis(250)), 2);
        assert_eq!(replay.to_string(), "replay of times.txt (6 requests)");
    }

    #[test]
    fn errors_say_where_and_what_to_write() {
        for (text, message) in [
            ("0\nsoon\n", "times.txt, line 2: `soon` is not a time: write 250ms or 1.5s"),
            (
                "# head\n1\n\n0.5",
                "times.txt, line 4: 500ms is earlier than the time above it, 1s: sort the file",
            ),
            ("1m", "times.txt, line 1: `m` is not a unit of time: use ns, us, ms, s, min or h"),
            (
                "# nothing\n",
                "times.txt contains no due times: write one a line, in seconds or with a unit: 0.25 or 250ms",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
        let error = parse_replay(Path::new("t"), &b"1\n\xff\n"[..]).unwrap_err().to_string();
        assert!(error.starts_with("cannot read t: "), "{error}");
    }

    proptest! {
        #[test]
        fn every_ascending_list_is_read_back(mut times in prop::collection::vec(0u64..1 << 50, 1..50)) {
            times.sort_unstable();
            let lines: Vec<String> = times
                .iter()
                .map(|time| format!("{}.{:09}", time / SECOND, time % SECOND))
                .collect();
            prop_assert_eq!(parse(&lines.join("\n")).unwrap().times().to_vec(), times);
        }
    }
}
