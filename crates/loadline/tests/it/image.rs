//! `loadline image` as typed: the same archive each time, loaded and run by a real Docker Engine, and nothing left of one that fails.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::runtimes;
use crate::runtimes::docker::Docker;
use crate::support::place::{Place, ended};
use crate::support::small_disk::SmallDisk;
use crate::support::{PROGRAM, wait_for};
use rustix::process::Signal;

/// The image's name, which is the first line of what the command prints.
fn made(place: &Place, arguments: &[&str]) -> String {
    let ended = place.run([&["image"], arguments].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    ended.stdout.lines().next().expect("a name").to_owned()
}

/// The names of all files here, hidden ones too.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn docker_runs_the_images_of_the_services_and_of_the_program() {
    let place = Place::new();
    let docker = Docker::start();
    let load = |file: &str| docker.run(&["load", "--input", &place.path(file).display().to_string()]);
    for (service, options) in
        [("orders", ["--delay", "1ms"].as_slice()), ("hello", &[]), ("cpu", &["--stall", "1ms/60s"])]
    {
        let name = made(&place, &[&["-o", "image.tar", service, "--"], options].concat());
        // They share the name: each load takes it from the one before, and says so first.
        assert_eq!(load("image.tar").lines().last(), Some(format!("Loaded image: {name}").as_str()));
        let command = docker.run(&["image", "inspect", "--format", "{{join .Config.Cmd \" \"}}", &name]);
        let expected = [&["serve", service, "--listen", "0.0.0.0:8080"], options].concat().join(" ");
        assert_eq!(command, expected);
        docker.contained(&[&name], |it| {
            let answer = it.healthz();
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\nok"), "{answer}");
        });
    }
    let bare = made(&place, &["-o", "bare.tar", "loadline", "--name", "localhost/bare:1"]);
    assert_eq!(
        (load("bare.tar").as_str(), bare.as_str()),
        ("Loaded image: localhost/bare:1", "localhost/bare:1")
    );
    let version = docker.run(&["run", "--rm", "--network=none", &bare, "--version"]);
    assert_eq!(version, format!("loadline {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_archive_is_the_same_in_a_file_in_a_pipe_and_of_a_copy() {
    let place = Place::new();
    let copy = place.path("loadline");
    fs::copy(PROGRAM, &copy).expect("a copy");
    let name = made(
        &place,
        &["-o", "of-copy.tar", "./loadline", "--", "serve", "orders", "--listen", "0.0.0.0:8080"],
    );
    let by_copy = Command::new(&copy)
        .current_dir(place.dir.path())
        .args(["image", "-o", "by-copy.tar", "orders"])
        .output();
    assert_eq!(ended(by_copy.expect("it starts")).stdout.lines().next(), Some(name.as_str()));
    made(&place, &["-o", "image.tar", "orders"]);
    let piped = place.command(["image", "-o", "-", "orders"]).output().expect("it starts");
    assert!(
        String::from_utf8_lossy(&piped.stderr).starts_with(&name),
        "what is said goes to the other stream"
    );

    let read = |name: &str| fs::read(place.path(name)).expect("a file");
    let archive = read("image.tar");
    assert!(archive == piped.stdout && archive == read("by-copy.tar"));
    // A user's program has no version of ours, and is the same in all else.
    assert_eq!(archive.len(), read("of-copy.tar").len());

    let mut dated = place.command(["image", "-o", "dated.tar", "orders"]);
    runtimes::run(dated.env("SOURCE_DATE_EPOCH", "1700000000"));
    let mut list = Command::new("tar");
    list.args(["--utc", "--list", "--verbose", "--file"]).arg(place.path("dated.tar"));
    let listed = runtimes::run(&mut list);
    assert!(listed.lines().all(|line| line.contains("2023-11-14 22:13")), "{listed}");
    let mode = fs::metadata(place.path("image.tar")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o111, 0, "an archive is no program");
}

#[test]
fn what_was_made_and_how_to_load_it_is_said_a_line_each() {
    let place = Place::new();
    let ended = place.run(["image", "-o", "my orders.tar", "orders"]);
    let mut lines: Vec<&str> = ended.stdout.lines().collect();
    let (name, about) = (lines.remove(0), lines.remove(0));
    assert!(
        name.starts_with("localhost/loadline:") && name.len() == "localhost/loadline:".len() + 12,
        "{name}"
    );
    let size = fs::metadata(place.path("my orders.tar")).expect("a file").len() as f64 / 1e6;
    assert!(about.starts_with(&format!("{size:.1} MB · linux/")) && about.contains(" · sha256:"), "{about}");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn images_that_can_not_be_are_refused_with_a_way_out() {
    let place = Place::new();
    place.write("notes.txt", "hello");
    fs::copy(PROGRAM, place.path("tmp")).expect("a copy");
    fs::copy(PROGRAM, place.path("server")).expect("a copy");
    fs::create_dir(place.path("site")).expect("a folder");
    place.write("site/app.py", "print('hello')\n");
    fs::copy(PROGRAM, place.path("site/server")).expect("a copy");
    place.write("serve.sh", "#!/bin/sh\n");
    let lines: [&[&str]; 18] = [
        &["orders"],
        &["-o", "a.tar", "oders"],
        &["-o", "a.tar", "./oders"],
        &["-o", "a.tar", "notes.txt"],
        &["-o", "a.tar", "/bin/true"],
        &["-o", "a.tar", "./tmp"],
        &["-o", "a.tar", "orders", "--", "--delay", "5"],
        &["-o", "a.tar", "orders", "--", "--listen", "127.0.0.1:1"],
        &["-o", "a.tar", "orders", "--name", "My Orders"],
        &["-o", "nowhere/a.tar", "orders"],
        &["-o", "/dev/null", "orders"],
        &["-o", "server", "./server"],
        &["-o", "a.tar", "serve.sh"],
        &["-o", "a.tar", "./server", "--with", "sh"],
        &["-o", "a.tar", "site"],
        &["-o", "a.tar", "site", "--", "python3", "app.py"],
        &["-o", "a.tar", "site", "--with", "no-such-program", "--", "no-such-program"],
        &["-o", "site/a.tar", "site", "--", "./server"],
    ];
    let server = fs::read(place.path("server")).expect("a file");
    let mut said = Vec::new();
    for line in lines {
        let ended = place.run([&["image"], line].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{line:?}: {}", ended.stderr);
        said.push(format!("$ loadline image {}\n{}", line.join(" "), ended.stderr.trim_end()));
    }
    let dated =
        place.command(["image", "-o", "a.tar", "orders"]).env("SOURCE_DATE_EPOCH", "yesterday").output();
    let dated = ended(dated.expect("it starts"));
    assert_eq!(dated.code, Some(2));
    said.push(format!(
        "$ SOURCE_DATE_EPOCH=yesterday loadline image -o a.tar orders\n{}",
        dated.stderr.trim_end()
    ));
    assert_eq!(files(place.dir.path()), ["notes.txt", "serve.sh", "server", "site", "tmp"]);
    assert_eq!(files(&place.path("site")), ["app.py", "server"]);
    assert!(fs::read(place.path("server")).expect("a file") == server && !Path::new("/dev/null").is_file());
    let folder = place.dir.path().canonicalize().expect("a folder");
    insta::assert_snapshot!(said.join("\n\n").replace(&folder.display().to_string(), "FOLDER"));
}

#[test]
fn an_archive_is_not_written_to_a_terminal() {
    let place = Place::new();
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let terminal = rustix::pty::openpt(flags).expect("a terminal");
    rustix::pty::grantpt(&terminal).and_then(|()| rustix::pty::unlockpt(&terminal)).expect("a terminal");
    let path = rustix::pty::ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("text");
    let end = File::options().write(true).open(path).expect("its other end");
    let refused = place.command(["image", "-o", "-", "orders"]).stdout(Stdio::from(end)).output();
    let refused = ended(refused.expect("it starts"));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("means nothing to a terminal"), "{}", refused.stderr);
}

#[test]
fn a_folders_image_has_a_layer_for_each_part_and_docker_runs_it() {
    let place = Place::new();
    fs::create_dir(place.path("site")).expect("a folder");
    place.write("site/hello.txt", "hello");
    let docker = Docker::start();
    let arguments =
        ["site", "--with", "cat", "--with", "/usr/bin/env", "-o", "site.tar", "--", "cat", "hello.txt"];
    let ended = place.run([&["image"][..], &arguments].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("localhost/site:"), "{}", lines[0]);
    let layers: Vec<&str> =
        lines[2..6].iter().filter_map(|line| line.split_once(" MB ")).map(|(_, title)| title).collect();
    assert_eq!(layers, ["libraries", "cat", "env", "folder site"], "{}", ended.stdout);
    assert!(lines[6].starts_with("  docker load -i site.tar"), "{}", ended.stdout);
    docker.run(&["load", "--input", &place.path("site.tar").display().to_string()]);
    assert_eq!(docker.run(&["run", "--rm", "--network=none", lines[0]]), "hello");
    let before = fs::read(place.path("site.tar")).expect("a file");
    assert_eq!(made(&place, &arguments), lines[0]);
    assert!(fs::read(place.path("site.tar")).expect("a file") == before);
}

#[test]
fn two_runtimes_that_jlink_made_of_one_jdk_give_the_same_archive() {
    let place = Place::new();
    fs::create_dir(place.path("site")).expect("a folder");
    let archives = ["one", "other"].map(|name| {
        let file = format!("{name}.tar");
        let mut command =
            place.command(["image", "site", "--with", "java", "-o", &file, "--", "java", "-version"]);
        runtimes::run(command.env("XDG_CACHE_HOME", place.path(name)));
        assert_eq!(fs::read_dir(place.path(name).join("loadline/java")).expect("a cache").count(), 2);
        fs::read(place.path(&file)).expect("a file")
    });
    assert!(archives[0] == archives[1]);
}

#[test]
fn a_full_disk_is_said_and_keeps_what_was_there() {
    let place = Place::new();
    let small = SmallDisk::at(place.path("small"), "1m");
    fs::write(small.0.join("image.tar"), "the last one").expect("a file");
    let full = place.run(["image", "-o", "small/image.tar", "orders"]);
    assert_eq!((full.code, full.stdout.as_str()), (Some(1), ""));
    assert!(
        full.stderr.contains("image.tar: cannot write the archive: No space left on device"),
        "{}",
        full.stderr
    );
    assert_eq!(files(&small.0), ["image.tar"]);
    assert_eq!(fs::read(small.0.join("image.tar")).expect("a file"), b"the last one");

    let device = File::options().write(true).open("/dev/full").expect("a device that is always full");
    let full =
        ended(place.command(["image", "-o", "-", "orders"]).stdout(device).output().expect("it starts"));
    assert_eq!(full.code, Some(1));
    assert!(
        full.stderr.contains("standard output: cannot write the archive: No space left"),
        "{}",
        full.stderr
    );
}

#[test]
fn an_interrupted_archive_leaves_nothing() {
    let place = Place::new();
    // Long enough to be interrupted; all but its beginning takes no room.
    fs::copy(PROGRAM, place.path("long")).expect("a copy");
    File::options()
        .write(true)
        .open(place.path("long"))
        .and_then(|file| file.set_len(2 << 30))
        .expect("a hole");
    let mut started = place.start(["image", "-o", "image.tar", "./long"]);
    wait_for("the archive to be begun", || {
        assert!(!started.has_ended(), "it was done too soon");
        files(place.dir.path()).iter().any(|name| name.starts_with(".loadline-image-")).then_some(())
    });
    started.send(Signal::INT);
    let ended = started.wait();
    assert_eq!((ended.code, ended.stderr.trim_end()), (Some(130), "interrupted: nothing was written"));
    assert_eq!(files(place.dir.path()), ["long", "stderr", "stdout"]);
}
