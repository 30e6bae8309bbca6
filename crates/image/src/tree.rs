//! Paths of an image and what is there: a sorted list, so that the same files give the same layer in whichever order they were found.
//! Owners and permissions are the image's, not those of this machine.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::ImageError;
use crate::program::Program;
use crate::source::SourceFile;

/// Maximum number of symbolic links on the way to a file (path_resolution(7)).
const LINKS_MAX: usize = 40;

/// What is at a path.
#[derive(Debug, Clone)]
pub enum Node {
    Folder { mode: u32 },
    Link { target: PathBuf },
    File { mode: u32, contents: Contents },
}

/// A file's bytes.
#[derive(Debug, Clone)]
pub enum Contents {
    Text(&'static [u8]),
    Source(SourceFile),
    /// Open since it was checked.
    Program(Arc<Program>),
}

impl Node {
    /// A file of this machine, executable if it is so there.
    pub fn source(file: SourceFile) -> Node {
        let mode = if file.is_executable() { 0o755 } else { 0o644 };
        Node::File { mode, contents: Contents::Source(file) }
    }

    pub fn text(text: &'static [u8]) -> Node {
        Node::File { mode: 0o644, contents: Contents::Text(text) }
    }

    /// Everyone may write to `/tmp`.
    pub fn folder(path: &Path) -> Node {
        Node::Folder { mode: if path == Path::new("/tmp") { 0o1777 } else { 0o755 } }
    }

    /// Whether both can be in an image, the one in a layer above the other.
    fn goes_with(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Folder { .. }, Node::Folder { .. }) | (Node::File { .. }, Node::File { .. }) => true,
            (Node::Link { target }, Node::Link { target: other }) => target == other,
            _ => false,
        }
    }
}

/// Absolute paths in the image; the folders above a path are there as well.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
}

impl Tree {
    pub fn insert(&mut self, path: &Path, node: Node) {
        for folder in path.ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
            if self.nodes.contains_key(folder) {
                break;
            }
            self.nodes.insert(folder.to_owned(), Node::folder(folder));
        }
        self.nodes.insert(path.to_owned(), node);
    }

    pub fn contains(&self, path: &Path) -> bool {
        self.nodes.contains_key(path)
    }

    pub fn nodes(&self) -> impl Iterator<Item = (&Path, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_path(), node))
    }

    /// The files of this machine among its nodes.
    pub fn sources(&self) -> impl Iterator<Item = (&Path, &SourceFile)> {
        self.nodes().filter_map(|(path, node)| match node {
            Node::File { contents: Contents::Source(file), .. } => Some((path, file)),
            _ => None,
        })
    }

    pub fn into_nodes(self) -> Vec<(PathBuf, Node)> {
        self.nodes.into_iter().collect()
    }

    /// Adds files and links of another tree, except for those that `lower` trees have.
    pub fn add_without(&mut self, other: Tree, lower: &[&Tree]) {
        for (path, node) in other.nodes {
            let is_there =
                matches!(node, Node::Folder { .. }) || lower.iter().any(|tree| tree.contains(&path));
            if !is_there {
                self.insert(&path, node);
            }
        }
    }

    /// A path that is a folder in one of the trees and something else in another, or a link to two places.
    pub fn conflict<'t>(trees: &[&'t Tree]) -> Option<&'t Path> {
        let mut all: BTreeMap<&Path, &Node> = BTreeMap::new();
        for (path, node) in trees.iter().flat_map(|tree| tree.nodes()) {
            if all.insert(path, node).is_some_and(|other| !node.goes_with(other)) {
                return Some(path);
            }
        }
        None
    }

    /// Puts a file of this machine at its own path, with the symbolic links on the way to it; its path without them.
    pub fn mirror(&mut self, path: &Path) -> Result<PathBuf, ImageError> {
        let (steps, file) = way_to(path).map_err(ImageError::unreadable(path))?;
        for (link, target) in steps {
            self.insert(&link, Node::Link { target });
        }
        let node = if file.is_dir() { Node::folder(&file) } else { Node::source(SourceFile::find(&file)?) };
        self.insert(&file, node);
        Ok(file)
    }

    /// Puts a folder of this machine at its own path, with all files in it and those that its links lead to, but for what is skipped.
    /// Links that lead nowhere, or to a folder elsewhere, are kept as they are.
    pub fn mirror_folder(&mut self, folder: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<(), ImageError> {
        let folder = self.mirror(folder)?;
        for path in listed(&folder)? {
            if skip(&path) {
                continue;
            }
            let kind = fs::symlink_metadata(&path).map_err(ImageError::unreadable(&path))?.file_type();
            if kind.is_dir() {
                self.mirror_folder(&path, skip)?;
            } else if kind.is_file() || (kind.is_symlink() && path.is_file()) {
                self.mirror(&path)?;
            } else if kind.is_symlink() {
                let target = fs::read_link(&path).map_err(ImageError::unreadable(&path))?;
                self.insert(&path, Node::Link { target });
            }
        }
        Ok(())
    }
}

