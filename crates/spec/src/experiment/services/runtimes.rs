//! How a service's language runtime is set up, in words that are the same for every service: they become environment variables, which the
//! runtime reads wherever it is started.

use serde_json::json;

use crate::error::{Complaint, Problems};
use crate::kinds::{List, Scalar, choice, parsed, switch};
use crate::options::{Table, Written};
use crate::units::parse_size;

/// What the `java` launcher of JDK 9 and later reads before its arguments (JDK Tool Specifications, java).
const JAVA_OPTIONS: &str = "JDK_JAVA_OPTIONS";

const COLLECTORS: [(&str, &str); 5] = [
    ("serial", "-XX:+UseSerialGC"),
    ("parallel", "-XX:+UseParallelGC"),
    ("g1", "-XX:+UseG1GC"),
    ("z", "-XX:+UseZGC"),
    ("shenandoah", "-XX:+UseShenandoahGC"),
];

/// What is written of a JVM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JvmKeys {
    heap: Option<Heap>,
    gc: Option<&'static str>,
    options: Vec<String>,
}

/// The heap at first and at most, bytes.
#[derive(Clone, Debug, PartialEq)]
struct Heap {
    first: Option<u64>,
    most: u64,
}

/// What is written of a Go program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoKeys {
    gomaxprocs: Option<String>,
    gomemlimit: Option<String>,
    gctrace: Option<bool>,
}

pub fn jvm_table() -> Table<JvmKeys> {
    let heap = json!({ "type": "string" });
    Table::<JvmKeys>::new("Jvm", "jvm", "How the service's JVM is started, by JDK_JAVA_OPTIONS")
        .key(
            "heap",
            Scalar::new(heap_of, |heap| heap.written(), heap).placeholder("SIZE"),
            "Its heap at most, or from the first to the most: 1g, 512m..1g",
            |jvm| &mut jvm.heap,
        )
        .key("gc", choice("a collector", &COLLECTORS), "Its collector", |jvm| &mut jvm.gc)
        .key(
            "options",
            List { element: parsed(option), needs_one: false },
            "Its further options, each of which begins with a dash",
            |jvm| &mut jvm.options,
        )
}

pub fn go_table() -> Table<GoKeys> {
    Table::<GoKeys>::new("Go", "go", "How the service's Go runtime is set up, by its environment")
        .key(
            "gomaxprocs",
            parsed(gomaxprocs),
            "Threads that run Go code at a time: limit, the CPU limit rounded up; all, as many as there are CPUs, whatever the limit; or a number",
            |go| &mut go.gomaxprocs,
        )
        .default("as the program chooses: from Go 1.25 on by the CPU limit, unless its `go` line is older")
        .key(
            "gomemlimit",
            parsed(gomemlimit),
            "Memory that the runtime tries to stay below: limit, the memory limit; or a size such as 512Mi",
            |go| &mut go.gomemlimit,
        )
        .key(
            "gctrace",
            switch(),
            "Whether it prints a line for each collection (GODEBUG=gctrace=1), which shows the collections of a program without symbols",
            |go| &mut go.gctrace,
        )
        .default("false")
}

fn heap_of(text: &str) -> Result<Heap, Complaint> {
    let size = |text: &str| {
        jvm_size(text).ok_or_else(|| {
            Complaint::new(format!("`{}` is not a heap", text.trim()))
                .help("write 1g, or 512m..1g: the heap at first and at most")
        })
    };
    match text.split_once("..") {
        None => Ok(Heap { first: None, most: size(text)? }),
        Some((first, most)) => {
            let heap = Heap { first: Some(size(first)?), most: size(most)? };
            match heap.first <= Some(heap.most) {
                true => Ok(heap),
                false => Err(Complaint::new("the heap at first is larger than at most")
                    .help("write the smaller one first")),
            }
        }
    }
}

/// `512m`, as the JVM writes it, or `512Mi`.
fn jvm_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit = match text.chars().last()? {
        'k' | 'K' => 10,
        'm' | 'M' => 20,
        'g' | 'G' => 30,
        _ => return parse_size(text).ok(),
    };
    let number: u64 = text[..text.len() - 1].parse().ok()?;
    number.checked_mul(1 << unit).filter(|bytes| *bytes > 0)
}

impl Heap {
    fn written(&self) -> String {
        match self.first {
            Some(first) => format!("{}..{}", shown(first), shown(self.most)),
            None => shown(self.most),
        }
    }
}

