//! The language runtimes of the services in a few lines: first what differs between them, then what they have in common, then what could
//! not be seen. Flags and threads are in the JSON.

use loadline_model::result::{RunResult, SiteRuntime, Unit};

use crate::figures::Scale;
use crate::words::said;

/// The facts that are shown, with their names, in this order.
const SHOWN: [(&str, &str); 10] = [
    ("jvm.version", "JVM"),
    ("jvm.collector", "collector"),
    ("jvm.heap.max", "heap at most"),
    ("jvm.carriers", "carriers of virtual threads"),
    ("go.version", "Go"),
    ("go.gomaxprocs", "GOMAXPROCS"),
    ("go.env.GOMEMLIMIT", "GOMEMLIMIT"),
    ("go.env.GOGC", "GOGC"),
    ("go.env.GODEBUG", "GODEBUG"),
    ("go.default_godebug", "GODEBUG by default"),
];
/// More services than these are counted, not named.
const MOST_NAMED: usize = 4;

/// The lines; none where no service has a runtime that is known.
pub(crate) fn lines(result: &RunResult) -> Vec<String> {
    let (mut common, mut differing) = (Vec::new(), Vec::new());
    for (fact, name) in SHOWN {
        let values = by_value(&result.runtimes, fact);
        match &values[..] {
            [] => {}
            [(value, _)] => common.push(format!("{name} {value}")),
            several => {
                let each = several.iter().map(|(value, sites)| format!("{value} ({})", named(sites)));
                differing.push(format!("{name}: {}", each.collect::<Vec<_>>().join(", ")));
            }
        }
    }
    let mut lines = Vec::new();
    if !differing.is_empty() {
        lines.push(format!("Runtimes differ: {}", differing.join("; ")));
    }
    if !common.is_empty() {
        lines.push(format!("Runtimes: {}", common.join(" · ")));
    }
    lines.extend(compilers(&result.runtimes));
    let unseen = result.runtimes.iter().flat_map(|runtime| {
        runtime.unseen.iter().map(|unseen| (said(unseen).into_owned(), runtime.label.as_str()))
    });
    let mut sentences: Vec<(String, Vec<&str>)> = Vec::new();
    for (sentence, site) in unseen {
        match sentences.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, sites)) => sites.push(site),
            None => sentences.push((sentence, vec![site])),
        }
    }
    lines.extend(sentences.iter().map(|(sentence, sites)| format!("{}: {sentence}.", named(sites))));
    lines
}

/// What the JIT compilers did at most. That it was too much for a warm service is said in a note.
fn compilers(runtimes: &[SiteRuntime]) -> Option<String> {
    let shares = runtimes.iter().filter_map(|runtime| Some((runtime.jit_share?, runtime.label.as_str())));
    let (most, site) = shares.max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(format!("JIT compilers took at most {:.1} % of a service's CPU time ({site})", most * 100.0))
}

/// The values of a fact, each with the sites that have it, in their order.
fn by_value<'a>(runtimes: &'a [SiteRuntime], fact: &str) -> Vec<(String, Vec<&'a str>)> {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for runtime in runtimes {
        let Some(value) = runtime.facts.get(fact).map(|value| shown(fact, value)) else { continue };
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, sites)) => sites.push(&runtime.label),
            None => values.push((value, vec![&runtime.label])),
        }
    }
    values
}

fn shown(fact: &str, value: &str) -> String {
    match (fact, value.parse::<f64>()) {
        ("jvm.heap.max", Ok(bytes)) => Scale::of(Unit::Bytes, &[bytes]).figure(bytes),
        _ => value.to_owned(),
    }
}

fn named(sites: &[&str]) -> String {
    if sites.len() > MOST_NAMED { format!("{} services", sites.len()) } else { sites.join(", ") }
}

#[cfg(test)]
mod tests {
    use loadline_model::result::Statement;
    use loadline_model::runtime::Unseen;

    use super::*;

    fn runtime(label: &str, facts: &[(&str, &str)], unseen: &[Unseen]) -> SiteRuntime {
        SiteRuntime {
            label: label.to_owned(),
            jit_share: None,
            facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            unseen: unseen.iter().cloned().map(Statement::of).collect(),
        }
    }

    #[test]
    fn a_value_stands_with_the_services_that_have_it() {
        let go = |label, procs| runtime(label, &[("go.version", "go1.26"), ("go.gomaxprocs", procs)], &[]);
        let runtimes = [go("host", "2"), go("docker", "1"), go("pod", "1")];
        assert_eq!(by_value(&runtimes, "go.version"), [("go1.26".to_owned(), vec!["host", "docker", "pod"])]);
        let expected = [("2".to_owned(), vec!["host"]), ("1".to_owned(), vec!["docker", "pod"])];
        assert_eq!(by_value(&runtimes, "go.gomaxprocs"), expected);
    }

    #[test]
    fn the_compiler_that_did_most_is_told_of() {
        let of = |label, jit_share| SiteRuntime { jit_share, ..runtime(label, &[], &[]) };
        let found = compilers(&[of("go", None), of("spring", Some(0.004)), of("quarkus", Some(0.0121))]);
        assert_eq!(
            found.as_deref(),
            Some("JIT compilers took at most 1.2 % of a service's CPU time (quarkus)")
        );
        assert_eq!(compilers(&[of("go", None)]), None);
    }

    #[test]
    fn heaps_have_units_and_many_services_are_counted() {
        assert_eq!(shown("jvm.heap.max", "536870912"), shown("jvm.heap.max", "536870912.0"));
        assert!(shown("jvm.heap.max", "536870912").contains('M'), "{}", shown("jvm.heap.max", "536870912"));
        assert_eq!(named(&["a", "b"]), "a, b");
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "5 services");
    }
}
