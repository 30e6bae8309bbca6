//! Which top-level module of a crate imports which, as far as its text says: every `crate::NAME` in a file, and every `super::NAME` that
//! leads out of a top-level module. What a name that is no module stands for, the root's `pub use` says. Tests within files don't count.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The modules of a crate, each with those that it imports.
pub struct Modules(BTreeMap<String, BTreeSet<String>>);

impl Modules {
    /// Reads the crate whose sources are in the folder.
    pub fn read(source: &Path) -> Modules {
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|file| file.exists());
        let root = without_tests(&fs::read_to_string(root.expect("a crate's root")).unwrap());
        let names: Vec<String> = root.lines().filter_map(declared).collect();
        let exported = exports(&root);
        let imports = names.iter().map(|name| {
            let files = files_of(source, name);
            let imported = files.iter().flat_map(|(file, depth)| {
                let text = without_tests(&fs::read_to_string(file).unwrap());
                let mut paths = paths_after(&text, "crate::");
                // The file of a top-level module is one level below the root.
                paths.extend(paths_after(&text, &"super::".repeat(*depth)));
                paths
            });
            let modules = imported.filter_map(|first| {
                let module = if names.contains(&first) { Some(&first) } else { exported.get(&first) };
                module.filter(|module| *module != name).cloned()
            });
            (name.clone(), modules.collect())
        });
        Modules(imports.collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The groups of modules that can be reached from each other.
    pub fn cycles(&self) -> Vec<Vec<String>> {
        let reachable: BTreeMap<&String, BTreeSet<&String>> =
            self.0.keys().map(|name| (name, self.reachable(name))).collect();
        let mut cycles: Vec<Vec<String>> = Vec::new();
        for name in self.0.keys().filter(|name| reachable[name].contains(name)) {
            let group = self
                .0
                .keys()
                .filter(|other| reachable[name].contains(other) && reachable[other].contains(name));
            let group: Vec<String> = group.cloned().collect();
            if !cycles.contains(&group) {
                cycles.push(group);
            }
        }
        cycles
    }

    fn reachable<'a>(&'a self, from: &'a String) -> BTreeSet<&'a String> {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(name) = open.pop() {
            open.extend(self.0.get(name).into_iter().flatten().filter(|next| found.insert(*next)));
        }
        found
    }
}

/// The name in `mod NAME;`.
fn declared(line: &str) -> Option<String> {
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
}

/// The files of a top-level module, each with how many levels below the root it is.
fn files_of(source: &Path, name: &str) -> Vec<(PathBuf, usize)> {
    let mut files = vec![(source.join(format!("{name}.rs")), 1)];
    let mut folders = vec![(source.join(name), 2)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push((entry, depth + 1));
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let is_root = entry.file_name().is_some_and(|file| file == "mod.rs");
                files.push((entry, if is_root { depth - 1 } else { depth }));
            }
        }
    }
    files.retain(|(file, _)| file.exists());
    files
}

/// The text up to its tests, without comments.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first names after each occurrence of a prefix: one, or those of a list in braces.
fn paths_after(text: &str, prefix: &str) -> Vec<String> {
    let begins = |at: usize| {
        // `crate` in `$crate::` or `in_crate::`, `super::` in `super::super::` is another's.
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == ':')
    };
    let rests =
        text.match_indices(prefix).filter(|(at, _)| begins(*at)).map(|(at, _)| &text[at + prefix.len()..]);
    rests.flat_map(first_names).collect()
}

/// `a::b` gives `a`, `{a::b, c::{d, e}}` gives `a` and `c`.
fn first_names(path: &str) -> Vec<String> {
    let identifier =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let Some(list) = path.strip_prefix('{') else { return vec![identifier(path)] };
    let (mut names, mut depth, mut item) = (Vec::new(), 0, String::new());
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(std::mem::take(&mut item)),
            _ if depth == 0 => item.push(c),
            _ => {}
        }
    }
    names.push(item);
    names.iter().map(|item| identifier(item.trim())).filter(|name| !name.is_empty()).collect()
}

/// What the root re-exports of its modules, by name.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (at, _) in root.match_indices("use ") {
        let path: String = root[at + 4..].chars().take_while(|c| *c != ';').collect();
        let path = path.trim_start_matches("self::").trim_start_matches("crate::");
        let Some((module, names)) = path.split_once("::") else { continue };
        // `use module::{A, inner::B, C as D}`: the last word of each item is its name here.
        let words = names.split(|c: char| ",{}".contains(c));
        for item in words.map(str::trim).filter(|item| !item.is_empty()) {
            let name = item.rsplit([' ', ':']).next().unwrap_or_default();
            exports.insert(name.to_owned(), module.to_owned());
        }
    }
    exports
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Modules {
        let folder =
            std::env::temp_dir().join(format!("loadline-modules-{}-{}", std::process::id(), files.len()));
        fs::create_dir_all(folder.join("a")).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
        let modules = Modules::read(&folder);
        fs::remove_dir_all(folder).unwrap();
        modules
    }

    #[test]
    fn a_cycle_is_found_through_lists_reexports_and_files_below() {
        let modules = crate_of(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Thing;\n"),
            ("a.rs", "mod deep;\n"),
            ("a/deep.rs", "use crate::{b::{self, X}, std};\n"),
            ("b.rs", "use crate::Thing;\n"),
            ("c.rs", "use super::a;\n"),
        ]);
        assert_eq!(modules.cycles(), [["a", "b", "c"]]);
    }

    #[test]
    fn tests_comments_and_modules_below_make_no_cycle() {
        let modules = crate_of(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "mod deep;\nuse crate::b;\n"),
            ("a/deep.rs", "use super::X;\n"),
            ("b.rs", "//! See [`crate::a`].\n#[cfg(test)]\nmod tests { use crate::a; }\n"),
        ]);
        assert!(modules.cycles().is_empty());
    }
}
