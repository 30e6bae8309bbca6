//! Folders made for the tests, and the images of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use loadline_image::{Image, ImageError};
use serde_json::Value;

use super::executable;

/// A folder that is removed with the value.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        fs::create_dir(folder.path()).expect("a folder");
        folder
    }

    /// It is called `site`.
    pub fn path(&self) -> PathBuf {
        self.0.path().canonicalize().expect("a path").join("site")
    }

    /// A folder beside it, for what is not in it.
    pub fn beside(&self) -> PathBuf {
        self.0.path().canonicalize().expect("a path")
    }

    fn made(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        path
    }

    pub fn file(&self, name: &str, contents: &str) -> &Folder {
        fs::write(self.made(name), contents).expect("a file");
        self
    }

    pub fn program(&self, name: &str, contents: impl AsRef<[u8]>) -> &Folder {
        self.made(name);
        executable(&self.path(), name, contents.as_ref());
        self
    }

    pub fn link(&self, name: &str, target: impl AsRef<Path>) -> &Folder {
        symlink(target, self.made(name)).expect("a link");
        self
    }

    /// Its image, with these programs and this command.
    pub fn image(&self, with: &[&str], command: &[&str]) -> Result<Image, ImageError> {
        let with: Vec<PathBuf> = with.iter().map(PathBuf::from).collect();
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        Image::of_folder(&self.path(), &with, &command)
    }

    /// What is said instead of an image.
    pub fn refused(&self, with: &[&str], command: &[&str]) -> String {
        let refused = self.image(with, command).expect_err("no image").to_string();
        refused.replace(&self.beside().display().to_string(), "HERE")
    }
}

/// Compiles C in a folder, with these options.
pub fn compiled(output: &Path, source: &str, options: &[&str]) {
    let file = output.with_extension("source.c");
    fs::create_dir_all(output.parent().expect("a folder")).expect("folders");
    fs::write(&file, source).expect("a file");
    let status = Command::new("cc").arg("-o").arg(output).arg(&file).args(options).status();
    assert!(
        status.expect("this test needs a C compiler: make tools-test installs it").success(),
        "{options:?}"
    );
    fs::remove_file(file).expect("removed");
}

/// An entry of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub mode: u32,
    pub link: Option<PathBuf>,
    pub bytes: usize,
}

/// A layer: its digest, what the history says of it, and its entries in their order.
pub struct Layer {
    pub digest: String,
    pub created_by: String,
    pub entries: Vec<(String, Entry)>,
}

impl Layer {
    pub fn paths(&self) -> Vec<&str> {
        self.entries.iter().map(|(path, _)| path.as_str()).collect()
    }

    pub fn entry(&self, path: &str) -> &Entry {
        &self.entries.iter().find(|(name, _)| name == path).unwrap_or_else(|| panic!("no {path}")).1
    }
}

/// An image's archive in memory.
pub fn written(image: &Image) -> Vec<u8> {
    let archive = image.archive().expect("an archive");
    let mut bytes = Vec::new();
    archive.write(&mut bytes).expect("memory");
    assert_eq!(bytes.len() as u64, archive.size_bytes());
    bytes
}

/// The configuration and the layers of an archive.
pub fn opened(archive: &[u8]) -> (Value, Vec<Layer>) {
    let mut blobs: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries().expect("a tar") {
        let mut entry = entry.expect("an entry");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("contents");
        blobs.insert(entry.path().expect("a path").display().to_string(), bytes);
    }
    let document = |path: &str| -> Value { serde_json::from_slice(&blobs[path]).expect("JSON") };
    let manifest = document("manifest.json");
    let config = document(manifest[0]["Config"].as_str().expect("a path"));
    let paths = manifest[0]["Layers"].as_array().expect("layers");
    let history = config["history"].as_array().expect("history");
    assert_eq!(paths.len(), history.len());
    let layers = paths.iter().zip(history).map(|(path, history)| {
        let path = path.as_str().expect("a path");
        Layer {
            digest: path.to_owned(),
            created_by: history["created_by"].as_str().expect("text").to_owned(),
            entries: entries(&blobs[path]),
        }
    });
    let layers = layers.collect();
    (config, layers)
}

fn entries(layer: &[u8]) -> Vec<(String, Entry)> {
    let mut tar = tar::Archive::new(layer);
    let entry = |entry: std::io::Result<tar::Entry<&[u8]>>| {
        let entry = entry.expect("an entry");
        let header = entry.header();
        assert_eq!((header.uid().ok(), header.gid().ok(), header.mtime().ok()), (Some(0), Some(0), Some(0)));
        let mode = header.mode().expect("a mode");
        let link = entry.link_name().expect("a link").map(|link| link.into_owned());
        let path = entry.path().expect("a path").display().to_string();
        (path, Entry { mode, link, bytes: entry.size() as usize })
    };
    tar.entries().expect("a tar").map(entry).collect()
}
