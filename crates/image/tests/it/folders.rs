//! Images of folders: which files they have, in which layers, the same bytes each time, and what is refused.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use loadline_image::ImageError;
use serde_json::json;

use crate::made::elf;
use crate::made::folder::{Entry, Folder, compiled, opened, written};

/// A folder with a program that needs nothing.
fn site() -> Folder {
    let folder = Folder::new();
    folder.program("bin/server", elf().bytes()).file("index.html", "hello").file(".hidden/key", "k");
    folder
}

#[test]
fn the_files_are_below_app_sorted_and_everyones_to_read() {
    let folder = site();
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    let long = "n".repeat(120);
    folder.file(&format!("{long}/{long}"), "").link("current", "bin/server").link("bin/up", "../index.html");
    fs::set_permissions(folder.path().join("index.html"), Permissions::from_mode(0o600))
        .expect("permissions");
    fs::set_permissions(folder.path().join("bin/server"), Permissions::from_mode(0o6700))
        .expect("permissions");
    let image = folder.image(&[], &["bin/server", "--port", "8080"]).expect("an image");
    let (config, layers) = opened(&written(&image));

    let file = |mode, bytes| Entry { mode, link: None, bytes };
    let link = |target: &str| Entry { mode: 0o777, link: Some(target.into()), bytes: 0 };
    let expected = [
        ("app/".to_owned(), file(0o755, 0)),
        ("app/.hidden/".to_owned(), file(0o755, 0)),
        ("app/.hidden/key".to_owned(), file(0o644, 1)),
        ("app/bin/".to_owned(), file(0o755, 0)),
        ("app/bin/server".to_owned(), file(0o755, elf().bytes().len())),
        ("app/bin/up".to_owned(), link("../index.html")),
        ("app/current".to_owned(), link("bin/server")),
        ("app/empty/".to_owned(), file(0o755, 0)),
        ("app/index.html".to_owned(), file(0o644, 5)),
        (format!("app/{long}/"), file(0o755, 0)),
        (format!("app/{long}/{long}"), file(0o644, 0)),
    ];
    assert_eq!(layers[1].entries, expected);
    assert_eq!(layers[0].paths(), ["etc/", "etc/group", "etc/nsswitch.conf", "etc/passwd", "tmp/"]);
    assert_eq!(layers[0].entry("tmp/").mode, 0o1777);
    let said: Vec<&str> = layers.iter().map(|layer| layer.created_by.as_str()).collect();
    assert_eq!(said, ["loadline image: libraries", "loadline image: folder site"]);
    let expected = json!({
        "User": "1000:1000",
        "ExposedPorts": {"8080/tcp": {}},
        "Env": ["PATH=/app"],
        "Entrypoint": ["/app/bin/server"],
        "Cmd": ["--port", "8080"],
        "WorkingDir": "/app",
        "Labels": {"org.opencontainers.image.title": "site"},
    });
    assert_eq!(config["config"], expected);
    assert_eq!(image.name.to_string(), format!("localhost/site:{}", image.tag()));
}

#[test]
fn the_same_files_give_the_same_bytes_wherever_and_whenever() {
    let (one, other) = (site(), site());
    let later = SystemTime::now() + Duration::from_secs(86_400);
    let index = File::options().write(true).open(other.path().join("index.html"));
    index.and_then(|file| file.set_modified(later)).expect("a time");
    let image = |folder: &Folder, command: &str| folder.image(&["env"], &[command]).expect("an image");
    let first = written(&image(&one, "bin/server"));
    assert!(first == written(&image(&one, "bin/server")) && first == written(&image(&other, "./bin/server")));
    other.file("index.html", "Hello");
    assert_ne!(image(&other, "bin/server").tag(), image(&one, "bin/server").tag());
}

#[test]
fn images_with_the_same_programs_share_all_layers_but_the_highest() {
    let (one, other) = (site(), site());
    other.file("more", "more");
    // It needs what the programs do not.
    compiled(
        &other.path().join("zipped"),
        "int deflate(void); int main(void) { return deflate(); }",
        &["-l:libz.so.1"],
    );
    let layers = |folder: &Folder, command: &str| {
        opened(&written(&folder.image(&["sh", "env"], &[command]).expect("an image"))).1
    };
    let (first, second) = (layers(&one, "bin/server"), layers(&other, "./zipped"));
    let digests = |layers: &[crate::made::folder::Layer]| -> Vec<String> {
        layers.iter().map(|layer| layer.digest.clone()).collect()
    };
    assert_eq!(digests(&first)[..3], digests(&second)[..3]);
    assert_ne!(digests(&first)[3], digests(&second)[3]);
    let said: Vec<&str> = first.iter().map(|layer| layer.created_by.as_str()).collect();
    let expected = ["libraries", "sh", "env", "folder site"].map(|title| format!("loadline image: {title}"));
    assert_eq!(said, expected);
    let zlib =
        |layer: &crate::made::folder::Layer| layer.paths().iter().any(|path| path.contains("/libz.so.1"));
    assert!(zlib(&second[3]) && !second[..3].iter().any(zlib));
    let libc =
        |layer: &crate::made::folder::Layer| layer.paths().iter().any(|path| path.ends_with("/libc.so.6"));
    assert!(libc(&first[0]) && !second[1..].iter().any(libc));
}

