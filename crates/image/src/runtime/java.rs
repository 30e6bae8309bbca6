//! Java: a runtime that jlink makes of the JDK, or, where there is no jlink, the runtime as it is. It works wherever it is, and is in the same
//! place of every image.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{Runtime, ask, check};
use crate::error::ImageError;
use crate::libraries::Moved;
use crate::sha256;
use crate::source::SourceFile;
use crate::tree::{Node, Tree, listed};

/// Where images have it.
const PLACE: &str = "/opt/java";

/// What services use of a JDK: all of Java SE, and of the JDK what does not compile, debug or show windows.
const MODULES: [&str; 18] = [
    "java.se",
    "jdk.charsets",
    "jdk.crypto.cryptoki",
    "jdk.crypto.ec",
    "jdk.httpserver",
    "jdk.jfr",
    "jdk.localedata",
    "jdk.management",
    "jdk.management.agent",
    "jdk.management.jfr",
    "jdk.naming.dns",
    "jdk.net",
    "jdk.nio.mapmode",
    "jdk.security.auth",
    "jdk.security.jgss",
    "jdk.unsupported",
    "jdk.xml.dom",
    "jdk.zipfs",
];

pub fn runtime(found: &Path) -> Result<Runtime, ImageError> {
    let home = home(found)?;
    let jlink = home.join("bin/jlink");
    let made = if jlink.is_file() { linked(&home, &jlink)? } else { home };
    let moved = Moved { from: made.canonicalize().map_err(ImageError::unreadable(&made))?, to: PLACE.into() };
    let mut tree = Tree::default();
    copy(&moved, &moved.from, &mut tree)?;
    let here = moved.from.join("bin/java");
    check(found, &here)?;
    let program = moved.to.join("bin/java");
    Ok(Runtime { names: Vec::new(), given: found.to_owned(), program, here, tree, moved: Some(moved) })
}

fn home(java: &Path) -> Result<PathBuf, ImageError> {
    let (_, said) = ask(java, ["-XshowSettings:properties", "-version"])?;
    let home = said.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
    let home = home.ok_or_else(|| ImageError::Asked {
        program: java.to_owned(),
        why: "it does not say its java.home".to_owned(),
    })?;
    Ok(home.into())
}

/// The folder of a runtime that jlink made of this JDK, now or earlier: it takes seconds, and the same JDK gives the same files.
fn linked(home: &Path, jlink: &Path) -> Result<PathBuf, ImageError> {
    let (listed, _) = ask(&home.join("bin/java"), ["--list-modules"])?;
    let has = |module: &str| listed.lines().any(|line| line.split('@').next() == Some(module));
    let modules: Vec<&str> = MODULES.into_iter().filter(|module| has(module)).collect();
    let modules = modules.join(",");

    let cache = cache()?;
    let identity = identity(home, &modules)?;
    let made = cache.join(&identity);
    // Held until it is there: another process may be about to make the same.
    let path = cache.join(format!("{identity}.lock"));
    let lock =
        File::create(&path).and_then(|lock| lock.lock().map(|()| lock)).map_err(ImageError::cache(&path))?;
    if made.is_dir() {
        return Ok(made);
    }
    let partial = cache.join(format!("{identity}.partial"));
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(ImageError::cache(&partial))?;
    }
    let output = partial.display().to_string();
    let options = ["--strip-debug", "--no-header-files", "--no-man-pages", "--output", &output];
    ask(jlink, ["--add-modules", &modules].into_iter().chain(options))?;
    fs::rename(&partial, &made).map_err(ImageError::cache(&made))?;
    drop(lock);
    Ok(made)
}

/// The user's own folder for what can be made again.
fn cache() -> Result<PathBuf, ImageError> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let cache = caches.ok_or(ImageError::NoCache)?.join("loadline/java");
    fs::create_dir_all(&cache).map_err(ImageError::cache(&cache))?;
    Ok(cache)
}

/// What a runtime depends on: the JDK, by its path, its description and when its modules were installed, and the modules asked for.
fn identity(home: &Path, modules: &str) -> Result<String, ImageError> {
    let home = home.canonicalize().map_err(ImageError::unreadable(home))?;
    let release = fs::read_to_string(home.join("release")).unwrap_or_default();
    let image = home.join("lib/modules");
    let metadata = fs::metadata(&image).map_err(ImageError::unreadable(&image))?;
    let installed = metadata.modified().ok();
    let text = format!("{}\n{release}\n{}\n{installed:?}\n{modules}", home.display(), metadata.len());
    Ok(sha256::of(text.as_bytes()).digest()[..16].to_owned())
}

/// Copies a folder. Distributions link some of its files to their configuration, which comes along; a link to a folder elsewhere, or to
/// nothing, is left out.
fn copy(moved: &Moved, folder: &Path, tree: &mut Tree) -> Result<(), ImageError> {
    for path in listed(folder)? {
        let Ok(below) = path.strip_prefix(&moved.from) else { continue };
        let image = moved.to.join(below);
        let kind = fs::symlink_metadata(&path).map_err(ImageError::unreadable(&path))?.file_type();
        if kind.is_dir() {
            tree.insert(&image, Node::folder(&image));
            copy(moved, &path, tree)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).map_err(ImageError::unreadable(&path))?;
            match moved.link(&path, &target).filter(|_| path.exists()) {
                Some(target) => tree.insert(&image, Node::Link { target }),
                None if path.is_file() => tree.insert(&image, Node::source(SourceFile::find(&path)?)),
                None => {}
            }
        } else if kind.is_file() {
            tree.insert(&image, Node::source(SourceFile::find(&path)?));
        }
    }
    Ok(())
}
