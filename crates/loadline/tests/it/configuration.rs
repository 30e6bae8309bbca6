//! The user's configuration file: below the environment and the command line, above what is built in.

use crate::support::place::{Ended, Place, ended};

/// `loadline report` with this configuration and environment.
fn report(place: &Place, text: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Ended {
    place.write("config.yaml", text);
    let mut command = place.command(["report"].iter().chain(arguments).copied());
    command.env("LOADLINE_CONFIG", place.path("config.yaml")).envs(environment.iter().copied());
    ended(command.output().expect("the program starts"))
}

#[test]
fn a_file_sets_what_neither_the_environment_nor_an_option_does() {
    let place = Place::new();
    let file = "# Mine.\nstore: /nowhere/file.db\ncolor: never\nquiet: true\n";
    for (environment, arguments, store) in [
        (&[][..], &[][..], "/nowhere/file.db"),
        (&[("LOADLINE_STORE", "/nowhere/variable.db")], &[], "/nowhere/variable.db"),
        (
            &[("LOADLINE_STORE", "/nowhere/variable.db")],
            &["--store", "/nowhere/option.db"],
            "/nowhere/option.db",
        ),
    ] {
        let ended = report(&place, file, environment, arguments);
        assert_eq!(ended.code, Some(1));
        assert!(ended.stderr.contains(&format!("there is no store at {store}")), "{}", ended.stderr);
    }
    let none = report(&place, "# store: /nowhere/file.db\n", &[], &[]);
    assert!(none.stderr.contains("there is no store at loadline.db"), "{}", none.stderr);
}

#[test]
fn the_file_is_where_others_have_theirs() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("folder/loadline")).expect("a folder");
    place.write("folder/loadline/config.yaml", "store: /nowhere/file.db\n");
    let mut command = place.command(["report"]);
    command.env_remove("LOADLINE_CONFIG").env("XDG_CONFIG_HOME", place.path("folder"));
    let ended = ended(command.output().expect("the program starts"));
    assert!(ended.stderr.contains("there is no store at /nowhere/file.db"), "{}", ended.stderr);
}

#[test]
fn what_is_wrong_in_the_file_is_shown_where_it_is() {
    let place = Place::new();
    for (text, name) in [
        ("sotre: /nowhere/file.db\n", "unknown"),
        ("store: runs.db\n", "relative"),
        ("color: sometimes\nquiet: perhaps\n", "values"),
        ("- store\n", "list"),
    ] {
        let ended = report(&place, text, &[], &[]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{text}");
        let shown = ended.stderr.replace(&place.dir.path().display().to_string(), "FOLDER");
        insta::assert_snapshot!(format!("configuration_{name}"), shown);
    }
    let mut command = place.command(["report"]);
    command.env("LOADLINE_CONFIG", "missing.yaml");
    let ended = ended(command.output().expect("the program starts"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("cannot read the configuration file"), "{}", ended.stderr);
}