#[test]
fn a_link_stays_in_its_folder_or_leads_to_what_the_image_has() {
    let folder = site();
    let site = folder.path();
    folder
        .link("absolute", site.join("index.html"))
        .link("round", "../site/index.html")
        .link("dangling", "nothing");
    let sh = fs::canonicalize("/bin/sh").expect("a shell");
    folder.link("shell", &sh);
    let (_, layers) = opened(&written(&folder.image(&["/bin/sh"], &["bin/server"]).expect("an image")));
    let app = layers.last().expect("a layer");
    for (link, target) in [
        ("absolute", PathBuf::from("/app/index.html")),
        ("round", "/app/index.html".into()),
        ("dangling", "nothing".into()),
        ("shell", sh.clone()),
    ] {
        assert_eq!(app.entry(&format!("app/{link}")).link.as_ref(), Some(&target), "{link}");
    }

    let mut said = vec![folder.refused(&[], &["bin/server"])];
    fs::write(folder.beside().join("secret"), "s").expect("a file");
    for target in ["../secret", "/etc/passwd", "../nothing", "bin/../../secret"] {
        fs::remove_file(site.join("shell")).expect("removed");
        folder.link("shell", target);
        said.push(folder.refused(&["sh"], &["bin/server"]));
    }
    insta::assert_snapshot!(said.join("\n").replace(&sh.display().to_string(), "SHELL"));
}

#[test]
fn what_can_not_be_an_image_is_refused_with_what_to_do() {
    let folder = site();
    folder.program("serve.sh", "#!/bin/sh\necho hello\n");
    folder.program("serve.py", "#!/usr/bin/env python3\n").file("plain", "hello").program("text", "hello");
    folder.file("server", "").program("lost", "#!/nowhere/sh\n");
    fs::write(folder.path().join("unmarked"), elf().bytes()).expect("a file");
    let mut said = Vec::new();
    for (with, command) in [
        ([].as_slice(), [].as_slice()),
        (&[], &["python3", "app.py"]),
        (&[], &["site/bin/server"]),
        (&[], &["../site/bin/server"]),
        (&[], &["/usr/bin/env"]),
        (&[], &["bin"]),
        (&[], &["text"]),
        (&[], &["unmarked"]),
        (&[], &["./serve.sh"]),
        (&["sh"], &["serve.py"]),
        (&["env"], &["serve.py"]),
        (&["sh"], &["lost"]),
        (&["sh", "/bin/sh"], &["sh"]),
        (&["no-such-program"], &["sh"]),
        (&["./no-such-program"], &["sh"]),
        (&["/etc"], &["sh"]),
        (&["/etc/passwd"], &["sh"]),
        (&["HERE/site/serve.sh"], &["sh"]),
    ] {
        let here = folder.beside().display().to_string();
        let with: Vec<String> = with.iter().map(|path| path.replace("HERE", &here)).collect();
        let with: Vec<&str> = with.iter().map(String::as_str).collect();
        said.push(folder.refused(&with, command));
    }
    for make in [["mkfifo", "pipe"].as_slice(), &["mknod", "null", "c", "1", "3"]] {
        let mut command = Command::new(make[0]);
        command.arg(folder.path().join(make[1])).args(&make[2..]);
        assert!(command.status().expect("it starts").success(), "{make:?}");
        said.push(folder.refused(&[], &["bin/server"]));
        fs::remove_file(folder.path().join(make[1])).expect("removed");
    }
    let socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket");
    said.push(folder.refused(&[], &["bin/server"]));
    drop(socket);
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_file_that_changes_while_the_archive_is_written_is_an_error() {
    let folder = site();
    let image = folder.image(&[], &["bin/server"]).expect("an image");
    let archive = image.archive().expect("an archive");
    let index = folder.path().join("index.html");
    for contents in ["other", "longer than before", ""] {
        fs::write(&index, contents).expect("a file");
        let error = archive.write(std::io::sink()).expect_err("another file");
        assert!(matches!(&error, ImageError::Changed(changed) if *changed == index), "{error}");
    }
    fs::remove_file(&index).expect("removed");
    let error = image.archive().err().expect("no file");
    assert!(matches!(&error, ImageError::Read { path, .. } if *path == index), "{error}");
}

#[test]
fn a_script_gets_its_interpreter_by_the_name_that_it_has_for_it() {
    let folder = site();
    folder.program("serve.sh", "#!/bin/sh\necho hello\n");
    // Found in another folder, if `/bin` is a link.
    let sh = fs::canonicalize("/bin/sh").expect("a shell").display().to_string();
    let image = folder.image(&[&sh], &["./serve.sh"]).expect("an image");
    let (config, layers) = opened(&written(&image));
    assert_eq!(config["config"]["Entrypoint"], json!(["/app/serve.sh"]));
    let has = |path: &str| layers.iter().any(|layer| layer.paths().contains(&path));
    assert!(has("bin") || has("bin/sh"), "the way to /bin/sh");
    assert!(has(sh.trim_start_matches('/')));
}
