//! The objects in the repository are compiled from the sources next to them.

use std::{fs, path::Path, process::Command};

use object::{Object, ObjectSection};
use sha2::{Digest, Sha256};

/// The text that `programs/build` has put into a section.
fn section(object: &[u8], name: &str) -> String {
    let file = object::File::parse(object).unwrap();
    let section = file.section_by_name(name).unwrap_or_else(|| panic!("no section {name}"));
    String::from_utf8(section.data().unwrap().to_vec()).unwrap()
}

fn clang() -> Option<String> {
    let output = Command::new("clang").arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.lines().next()?.to_owned())
}

/// By the hash of its source that each object carries; with the compiler that made them, also byte for byte.
#[test]
fn objects_are_compiled_from_their_sources() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let remade = tempfile::tempdir().unwrap();
    let mut objects = 0;
    for entry in fs::read_dir(&programs).unwrap() {
        let source = entry.unwrap().path();
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        objects += 1;
        let committed = source.with_extension("o");
        let object = fs::read(&committed).unwrap();
        let hash: String =
            Sha256::digest(fs::read(&source).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
        let stale = format!("{} is of another source: run crates/bpf/programs/build", committed.display());
        assert_eq!(section(&object, "source.sha256"), hash, "{stale}");
        if clang().is_some_and(|compiler| compiler == section(&object, "compiler")) {
            let built = Command::new(programs.join("build")).arg(remade.path()).output().unwrap();
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            let again = fs::read(remade.path().join(committed.file_name().unwrap())).unwrap();
            assert!(again == object, "{stale}");
        }
    }
    assert_eq!(objects, 2);
}
