//! The map of the code is free of cycles: among the crates cargo sees to that, among the top-level modules of each crate this does.

mod modules;

use std::{fs, path::Path};

#[test]
fn no_crate_has_an_import_cycle_among_its_top_level_modules() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let crates = crates.chain([root.join("services/builtin"), root.join("bench")]);
    let mut cycles = Vec::new();
    let mut read = 0;
    for folder in crates.map(|folder| folder.join("src")).filter(|folder| folder.is_dir()) {
        let modules = modules::Modules::read(&folder);
        read += modules.len();
        cycles.extend(
            modules.cycles().iter().map(|cycle| format!("{}: {}", folder.display(), cycle.join(" ⇄ "))),
        );
    }
    assert!(read > 100, "only {read} modules were found");
    assert!(cycles.is_empty(), "modules that import each other:\n{}", cycles.join("\n"));
}
