//! Reference services and the settings of language runtimes: what they become, and what is said where they cannot.

use crate::support;

use loadline_model::platform::ImageSource;
use loadline_spec::{
    Experiment, Flags, SpecError, Start, from_flags, from_yaml, is_reference_service, to_yaml,
};

fn read_with(services: &str, change: impl FnOnce(&std::path::Path)) -> Result<Experiment, SpecError> {
    let programs = support::programs();
    change(&programs.path().join("services"));
    let text = format!("{services}\nplatforms: [host]\nloads: [{{rate: 100/s}}]\n");
    let machine = support::machine(&programs);
    let read = from_yaml("mine.yaml", text.as_bytes(), &machine);
    if let Ok(experiment) = &read {
        let written = to_yaml(experiment);
        let again = from_yaml("written.yaml", written.as_bytes(), &machine);
        assert_eq!(again.as_ref(), Ok(experiment), "{written}");
    }
    read
}

fn read(services: &str) -> Experiment {
    read_with(services, |_| ()).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn env<'a>(experiment: &'a Experiment, name: &str) -> Option<&'a str> {
    let env = &experiment.services[0].env;
    env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn a_reference_service_is_a_command_with_its_image_request_and_readiness() {
    let experiment = read("service: {reference: spring, mode: virtual}");
    let service = &experiment.services[0];
    assert_eq!(service.name, "spring virtual");
    let Some(Start::Command(command)) = &service.start else { panic!("{service:?}") };
    assert!(command[0].ends_with("/server") && command[1..] == ["--quiet"], "{command:?}");
    assert!(
        matches!(&service.image.as_ref().unwrap().source, ImageSource::Archive(file) if file.ends_with("spring.tar"))
    );
    assert!(service.directory.is_some());
    assert_eq!(env(&experiment, "MODE"), Some("virtual"));
    assert_eq!(service.requests[0].path, "/hello/virtual?key=42");
    assert_eq!(service.ready.path.as_deref(), Some("/healthz"));
}

#[test]
fn one_is_known_again_by_its_folder() {
    let programs = support::programs();
    let machine = support::machine(&programs);
    let is_one = |service: &str| {
        let text = format!("service: {service}\nplatforms: [host]\nloads: [{{rate: 100/s}}]\n");
        let read = from_yaml("mine.yaml", text.as_bytes(), &machine).expect("an experiment");
        is_reference_service(&read.services[0], &machine)
    };
    assert!(is_one("{reference: spring, mode: virtual}"));
    let folder = programs.path().display();
    assert!(!is_one(&format!("{{command: ./server, directory: '{folder}'}}")));
    assert!(!is_one("{command: server}"));
}

#[test]
fn without_a_mode_it_is_the_first_and_what_is_written_comes_before_what_follows() {
    let experiment = read("service: {reference: javalin, requests: [GET /api/orders], ready: {http: /up}}");
    let service = &experiment.services[0];
    assert_eq!((service.name.as_str(), env(&experiment, "MODE")), ("javalin", Some("platform")));
    assert_eq!(service.requests[0].path, "/api/orders");
    assert_eq!(service.ready.path.as_deref(), Some("/up"));
    assert_eq!(service.image, None, "no image was made of it");
}

#[test]
fn settings_of_runtimes_become_environment() {
    let jvm = "jvm: {heap: 512m..1g, gc: serial, options: ['-XX:ParallelGCThreads=4', '-Da=b']}";
    let experiment = read(&format!("service: {{reference: spring, {jvm}}}"));
    let expected = "-Xms512m -Xmx1g -XX:+UseSerialGC -XX:ParallelGCThreads=4 -Da=b";
    assert_eq!(env(&experiment, "JDK_JAVA_OPTIONS"), Some(expected));
    for (go, name, value) in [
        ("gomaxprocs: limit", "GOMAXPROCS", "{limits.cpu}"),
        ("gomaxprocs: 32", "GOMAXPROCS", "32"),
        ("gomaxprocs: all", "GODEBUG", "containermaxprocs=0,updatemaxprocs=0"),
        ("gctrace: true", "GODEBUG", "gctrace=1"),
        ("gomaxprocs: all, gctrace: true", "GODEBUG", "containermaxprocs=0,updatemaxprocs=0,gctrace=1"),
        ("gomemlimit: limit", "GOMEMLIMIT", "{limits.memory}"),
        ("gomemlimit: 512Mi", "GOMEMLIMIT", "536870912"),
    ] {
        let experiment = read(&format!("service: {{reference: go-net-http, go: {{{go}}}}}"));
        assert_eq!(env(&experiment, name), Some(value), "{go}");
    }
}

