//! The line that a Go program prints for each collection where GODEBUG has `gctrace=1` (package runtime, "Environment Variables"), read from
//! the end of the service's output before and after each slice. It needs neither symbols nor the memory of the program.

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use loadline_model::runtime::{Runtime, Unseen};

const MARK_CPU: &str = "go.gc.cpu";
const NS_PER_MS: f64 = 1e6;

/// Whether these environment variables make a Go program print its collections.
pub(super) fn is_asked_for(environment: &[(String, String)]) -> bool {
    let settings =
        environment.iter().filter(|(name, _)| name == "GODEBUG").flat_map(|(_, value)| value.split(','));
    let mut traced = settings.filter_map(|setting| setting.strip_prefix("gctrace=")?.parse::<u32>().ok());
    traced.next_back().is_some_and(|level| level > 0)
}

/// Reads the collections of one deployment.
#[derive(Default)]
pub(super) struct GcTrace {
    seen: Totals,
    before: Option<Totals>,
}

/// What was printed since the program began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Totals {
    /// The number of the last collection.
    collections: u64,
    /// How many of them were printed before what is kept of the output.
    missed: u64,
    pause_ns: f64,
    mark_cpu_ns: f64,
    /// After the last collection.
    live_bytes: u64,
    gomaxprocs: u64,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Collection {
    /// From 1.
    number: u64,
    /// For how long it stopped the program, before and after it marked.
    pause_ms: f64,
    /// CPU time of marking: by goroutines that allocate, in the background, and on CPUs that were idle.
    mark_cpu_ms: f64,
    /// Heap that is in use after it.
    live_mb: u64,
    gomaxprocs: u64,
}

impl GcTrace {
    /// What it tells beyond the probe that reads the program's memory.
    pub(super) fn metrics() -> [MetricDeclaration; 1] {
        [MetricDeclaration::counter(MARK_CPU, Unit::Nanoseconds)
            .shown_as("CPU of Go's collections per request", HigherIs::Costlier)]
    }

    /// Reads the end of the output before a slice.
    pub(super) fn begin(&mut self, output: &str) {
        self.read(output);
        self.before = Some(self.seen);
    }

    /// Reads it after the slice; returns what was collected meanwhile. Nothing where the slice was not begun, and no times where some of the
    /// lines are gone.
    pub(super) fn end(&mut self, output: &str) -> Observations {
        let mut observed = Observations::default();
        let Some(before) = self.before.take() else { return observed };
        self.read(output);
        let seen = &self.seen;
        if seen.collections == 0 {
            return observed;
        }
        observed.set("go.gc.collections", seen.collections - before.collections);
        observed.set("go.heap.live", seen.live_bytes);
        observed.set("go.gomaxprocs", seen.gomaxprocs);
        if seen.missed == before.missed {
            observed.insert("go.gc.pause", seen.pause_ns - before.pause_ns);
            observed.insert(MARK_CPU, seen.mark_cpu_ns - before.mark_cpu_ns);
        }
        observed
    }

    /// Adds what it knows, in place of what could not be seen in the program's memory.
    pub(super) fn complete(&self, runtime: &mut Runtime) {
        if self.seen.collections > 0 {
            runtime.set("go.gomaxprocs", self.seen.gomaxprocs.to_string());
            runtime.unseen.retain(|unseen| {
                !matches!(unseen, Unseen::NoGoSymbols | Unseen::NoGoTypes | Unseen::NoGoMemory { .. })
            });
        }
    }

    /// Reads what was printed since it was last read.
    pub(super) fn read(&mut self, output: &str) {
        for collection in output.lines().filter_map(parse) {
            let seen = &mut self.seen;
            if collection.number <= seen.collections {
                continue;
            }
            seen.missed += collection.number - seen.collections - 1;
            seen.collections = collection.number;
            seen.pause_ns += collection.pause_ms * NS_PER_MS;
            seen.mark_cpu_ns += collection.mark_cpu_ms * NS_PER_MS;
            seen.live_bytes = collection.live_mb.saturating_mul(1 << 20);
            seen.gomaxprocs = collection.gomaxprocs;
        }
    }
}

