//! What the probes declare, held against itself and against what they give.

use std::collections::BTreeSet;

use loadline_model::experiment::{CLAIM_METRICS, higher_is};
use loadline_model::metrics::{
    CGROUP_MEMORY, MACHINE_CPU, MACHINE_CPUS, MetricDeclaration, MetricKind, OBSERVER_CPU, RESIDENT_MEMORY,
    RUN_QUEUE_WAIT, SERVICE_CPU, Unit, WALL,
};
use loadline_observe::{Cgroup, MachineCpu, Observations, Observer, Snapshot, Subject, Wanted, probes};

#[test]
fn each_metric_is_declared_once_in_a_namespace() {
    let names: Vec<String> = probes::metrics().iter().map(|metric| metric.name.to_string()).collect();
    let different: BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    for name in names {
        let words: Vec<&str> = name.split('.').collect();
        assert!(words.len() >= 2 && words.into_iter().all(is_word), "{name}");
    }
}

#[test]
fn what_gates_and_combined_metrics_name_is_declared() {
    let declared = probes::metrics();
    let named = [WALL, SERVICE_CPU, OBSERVER_CPU, MACHINE_CPU, MACHINE_CPUS, RUN_QUEUE_WAIT, RESIDENT_MEMORY];
    let combined = ["softirqs.net_rx", "softirqs.net_tx", "switches.voluntary", "switches.involuntary"];
    let modes = MachineCpu::default().by_name().map(|(name, _)| name);
    for name in named.into_iter().chain([CGROUP_MEMORY]).chain(combined).chain(modes) {
        assert!(declared.iter().any(|metric| metric.name == name), "{name}");
    }
}

#[test]
fn each_probe_has_a_name_of_its_own_and_declares_something() {
    let all = probes::all(&[]);
    let names: BTreeSet<&str> = all.iter().map(|probe| probe.name()).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.iter().all(|probe| !probe.metrics().is_empty()));
}

#[test]
fn units_fit_what_is_counted() {
    for MetricDeclaration { name, unit, kind, figure, .. } in probes::metrics() {
        assert_ne!(unit, Unit::PerSecond, "{name}: a rate cannot be added up");
        assert!(unit != Unit::Bytes || kind == MetricKind::Level, "{name}");
        if let Some(figure) = figure {
            assert!(!figure.label.trim().is_empty(), "{name}");
        }
    }
}

#[test]
fn the_words_of_conditions_are_those_of_the_verdicts() {
    let declared = probes::metrics();
    let claimed = declared.iter().filter(|metric| CLAIM_METRICS.contains(&&*metric.name));
    let words = claimed.map(|metric| (&metric.name, metric.figure.as_ref().map(|figure| figure.higher_is)));
    let words: Vec<_> = words.collect();
    assert!(words.len() > 3, "{words:?}");
    for (name, word) in words {
        assert_eq!(word, Some(higher_is(name)), "{name}");
    }
}

/// A subject of which everything can be seen: a process, and a cgroup whose files are recorded.
fn subject(tree: &std::path::Path, pid: u32) -> Subject {
    let file = |name: &str, text: &str| std::fs::write(tree.join(name), text).unwrap();
    file(
        "cpu.stat",
        "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 9\nnr_throttled 2\nthrottled_usec 5\n",
    );
    file("memory.current", "4096\n");
    for resource in ["cpu", "memory", "io"] {
        file(
            &format!("{resource}.pressure"),
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=3\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
        );
    }
    file("memory.peak", "8192\n");
    file("cgroup.procs", &format!("{pid}\n"));
    Subject { root_pids: vec![pid], cgroup: Some(Cgroup::V2 { dir: tree.to_owned() }) }
}

fn is_of_a_runtime(name: &str) -> bool {
    ["jvm.", "go."].iter().any(|namespace| name.starts_with(namespace))
}

fn names(seen: &Observations) -> BTreeSet<String> {
    seen.iter().map(|(name, _)| name.to_owned()).collect()
}

/// What one probe alone gives of this process.
fn given_by(index: usize, subject: &Subject) -> (Vec<MetricDeclaration>, Observations) {
    let mut all = probes::all(&[]);
    let mut observer = Observer::with_probes(subject.clone(), vec![all.swap_remove(index)]);
    let before = observer.read(&Wanted::Everything);
    let after = observer.read(&Wanted::Everything);
    let seen = observer.between(&before, &after);
    (observer.metrics(), seen)
}

#[test]
fn no_probe_gives_what_it_does_not_declare_and_all_that_is_declared_can_be_given() {
    let tree = tempfile::tempdir().unwrap();
    let subject = subject(tree.path(), std::process::id());
    let mut given = BTreeSet::new();
    for index in 0..probes::all(&[]).len() {
        let (declared, seen) = given_by(index, &subject);
        let declared: BTreeSet<String> = declared.iter().map(|metric| metric.name.to_string()).collect();
        assert!(names(&seen).is_subset(&declared), "{seen:?}, declared: {declared:?}");
        given.extend(names(&seen));
    }
    let declared: BTreeSet<String> = probes::metrics().iter().map(|metric| metric.name.to_string()).collect();
    // This process has no language runtime; `runtimes` has programs that do.
    let missing: Vec<&String> = declared.difference(&given).filter(|name| !is_of_a_runtime(name)).collect();
    // Nothing was charged between the two readings, so there is nothing to divide into user and system time.
    assert_eq!(missing, ["cpu.service.system", "cpu.service.user"]);
}

#[test]
fn a_level_is_there_at_once_and_a_counter_is_zero_between_a_reading_and_itself() {
    let mut observer = Observer::new(Subject { root_pids: vec![std::process::id()], cgroup: None });
    let now = observer.read(&Wanted::Everything);
    let seen = observer.between(&now, &now);
    for MetricDeclaration { name, kind, .. } in probes::metrics() {
        match (kind, seen.get(&name)) {
            (MetricKind::Counter, value) => {
                assert!(value.is_none_or(|value| value == 0.0), "{name}: {value:?}")
            }
            (MetricKind::Level, Some(value)) => assert!(value > 0.0, "{name}"),
            (MetricKind::Level, None) => {
                assert!(
                    name.starts_with("memory.cgroup") || is_of_a_runtime(&name),
                    "{name}: there is no cgroup"
                )
            }
        }
    }
}

#[test]
fn only_what_is_wanted_is_read() {
    let tree = tempfile::tempdir().unwrap();
    let mut observer = Observer::new(subject(tree.path(), std::process::id()));
    let wanted = Wanted::Metrics(vec!["softirqs.net_rx".into(), "time.wall".into()]);
    let (before, after) = (observer.read(&wanted), observer.read(&wanted));
    let expected =
        ["cpu.observer", "softirqs.net_rx", "softirqs.net_tx", "time.wall"].map(str::to_owned).into();
    assert_eq!(names(&observer.between(&before, &after)), expected);
}

#[test]
fn a_reading_that_is_not_understood_says_nothing() {
    let observer = Observer::new(Subject::default());
    let strange: Snapshot =
        serde_json::from_str(r#"{"softirqs": {"net_rx": "many"}, "no such probe": 7, "tcp": [1]}"#).unwrap();
    assert_eq!(observer.between(&strange, &strange), Observations::default());
}
