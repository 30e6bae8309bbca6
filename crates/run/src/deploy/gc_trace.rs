//! The line that a Go program prints for each collection where GODEBUG has `gctrace=1` (package runtime, "Environment Variables"),
//! read from the end of the service's output before and after each slice. It needs neither symbols nor the memory of the program.

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use loadline_model::runtime::{Runtime, Unseen};
use loadline_observe::probes;

const GOMAXPROCS: &str = "go.gomaxprocs";
const COLLECTIONS: &str = "go.gc.collections";
const PAUSE: &str = "go.gc.pause";
const MARK_CPU: &str = "go.gc.cpu";
const MARKED: &str = "go.heap.marked";
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
    /// Whether the numbers of the lines fell: they are of several programs, or of one that was started again.
    fell: bool,
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
    marked_bytes: u64,
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
    /// Heap that it found to be in use.
    marked_mb: u64,
    gomaxprocs: u64,
}

impl GcTrace {
    /// What it tells: some of what the probe reads in the program's memory, and more.
    pub(super) fn metrics() -> Vec<MetricDeclaration> {
        let of_probe = [GOMAXPROCS, COLLECTIONS, PAUSE];
        let mut metrics = probes::metrics();
        metrics.retain(|metric| of_probe.contains(&&*metric.name));
        metrics.push(
            MetricDeclaration::counter(MARK_CPU, Unit::Nanoseconds)
                .shown_as("CPU of Go's marking per request", HigherIs::Costlier),
        );
        metrics.push(
            MetricDeclaration::level(MARKED, Unit::Bytes)
                .shown_as("Go heap after a collection", HigherIs::Costlier),
        );
        metrics
    }

    /// Reads the end of the output before a slice.
    pub(super) fn begin(&mut self, output: &str) {
        self.read(output);
        self.before = Some(self.seen);
    }

    /// Whether a slice was begun whose end is to be read.
    pub(super) fn has_begun(&self) -> bool {
        self.before.is_some()
    }

    /// Reads it after the slice; returns what was collected meanwhile: nothing where the slice was not begun, and no times where
    /// some of the lines are gone.
    pub(super) fn end(&mut self, output: &str) -> Observations {
        let mut observed = Observations::default();
        let Some(before) = self.before.take() else { return observed };
        self.read(output);
        let seen = &self.seen;
        if self.fell || seen.collections == 0 {
            return observed;
        }
        observed.set(COLLECTIONS, seen.collections - before.collections);
        observed.set(MARKED, seen.marked_bytes);
        observed.set(GOMAXPROCS, seen.gomaxprocs);
        if seen.missed == before.missed {
            observed.insert(PAUSE, seen.pause_ns - before.pause_ns);
            observed.insert(MARK_CPU, seen.mark_cpu_ns - before.mark_cpu_ns);
        }
        observed
    }

    /// Adds what it knows, in place of what could not be seen in the program's memory.
    pub(super) fn complete(&self, runtime: &mut Runtime) {
        let is_of_memory = |unseen: &Unseen| {
            matches!(unseen, Unseen::NoGoSymbols | Unseen::NoGoTypes | Unseen::NoGoMemory { .. })
        };
        let hidden = runtime.unseen.iter().any(is_of_memory);
        runtime.unseen.retain(|unseen| !is_of_memory(unseen));
        match (self.fell, self.seen.collections) {
            (true, _) if hidden => runtime.unseen.push(Unseen::SeveralGcTraces),
            (false, 0) if hidden => runtime.unseen.push(Unseen::NoGcTrace),
            (false, 1..) => runtime.set(GOMAXPROCS, self.seen.gomaxprocs.to_string()),
            _ => {}
        }
    }

    /// Reads what was printed since it was last read.
    pub(super) fn read(&mut self, output: &str) {
        let mut last = 0;
        for collection in output.lines().filter_map(parse) {
            let seen = &mut self.seen;
            self.fell |= collection.number <= last;
            last = collection.number;
            if collection.number <= seen.collections {
                continue;
            }
            seen.missed += collection.number - seen.collections - 1;
            seen.collections = collection.number;
            seen.pause_ns += collection.pause_ms * NS_PER_MS;
            seen.mark_cpu_ns += collection.mark_cpu_ms * NS_PER_MS;
            seen.marked_bytes = collection.marked_mb.saturating_mul(1 << 20);
            seen.gomaxprocs = collection.gomaxprocs;
        }
        // What was read before may be gone from the output.
        self.fell |= 0 < last && last < self.seen.collections;
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
    let [_, _, marked_mb] = three(heap, "->")?;
    Some(Collection {
        number: number.parse().ok()?,
        pause_ms: time(stopped)? + time(stopped_again)?,
        mark_cpu_ms: three(marked, "/")?.into_iter().map(time).sum::<Option<f64>>()?,
        marked_mb: marked_mb.parse().ok()?,
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
            .with("go.heap.marked", 2 << 20)
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
        assert_eq!(unseen_after(&trace), [Unseen::NoGcTrace]);
    }

    /// What is not seen of a program without symbols.
    fn unseen_after(trace: &GcTrace) -> Vec<Unseen> {
        let mut runtime = Runtime { unseen: vec![Unseen::NoGoSymbols], ..Runtime::default() };
        trace.complete(&mut runtime);
        runtime.unseen
    }

    #[test]
    fn lines_of_several_programs_tell_nothing() {
        // A program that was started again; two at once; and one that was started again before the output was read.
        for output in [lines(1..=9) + &lines(1..=3), line(8) + &line(3) + &line(9), lines(1..=2)] {
            let mut trace = GcTrace::default();
            trace.begin(&lines(5..=7));
            assert_eq!(unseen_after(&trace), []);
            assert_eq!(trace.end(&output), Observations::default(), "{output}");
            assert_eq!(unseen_after(&trace), [Unseen::SeveralGcTraces]);
        }
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
