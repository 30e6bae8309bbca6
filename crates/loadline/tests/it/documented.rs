//! The commands that the README and the book show: each is valid, and those that a reader tries first are run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::BRIEF;
use crate::support::place::{Ended, Place, ended};
use crate::support::programs::Served;
use crate::support::served;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// The words of each command in the code blocks of a page, without `loadline` itself; what follows a command is not among them.
fn commands(page: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(page).expect("a page").replace("\\\n", " ");
    let blocks = text.split("\n```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines);
    let commands = lines.filter_map(|line| line.trim_start_matches("$ ").strip_prefix("loadline "));
    let words = |line: &str| -> Vec<String> {
        // A shell's own words, of which `#` begins a comment.
        let line = line.split("  #").next().unwrap_or_default().split(" && ").next().unwrap_or_default();
        shlex::split(line).unwrap_or_else(|| panic!("{}: {line}", page.display()))
    };
    commands.map(words).collect()
}

fn pages() -> Vec<PathBuf> {
    let book =
        fs::read_dir(root().join("docs")).expect("the book").map(|entry| entry.expect("a file").path());
    let pages = book.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    [root().join("README.md")].into_iter().chain(pages).collect()
}

/// A place with what the pages' commands name.
fn furnished(place: Place) -> Place {
    symlink(root().join("examples"), place.path("examples")).expect("a link");
    symlink(root().join("examples/host-vs-pod.yaml"), place.path("mine.yaml")).expect("a link");
    for (folder, file) in [("app", "server.js"), ("site", "app.py"), ("classes", "Server.class")] {
        fs::create_dir(place.path(folder)).expect("a folder");
        place.write(&format!("{folder}/{file}"), "");
    }
    for file in ["server.py", "secure.py"] {
        place.write(file, "");
    }
    for archive in ["node.tar", "python.tar", "java.tar"] {
        place.write(archive, "");
    }
    for program in ["server", "server-1", "server-2", "old", "new"] {
        symlink("/bin/true", place.path(program)).expect("a link");
    }
    place
}

fn run(place: &Place, words: &[String]) -> Ended {
    place.run(words.iter().map(String::as_str))
}

#[test]
fn every_command_is_valid() {
    let place = furnished(Place::new());
    let mut count = 0;
    for page in pages() {
        for mut words in commands(&page) {
            let shown = words.join(" ");
            // Which of the reference services are built here is not what this is about.
            let file = words.get(1).filter(|_| words[0] == "run").map(|file| place.path(file));
            if file.is_some_and(|file| fs::read_to_string(file).expect("a file").contains("reference:")) {
                continue;
            }
            match words[0].as_str() {
                // Where a run goes is no part of its plan.
                "compare" | "run" if !of_stored_runs(&words) => {
                    words[0] = "plan".to_owned();
                    while let Some(at) = words.iter().position(|word| OUTPUTS.contains(&word.as_str())) {
                        words.drain(at..at + 2);
                    }
                }
                "plan" => {}
                // What follows `--` is another program's.
                _ => {
                    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
                    words.insert(end, "--help".to_owned());
                }
            }
            let ended = run(&place, &words);
            assert_eq!(ended.code, Some(0), "{}: loadline {shown}\n{}", page.display(), ended.stderr);
            count += 1;
        }
    }
    assert!(count > 25, "only {count} commands were found");
}

/// Whether nothing is measured, so that there is no plan.
fn of_stored_runs(words: &[String]) -> bool {
    words.len() > 2 && words[1..].iter().all(|word| word.parse::<i64>().is_ok())
}

const OUTPUTS: [&str; 8] =
    ["--by", "--fail-if", "--junit", "--json", "--csv", "--markdown", "--html", "--store"];

#[test]
fn the_readmes_first_commands_do_what_they_say() {
    let place = furnished(Place::shared());
    let service = Served::start(&["orders"]);
    let commands = commands(&root().join("README.md"));
    let with = |name: &str, more: &[&str]| -> Vec<String> {
        let words = commands.iter().find(|words| words[0] == name).unwrap_or_else(|| panic!("{name}"));
        let local = words.iter().map(|word| word.replace("http://127.0.0.1:8080", &service.url("")));
        local.chain(more.iter().map(|word| (*word).to_owned())).collect()
    };

    let compared = run(&place, &with("compare", &BRIEF));
    compared.assert_measured();
    for line in [
        "host against pod",
        "response p50",
        "Resolution: ",
        "Trust: ",
        "Time: ",
        "Kept in loadline.db as run 1",
    ] {
        assert!(compared.stdout.contains(line), "{line}: {}", compared.stdout);
    }
    let reported = run(&place, &with("report", &[]));
    reported.assert_measured();
    assert!(place.path("run.json").exists() && place.path("run.md").exists());
    let loaded = run(&place, &with("load", &["--for", "500ms"]));
    loaded.assert_measured();
    assert!(loaded.stdout.contains("response"), "{}", loaded.stdout);
}

#[test]
fn the_readmes_experiment_ladder_and_examination_do_what_they_say() {
    let place = furnished(Place::shared());
    let commands = commands(&root().join("README.md"));
    let of = |name: &str| commands.iter().find(|words| words[0] == name).unwrap_or_else(|| panic!("{name}"));
    let words = |name: &str, more: &[&str]| -> Vec<String> {
        of(name).iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
    };

    // The same experiment in less time.
    let experiment = fs::read_to_string(place.path(&of("run")[1])).expect("the README's experiment");
    assert!(!experiment.contains("\nplan:"), "it has a plan of its own: {experiment}");
    let brief = "\nplan: {slice: 200ms, blocks: 2, deployments: 2, warmup: 1s, repeats: 0}\n";
    place.write("brief.yaml", &(experiment + brief));
    let ran = place.run(["run", "brief.yaml"]);
    ran.assert_measured();
    assert!(ran.stdout.contains("response p50"), "{}", ran.stdout);

    let layers = run(&place, &words("layers", &[&["--rung", "cgroup+veth"][..], &BRIEF].concat()));
    layers.assert_measured();
    assert!(layers.stdout.contains("What does each layer cost?"), "{}", layers.stdout);
    let examined = run(&place, &words("doctor", &["--seconds", "10"]));
    assert_eq!(examined.code, Some(0), "{}", examined.stderr);
}

/// The first lines for a shell of a page.
fn script(page: &str) -> String {
    let text = fs::read_to_string(root().join(page)).expect("a page");
    let (_, rest) = text.split_once("\n```sh\n").expect("lines for a shell");
    rest.split_once("\n```").expect("their end").0.to_owned()
}

#[test]
fn the_examples_with_curl_start_a_run_and_wait_for_its_verdict() {
    let place = Place::cleaning();
    let experiment = "
service: {builtin: orders}
platforms: [host, pod]
loads: [{rate: 200/s}]
plan: {slice: 200ms, blocks: 2, deployments: 2, warmup: 1s, repeats: 0}
";
    place.write("experiment.yaml", experiment);
    let site = served::Served::start(&place);
    let (script, usual) = (script("docs/ui.md"), "http://127.0.0.1:7667");
    assert!(script.contains(usual), "{script}");
    let script = script.replace(usual, &format!("http://{}", site.address));
    let mut shell = Command::new("bash");
    shell.current_dir(place.dir.path()).env("TOKEN", &site.token);
    shell.args(["-euo", "pipefail", "-c", &script]);
    let ended = ended(shell.output().expect("bash"));
    assert_eq!(ended.code, Some(0), "{script}\n{}", ended.stderr);
    // It has waited: nothing is left to do, and the verdict is of all of it.
    assert_eq!(site.json("/api/jobs/1")["state"], "ended");
    assert_eq!(site.json("/api/runs/1")["run"]["state"], "complete");
    let summary = site.json("/api/runs/1/summary");
    let outcome: Vec<&str> =
        summary["outcome"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(!outcome.is_empty(), "{summary}");
    assert_eq!(ended.stdout.lines().collect::<Vec<_>>(), outcome);
    let events = fs::read_to_string(place.path("events")).expect("what it followed");
    assert!(events.contains("\"state\":\"ended\""), "{events}");
}