/// What a folder contains.
pub fn listed(folder: &Path) -> Result<Vec<PathBuf>, ImageError> {
    let entries = fs::read_dir(folder).map_err(ImageError::unreadable(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<PathBuf>>>();
    paths.map_err(ImageError::unreadable(folder))
}

/// The symbolic links on the way to a file, each with its target, and the file's path without them.
fn way_to(path: &Path) -> io::Result<(Vec<(PathBuf, PathBuf)>, PathBuf)> {
    let path = std::path::absolute(path)?;
    let mut links = Vec::new();
    let mut here = PathBuf::from("/");
    let mut ahead: VecDeque<OsString> = names(&path).collect();
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(name);
        if !fs::symlink_metadata(&next)?.is_symlink() {
            here = next;
            continue;
        }
        let target = fs::read_link(&next)?;
        if links.len() == LINKS_MAX {
            return Err(io::Error::other("too many symbolic links"));
        }
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for name in names(&target).collect::<Vec<OsString>>().into_iter().rev() {
            ahead.push_front(name);
        }
        links.push((next, target));
    }
    Ok((links, here))
}

fn names(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

/// A path without `.` and `..`, as text; `None` if it would go above its start.
pub fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_brings_the_folders_above_it_before_itself() {
        let mut tree = Tree::default();
        tree.insert(Path::new("/tmp/a/b"), Node::text(b"b"));
        tree.insert(Path::new("/tmp-file"), Node::text(b"c"));
        let modes: Vec<String> = tree
            .nodes()
            .map(|(path, node)| match node {
                Node::Folder { mode } => format!("{} {mode:o}", path.display()),
                _ => path.display().to_string(),
            })
            .collect();
        assert_eq!(modes, ["/tmp 1777", "/tmp/a 755", "/tmp/a/b", "/tmp-file"]);
    }

    #[test]
    fn a_mirrored_file_comes_with_the_links_on_the_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        fs::create_dir_all(root.join("usr/bin")).expect("folders");
        fs::write(root.join("usr/bin/dash"), "").expect("a file");
        std::os::unix::fs::symlink("usr/bin", root.join("bin")).expect("a link");
        std::os::unix::fs::symlink(root.join("bin/dash"), root.join("usr/bin/sh")).expect("a link");
        let mut tree = Tree::default();
        assert_eq!(tree.mirror(&root.join("bin/sh")).expect("a file"), root.join("usr/bin/dash"));
        let links = tree.nodes().filter(|(_, node)| matches!(node, Node::Link { .. }));
        let links: Vec<&Path> = links.map(|(path, _)| path.strip_prefix(&root).expect("below")).collect();
        assert_eq!(links, [Path::new("bin"), Path::new("usr/bin/sh")]);
        std::os::unix::fs::symlink("round", root.join("round")).expect("a link");
        assert!(matches!(tree.mirror(&root.join("round")), Err(ImageError::Read { .. })));
    }

    #[test]
    fn layers_that_contradict_each_other_are_found() {
        let (mut one, mut other) = (Tree::default(), Tree::default());
        one.insert(Path::new("/opt/java"), Node::text(b""));
        other.insert(Path::new("/opt"), Node::Link { target: "/data".into() });
        assert_eq!(Tree::conflict(&[&one, &one]), None);
        assert_eq!(Tree::conflict(&[&one, &other]), Some(Path::new("/opt")));
    }

    #[test]
    fn dots_are_taken_out_of_a_path_unless_it_leaves_its_start() {
        assert_eq!(without_dots(Path::new("a/./b/../c")), Some("a/c".into()));
        assert_eq!(without_dots(Path::new("a/../../a")), None);
    }
}
