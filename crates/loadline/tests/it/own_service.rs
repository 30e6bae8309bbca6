//! `docs/own-service.md` from beginning to end, with shorter runs; and what a container platform says of a service that it has no image of.

use crate::docker::Harbour;
use crate::support::page::{Step, run_in_shell, steps, write};
use crate::support::{BRIEF, leftovers};

const PAGE: &str = "own-service.md";

/// Does what the section says, and checks that the host and the container were compared.
fn followed(language: &str) {
    let harbour = Harbour::new();
    let mut compared = 0;
    for step in steps(PAGE, language) {
        match step {
            Step::Write(file, text) => write(&harbour.place, &file, &text),
            Step::Type(line) => match line.strip_prefix("loadline ") {
                None => run_in_shell(&harbour.place, &line),
                Some(own) => {
                    let words = shlex::split(own).expect("words");
                    let is_comparison = words[0] == "compare";
                    let more = if is_comparison { &BRIEF[..] } else { &[] };
                    let ended = harbour.run(words.iter().map(String::as_str).chain(more.iter().copied()));
                    ended.assert_measured();
                    assert!(
                        !is_comparison || ended.stdout.contains("host against docker"),
                        "{}",
                        ended.stdout
                    );
                    compared += usize::from(is_comparison);
                }
            },
        }
    }
    assert_eq!(compared, 1, "one comparison of {language}");
    leftovers::assert_none(&harbour.place.store().label());
}

#[test]
fn a_service_of_node_js_is_measured_on_the_host_and_in_a_container() {
    followed("Node.js");
}

#[test]
fn a_service_of_python_is_measured_on_the_host_and_in_a_container() {
    followed("Python");
}

#[test]
fn a_service_of_java_is_measured_on_the_host_and_in_a_container() {
    followed("Java");
}

#[test]
fn a_service_of_go_is_measured_on_the_host_and_in_a_container() {
    followed("Go");
}

#[test]
fn a_service_without_an_image_is_told_the_ways_to_one() {
    let harbour = Harbour::new();
    write(&harbour.place, "server.js", "");
    let command = ["compare", "--command", "node server.js {port}", "--on", "docker"];
    let ended = harbour.run(command.into_iter().chain(BRIEF));
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    for said in [
        "cannot make an image of the service's program",
        "/node is not statically linked",
        "loadline image FOLDER --with node -o service.tar -- node server.js",
        "--image NAME or --image FILE.tar",
    ] {
        assert!(ended.stderr.contains(said), "no `{said}` in: {}", ended.stderr);
    }
}

#[test]
fn the_program_in_an_image_can_be_another() {
    let harbour = Harbour::new();
    let first = steps(PAGE, "Node.js").into_iter().next();
    let Some(Step::Write(file, source)) = first else { panic!("the service comes first") };
    write(&harbour.place, &file, &source);
    // The image's own program takes no JavaScript.
    let made = [
        "image",
        "app",
        "--with",
        "node",
        "--with",
        "/bin/echo",
        "-o",
        "echo.tar",
        "--",
        "/bin/echo",
        "hello",
    ];
    assert_eq!(harbour.run(made).code, Some(0));
    let compare =
        ["compare", "--directory", "app", "--command", "node server.js {port}", "--image", "echo.tar"];
    let on = ["--entrypoint", "node", "--on", "host", "--on", "docker"];
    harbour.run(compare.into_iter().chain(on).chain(BRIEF)).assert_measured();
}