#[test]
fn a_command_with_a_folder_is_started_there() {
    let experiment = read_with("service: {command: ./server, directory: bin}", |services| {
        // The folder of a text that is in no file is the working directory.
        let _ = services;
    });
    let error = experiment.expect_err("there is no such folder").render(false);
    assert!(error.contains("there is no folder") && error.contains("bin"), "{error}");
}

#[test]
fn what_cannot_be_says_what_to_do() {
    let cases = [
        ("unknown_reference", "service: {reference: sprong}"),
        ("unknown_mode", "service: {reference: vertx, mode: virtual}"),
        ("mode_of_a_command", "service: {command: server, mode: virtual}"),
        ("reference_with_a_command", "service: {reference: spring, command: server}"),
        ("heap_that_is_none", "service: {reference: spring, jvm: {heap: much}}"),
        ("heap_upside_down", "service: {reference: spring, jvm: {heap: 2g..1g}}"),
        ("unknown_collector", "service: {reference: spring, jvm: {gc: cms}}"),
        ("options_in_one", "service: {reference: spring, jvm: {options: ['-Xint -Xrs']}}"),
        ("gomaxprocs_of_a_word", "service: {reference: node, go: {gomaxprocs: many}}"),
        ("gomaxprocs_twice", "service: {reference: node, go: {gomaxprocs: 2}, env: {GOMAXPROCS: 3}}"),
        ("metrics_that_are_no_path", "service: {reference: node, metrics: metrics}"),
    ];
    let mut said = String::new();
    for (name, service) in cases {
        let error = read_with(service, |_| ()).expect_err(name);
        said.push_str(&format!("{name}:\n{}\n", stable(&error)));
    }
    insta::assert_snapshot!("references", said);
}

#[test]
fn services_that_are_not_built_say_how_to_build_them() {
    // The claim about it adds no error of its own.
    let with_a_claim = "services: [{reference: spring}]\nclaims: [{text: fast, where: {service: spring}, metric: p99, difference: 5%}]";
    let error = read_with(with_a_claim, |services| std::fs::remove_dir_all(services).unwrap());
    insta::assert_snapshot!("reference_none_built", stable(&error.expect_err("nothing is built")));
    let error = read_with("service: {reference: spring}", |services| {
        std::fs::write(services.join("spring.json"), "{").unwrap();
    });
    insta::assert_snapshot!("reference_damaged", stable(&error.expect_err("it is damaged")));
}

/// The error without the name of a folder that is another in each run.
fn stable(error: &SpecError) -> String {
    let text = error.render(false);
    let Some(start) = text.find("/tmp/") else { return text };
    let end = text[start + 5..].find('/').map_or(text.len(), |at| start + 5 + at);
    text.replace(&text[start..end], "FOLDER")
}

#[test]
fn a_flag_names_one_with_its_mode() {
    let programs = support::programs();
    let machine = support::machine(&programs);
    let flags = |service: &str| Flags {
        services: vec![service.to_owned()],
        on: vec!["host".to_owned()],
        rates: vec!["100/s".to_owned()],
        ..Flags::default()
    };
    let named = from_flags(&flags("spring virtual"), &machine).expect("an experiment");
    assert_eq!(named, {
        let text = "service: {reference: spring, mode: virtual}\nplatforms: [host]\nloads: [{rate: 100/s}]\n";
        from_yaml("mine.yaml", text.as_bytes(), &machine).expect("an experiment")
    });
    let refused = from_flags(&flags("spring virtual --quiet"), &machine).unwrap_err().render(false);
    assert!(refused.contains("`spring` has a mode and no arguments: `--quiet` is too much"), "{refused}");
}