/// In the JVM's own units, as few digits as that needs.
fn shown(bytes: u64) -> String {
    let fits = |unit: u32| bytes.is_multiple_of(1 << unit);
    match () {
        () if fits(30) => format!("{}g", bytes >> 30),
        () if fits(20) => format!("{}m", bytes >> 20),
        () if fits(10) => format!("{}k", bytes >> 10),
        () => bytes.to_string(),
    }
}

fn option(text: &str) -> Result<String, Complaint> {
    let option = text.trim();
    match option.starts_with('-') && !option.contains(char::is_whitespace) {
        true => Ok(option.to_owned()),
        false => Err(Complaint::new(format!("`{option}` is not an option of a JVM"))
            .help("write one a list element, as in `- -XX:MaxGCPauseMillis=200`")),
    }
}

fn gomaxprocs(text: &str) -> Result<String, Complaint> {
    match text.trim() {
        word @ ("limit" | "all") => Ok(word.to_owned()),
        number if number.parse().is_ok_and(|number: u32| (1..=100_000).contains(&number)) => {
            Ok(number.to_owned())
        }
        other => Err(Complaint::new(format!("`{other}` is no value for GOMAXPROCS"))
            .help("write limit, all, or a number from 1")),
    }
}

fn gomemlimit(text: &str) -> Result<String, Complaint> {
    match text.trim() {
        "limit" => Ok("limit".to_owned()),
        size => parse_size(size).map(|bytes| bytes.to_string()),
    }
}

/// The environment that they become.
pub fn environment(
    jvm: Option<&Written<JvmKeys>>,
    go: Option<&Written<GoKeys>>,
    env: &[(String, String)],
    problems: &mut Problems,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut set = |written_at, name: &str, value: String| {
        if env.iter().any(|(known, _)| known == name) {
            let complaint = Complaint::new(format!("{name} is set twice: here and in `env`"));
            problems.add(written_at, complaint.help("keep one of them"));
        }
        found.push((name.to_owned(), value));
    };
    if let Some(jvm) = jvm {
        let options = jvm.value.arguments();
        if !options.is_empty() {
            set(&jvm.place, JAVA_OPTIONS, options.join(" "));
        }
    }
    if let Some(go) = go {
        let mut debug = Vec::new();
        match go.value.gomaxprocs.as_deref() {
            None => {}
            Some("limit") => set(&go.place, "GOMAXPROCS", "{limits.cpu}".to_owned()),
            // Since Go 1.25 the runtime looks at the limit unless it is told not to.
            Some("all") => debug.extend(["containermaxprocs=0", "updatemaxprocs=0"]),
            Some(number) => set(&go.place, "GOMAXPROCS", number.to_owned()),
        }
        if go.value.gctrace == Some(true) {
            debug.push("gctrace=1");
        }
        if !debug.is_empty() {
            set(&go.place, "GODEBUG", debug.join(","));
        }
        match go.value.gomemlimit.as_deref() {
            None => {}
            Some("limit") => set(&go.place, "GOMEMLIMIT", "{limits.memory}".to_owned()),
            Some(bytes) => set(&go.place, "GOMEMLIMIT", bytes.to_owned()),
        }
    }
    found
}

impl JvmKeys {
    fn arguments(&self) -> Vec<String> {
        let heap = self.heap.iter().flat_map(|heap| {
            let first = heap.first.map(|first| format!("-Xms{}", shown(first)));
            first.into_iter().chain([format!("-Xmx{}", shown(heap.most))])
        });
        heap.chain(self.gc.map(str::to_owned)).chain(self.options.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_are_read_as_the_jvm_writes_them() {
        for (text, arguments) in [("1g", "-Xmx1g"), ("512m..1g", "-Xms512m -Xmx1g"), ("512Mi", "-Xmx512m")] {
            let jvm = JvmKeys { heap: Some(heap_of(text).unwrap()), ..JvmKeys::default() };
            assert_eq!(jvm.arguments().join(" "), arguments);
        }
        assert_eq!(heap_of("512m..1g").unwrap().written(), "512m..1g");
        for text in ["", "1", "g", "2g..1g", "1g..", "0m", "99999999999999g"] {
            assert!(heap_of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn gomaxprocs_is_a_word_or_a_number() {
        for text in ["limit", "all", "32"] {
            assert_eq!(gomaxprocs(text).unwrap(), text);
        }
        for text in ["", "0", "-1", "many"] {
            assert!(gomaxprocs(text).is_err(), "{text}");
        }
    }
}