/// `gc 7 @0.3s 2%: 0.01+1.2+0.03 ms clock, 0.02+0.1/1.1/0.2+0.06 ms cpu, 4->5->2 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P`
fn parse(line: &str) -> Option<Collection> {
    let (number, rest) = line.strip_prefix("gc ")?.split_once(' ')?;
    let mut parts = rest.split_once(": ")?.1.split(", ");
    let clock = parts.next()?.strip_suffix(" ms clock")?;
    let cpu = parts.next()?.strip_suffix(" ms cpu")?;
    let heap = parts.next()?.strip_suffix(" MB")?;
    let gomaxprocs = parts.last()?.split_once(" P")?.0;
    let [stopped, _, stopped_again] = three(clock, "+")?;
    let [_, marked, _] = three(cpu, "+")?;
    let [_, _, live] = three(heap, "->")?;
    Some(Collection {
        number: number.parse().ok()?,
        pause_ms: time(stopped)? + time(stopped_again)?,
        mark_cpu_ms: three(marked, "/")?.into_iter().map(time).sum::<Option<f64>>()?,
        live_mb: live.parse().ok()?,
        gomaxprocs: gomaxprocs.parse().ok()?,
    })
}

fn three<'a>(text: &'a str, separator: &str) -> Option<[&'a str; 3]> {
    text.split(separator).collect::<Vec<_>>().try_into().ok()
}

/// In milliseconds, as the text.
fn time(text: &str) -> Option<f64> {
    text.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Go 1.26 prints it.
    fn line(number: u64) -> String {
        format!(
            "gc {number} @0.012s 2%: 0.5+0.36+0.25 ms clock, 0.030+0.5/1/1.5+0.088 ms cpu, 4->4->2 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 8 P\n"
        )
    }

    fn lines(numbers: std::ops::RangeInclusive<u64>) -> String {
        numbers.map(line).collect()
    }

    #[test]
    fn a_slice_has_what_was_collected_in_it() {
        let mut trace = GcTrace::default();
        trace.begin(&format!("listening\n{}", lines(1..=3)));
        let observed = trace.end(&format!("{}gc 6 @0.01", lines(2..=5)));
        let expected = Observations::default()
            .with("go.gc.collections", 2)
            .with("go.gc.pause", 1_500_000)
            .with("go.gc.cpu", 6_000_000)
            .with("go.heap.live", 2 << 20)
            .with("go.gomaxprocs", 8);
        assert_eq!(observed, expected);
        assert_eq!(trace.end(&lines(2..=5)), Observations::default(), "no slice was begun");
    }

    #[test]
    fn what_is_gone_of_the_output_leaves_no_times() {
        let mut trace = GcTrace::default();
        trace.begin(&lines(7..=8));
        let observed = trace.end(&lines(20..=21));
        assert_eq!((observed.count("go.gc.collections"), observed.count("go.gc.pause")), (Some(13), None));
        trace.begin(&lines(20..=21));
        assert_eq!(trace.end(&lines(20..=22)).count("go.gc.pause"), Some(750_000));
    }

    #[test]
    fn a_program_that_prints_none_tells_nothing() {
        let mut trace = GcTrace::default();
        trace.begin("");
        assert_eq!(trace.end("started\ngc is for others\n"), Observations::default());
        let mut runtime = Runtime { unseen: vec![Unseen::NoGoSymbols], ..Runtime::default() };
        trace.complete(&mut runtime);
        assert_eq!(runtime.unseen, [Unseen::NoGoSymbols]);
    }

    #[test]
    fn lines_of_other_kinds_are_none() {
        assert!(parse(line(1).trim_end()).is_some());
        assert!(parse(&line(1).trim_end().replace("8 P", "8 P (forced)")).is_some());
        for damaged in ["0.5+", "/1.5", "->2", " ms cpu", ", 8 P", "gc "] {
            assert_eq!(parse(&line(1).trim_end().replacen(damaged, "", 1)), None, "without {damaged}");
        }
        assert_eq!(parse(&line(1).trim_end().replace("0.5+", "NaN+")), None);
    }

    #[test]
    fn it_is_asked_for_by_the_last_setting() {
        let asked = |value: &str| is_asked_for(&[("GODEBUG".to_owned(), value.to_owned())]);
        assert!(asked("containermaxprocs=0,gctrace=1"));
        assert!(!asked("gctrace=1,gctrace=0"));
        assert!(!asked("http2debug=1"));
        assert!(!is_asked_for(&[("OTHER".to_owned(), "gctrace=1".to_owned())]));
    }

    proptest! {
        #[test]
        fn any_output_is_read_without_a_panic(output in "(?s).*", number: u64, mb: u64) {
            let mut trace = GcTrace::default();
            trace.begin(&output);
            let odd = line(number).replace("->2 MB", &format!("->{mb} MB"));
            let _ = trace.end(&format!("{output}\n{odd}{}", line(u64::MAX)));
        }
    }
}
