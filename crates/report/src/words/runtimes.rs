//! What could not be seen of a language runtime, and what would show it.

use loadline_model::runtime::Unseen;

use super::Words;

impl Words for Unseen {
    fn words(&self) -> String {
        match self {
            Unseen::NoPerformanceData => "the JVM keeps no performance data in its /tmp (-XX:+PerfDisableSharedMem, -XX:-UsePerfData, or \
                a /tmp that it cannot write to): collections, pauses, heap and compilation were not seen"
                .to_owned(),
            Unseen::BadPerformanceData { why } => format!(
                "the JVM's performance data cannot be read: {why}. Collections, pauses, heap and compilation were not seen"
            ),
            Unseen::OtherJvm { library } => format!(
                "its JVM ({library}) is not HotSpot, and keeps no performance data: collections, pauses, heap and compilation were not seen"
            ),
            Unseen::NotAttached { why } => {
                format!("the JVM did not tell its flags and threads: {why}")
            }
            Unseen::NoGoSymbols => "the Go program has no symbols: GOMAXPROCS and collections were not seen. Build it without \
                -ldflags=-s to see them, or set `go: {gctrace: true}`"
                .to_owned(),
            Unseen::NoGcTrace => "the Go program's output has no line of its gctrace: it collected nothing, or the output cannot be \
                read. GOMAXPROCS and collections were not seen"
                .to_owned(),
            Unseen::SeveralGcTraces => "several Go programs print their collections into one output, or one was started again: \
                collections were not seen"
                .to_owned(),
            Unseen::NoGoTypes => "the Go program has no debugging information: collections and heap were not seen. Build it without \
                -ldflags=-w to see them, or set `go: {gctrace: true}`"
                .to_owned(),
            Unseen::NoGoMemory { why } => {
                format!("the memory of the Go program may not be read: {why}. GOMAXPROCS and collections were not seen. \
                    `go: {{gctrace: true}}` shows them")
            }
            Unseen::NoOwnMetrics { path, why } => {
                format!("the service shows no metrics of its own at {path}: {why}")
            }
        }
    }
}
