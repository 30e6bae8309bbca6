//! The files of a folder as an image gets them, below `/app`. What an image cannot hold, or would have to look for outside the folder, is
//! refused rather than left out.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::error::ImageError;
use crate::libraries::Moved;
use crate::source::SourceFile;
use crate::tree::{Node, Tree, listed, without_dots};

/// Where an image has the folder, which is also its working directory.
pub const APP: &str = "/app";

/// A folder and all that it contains.
pub struct Folder {
    /// As it was given.
    pub shown: PathBuf,
    /// Its own name.
    pub name: String,
    pub place: Moved,
    pub tree: Tree,
    /// Links to absolute paths outside: harmless if the image has them for another reason.
    pub links_outside: Vec<LinkOutside>,
}

/// A symbolic link that leaves its folder.
pub struct LinkOutside {
    pub link: PathBuf,
    pub target: PathBuf,
}

impl LinkOutside {
    pub fn refused(&self) -> ImageError {
        ImageError::LinkOutside { link: self.link.clone(), target: self.target.clone() }
    }
}

impl Folder {
    /// Finds all files; reads none.
    pub fn find(shown: &Path) -> Result<Folder, ImageError> {
        let from = shown.canonicalize().map_err(ImageError::unreadable(shown))?;
        let name = from.file_name().ok_or(ImageError::RootFolder)?.to_string_lossy().into_owned();
        let mut folder = Folder {
            shown: shown.to_owned(),
            name,
            place: Moved { from, to: APP.into() },
            tree: Tree::default(),
            links_outside: Vec::new(),
        };
        folder.tree.insert(Path::new(APP), Node::folder(Path::new(APP)));
        folder.find_below(Path::new(""))?;
        Ok(folder)
    }

    fn find_below(&mut self, below: &Path) -> Result<(), ImageError> {
        for path in listed(&self.place.from.join(below))? {
            let Some(name) = path.file_name() else { continue };
            let below = below.join(name);
            let image = self.place.to.join(&below);
            let shown = self.shown.join(&below);
            let metadata = fs::symlink_metadata(&path).map_err(ImageError::unreadable(&shown))?;
            let kind = metadata.file_type();
            if kind.is_dir() {
                self.tree.insert(&image, Node::folder(&image));
                self.find_below(&below)?;
            } else if kind.is_file() {
                self.tree.insert(&image, Node::source(SourceFile::of(&path, &metadata)));
            } else if kind.is_symlink() {
                let target = fs::read_link(&path).map_err(ImageError::unreadable(&shown))?;
                let kept = self.place.link(&path, &target);
                if kept.is_none() {
                    let outside = LinkOutside { link: shown, target: target.clone() };
                    if target.is_relative() {
                        return Err(outside.refused());
                    }
                    self.links_outside.push(outside);
                }
                self.tree.insert(&image, Node::Link { target: kept.unwrap_or(target) });
            } else {
                let kind = match () {
                    () if kind.is_fifo() => "a named pipe",
                    () if kind.is_socket() => "a socket",
                    () => "a device",
                };
                return Err(ImageError::SpecialFile { path: shown, kind });
            }
        }
        Ok(())
    }
}

impl Moved {
    /// The target that a link inside the folder has in the image; `None` if it leaves the folder. It stays as it is unless it goes by the
    /// folder's own path or name, which the image does not have.
    pub fn link(&self, link: &Path, target: &Path) -> Option<PathBuf> {
        let stays = target.is_relative() && {
            let from = link.parent().and_then(|folder| folder.strip_prefix(&self.from).ok());
            from.is_some_and(|from| without_dots(&from.join(target)).is_some())
        };
        let Ok(real) = link.canonicalize() else { return stays.then(|| target.to_owned()) };
        let below = real.strip_prefix(&self.from).ok()?;
        Some(if stays { target.to_owned() } else { self.to.join(below) })
    }
}
