//! The libraries in an image are those that the loader of this machine would load, and one that is missing is said.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::made::elf;
use crate::made::folder::{Folder, compiled, opened, written};

/// What glibc may open later, which `ldd` does not know.
const OPENED_LATER: [&str; 4] = ["libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

/// The files that the loader itself says it would load for a program.
fn by_ldd(program: &str) -> BTreeSet<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("this test needs ldd");
    let said = String::from_utf8(output.stdout).expect("text");
    let words = said.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    words.map(|path| fs::canonicalize(path).expect("a library")).collect()
}

/// The regular files that an image has beside the program and the folder.
fn in_image(program: &str) -> BTreeSet<PathBuf> {
    let folder = Folder::new();
    folder.program("server", elf().bytes());
    let (_, layers) = opened(&written(&folder.image(&[program], &["server"]).expect("an image")));
    let files = layers[0].entries.iter().filter(|(path, entry)| entry.link.is_none() && !path.ends_with('/'));
    let files = files.map(|(path, _)| Path::new("/").join(path)).filter(|path| !path.starts_with("/etc"));
    let later = |path: &PathBuf| OPENED_LATER.iter().any(|name| path.ends_with(name));
    let expected = by_ldd(program);
    files.filter(|path| expected.contains(path) || !later(path)).collect()
}

#[test]
fn the_libraries_of_programs_are_those_that_ldd_lists() {
    let mut tried = 0;
    let programs = [
        "/bin/sh",
        "/usr/bin/env",
        "/bin/tar",
        "/usr/bin/openssl",
        "/usr/bin/git",
        "/usr/bin/node",
        "/usr/sbin/nginx",
    ];
    for program in programs.into_iter().filter(|program| Path::new(program).is_file()) {
        assert_eq!(in_image(program), by_ldd(program), "{program}");
        tried += 1;
    }
    assert!(tried >= 3, "this machine has hardly any programs");
}

/// A program in `bin` that needs `libouter.so`, which needs `libinner.so` beside it.
fn program_with_libraries(folder: &Folder, options: &[&str]) {
    let (lib, program) = (folder.path().join("lib"), folder.path().join("bin/server"));
    let at = format!("-L{}", lib.display());
    compiled(&lib.join("libinner.so"), "int inner(void) { return 0; }", &["-shared", "-fPIC"]);
    let needs = ["-shared", "-fPIC", &at, "-linner", "-Wl,--enable-new-dtags,-rpath,$ORIGIN"];
    compiled(&lib.join("libouter.so"), "int inner(void); int outer(void) { return inner(); }", &needs);
    let needs = [&[at.as_str(), "-louter"], options].concat();
    compiled(&program, "int outer(void); int main(void) { return outer(); }", &needs);
}

#[test]
fn libraries_of_the_folder_itself_are_found_where_its_files_say() {
    for tags in ["-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"] {
        let folder = Folder::new();
        let rpath = format!("{tags},-rpath,$ORIGIN/../lib");
        program_with_libraries(&folder, &[&rpath, "-Wl,--allow-shlib-undefined"]);
        let image = folder.image(&[], &["bin/server"]).expect("an image");
        assert_eq!(image.left_out(), []);
        let (_, layers) = opened(&written(&image));
        let mut named =
            layers.iter().flat_map(|layer| layer.paths()).filter(|path| path.contains("libinner"));
        assert_eq!((named.next(), named.next()), (Some("app/lib/libinner.so"), None), "{tags}");
    }
}

#[test]
fn a_library_outside_the_folder_is_where_the_program_looks_for_it() {
    let (folder, other) = (Folder::new(), Folder::new());
    let lib = other.path().join("lib");
    compiled(&lib.join("libouter.so"), "int outer(void) { return 0; }", &["-shared", "-fPIC"]);
    let (at, rpath) = (format!("-L{}", lib.display()), format!("-Wl,-rpath,{}", lib.display()));
    let source = "int outer(void); int main(void) { return outer(); }";
    compiled(&folder.path().join("server"), source, &[&at, "-louter", &rpath]);
    let (_, layers) = opened(&written(&folder.image(&[], &["server"]).expect("an image")));
    let path = lib.join("libouter.so").display().to_string();
    assert!(layers[1].paths().contains(&path.trim_start_matches('/')), "{:?}", layers[1].paths());
}

#[test]
fn a_missing_library_is_said_with_who_needs_it() {
    let folder = Folder::new();
    program_with_libraries(&folder, &["-Wl,-rpath,$ORIGIN/../lib", "-Wl,--allow-shlib-undefined"]);
    fs::remove_file(folder.path().join("lib/libinner.so")).expect("removed");
    let said = folder.refused(&[], &["bin/server"]);
    let expected = "/app/lib/libouter.so needs libinner.so, which this machine does not have: install it, or put it beside the program";
    assert_eq!(said, expected);

    // A module is loaded by name, or never.
    folder.program("static", elf().bytes());
    let image = folder.image(&[], &["static"]).expect("an image");
    let left_out = image.left_out().iter().map(|it| format!("{} {}", it.library, it.needed_by.display()));
    assert_eq!(left_out.collect::<Vec<_>>(), ["libinner.so /app/lib/libouter.so"]);
    // The program that loads it may have loaded that already.
    folder.file("plugins/libinner.so", "");
    assert_eq!(folder.image(&[], &["static"]).expect("an image").left_out(), []);
}
