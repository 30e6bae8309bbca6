//! The description of an image: name, user, command line, labels.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use oci_spec::image::Arch;

use crate::error::{ImageError, MissingLibrary};
use crate::layer::{PASSWD, Part};
use crate::name::ImageName;
use crate::program::Program;
use crate::tree::{Contents, Node};

/// The TCP port that images declare, and on which their services listen.
pub const PORT: u16 = 8080;

/// The default user and group of containers: not root. Numeric, so that Kubernetes' `runAsNonRoot` can check it.
pub const USER: &str = "1000:1000";

/// The label with the SHA-256 of the program's file, 64 hexadecimal digits.
pub const BINARY_SHA256_LABEL: &str = "loadline.binary.sha256";

/// Maximum length of a file name on Linux (`NAME_MAX`, limits.h).
const NAME_MAX_BYTES: usize = 255;

/// Folders of the image, and of every container.
const RESERVED_PATHS: [&str; 7] = [".", "..", "dev", "etc", "proc", "sys", "tmp"];

/// An image: one static program, `/tmp` and an `/etc/passwd` that names the user; or a folder and the programs that run it
/// ([`Image::of_folder`]). Change the fields before [`Image::archive`].
#[derive(Debug)]
pub struct Image {
    /// The name under which it is loaded; [`ImageName::default_for`] at first.
    pub name: ImageName,
    /// Arguments of what is started when the container is given none (Docker's `Cmd`).
    pub command: Vec<String>,
    /// The program's version, for the label `org.opencontainers.image.version`; unknown at first.
    pub version: Option<String>,
    /// The timestamp of the image and its files, no earlier than 1970; 1970 at first, so that the same files give the same
    /// image.
    pub created: Timestamp,
    pub(crate) tag: String,
    /// SHA-256 of the only program.
    pub(crate) binary: Option<String>,
    pub(crate) architecture: Arch,
    pub(crate) start: Start,
    pub(crate) parts: Vec<Part>,
    pub(crate) origins: Vec<PathBuf>,
    pub(crate) left_out: Vec<MissingLibrary>,
}

/// How a container starts.
#[derive(Debug)]
pub(crate) struct Start {
    /// What the image is called beside its name.
    pub title: String,
    /// The path of the program.
    pub program: String,
    /// The variable `PATH`.
    pub path: String,
    /// The working directory; `/` if none.
    pub folder: Option<String>,
}

impl Image {
    /// An image with the program at `/FILE_NAME`, which is its entrypoint.
    ///
    /// # Errors
    /// [`ImageError::FileName`] for a name that no file can have, or that containers need for something else.
    pub fn new(program: Program, file_name: &str) -> Result<Image, ImageError> {
        let bad = file_name.is_empty()
            || file_name.len() > NAME_MAX_BYTES
            || file_name.contains(['/', '\0'])
            || RESERVED_PATHS.contains(&file_name);
        if bad {
            return Err(ImageError::FileName(file_name.to_owned()));
        }
        let path = format!("/{file_name}");
        let program = Arc::new(program);
        let file = Node::File { mode: 0o555, contents: Contents::Program(Arc::clone(&program)) };
        let folder = |path: &str| (PathBuf::from(path), Node::folder(Path::new(path)));
        let nodes = vec![
            folder("/etc"),
            folder("/tmp"),
            ("/etc/passwd".into(), Node::text(PASSWD)),
            (PathBuf::from(&path), file),
        ];
        let part = Part {
            title: file_name.to_owned(),
            created_by: "loadline image".to_owned(),
            origin: program.path().to_owned(),
            nodes,
        };
        Ok(Image {
            name: ImageName::default_for(program.tag(), file_name),
            command: Vec::new(),
            version: None,
            created: Timestamp::UNIX_EPOCH,
            tag: program.tag().to_owned(),
            binary: Some(program.sha256().to_owned()),
            architecture: program.architecture().clone(),
            start: Start { title: file_name.to_owned(), program: path, path: "/".to_owned(), folder: None },
            parts: vec![part],
            origins: vec![program.path().to_owned()],
            left_out: Vec::new(),
        })
    }

    /// The tag of its name unless another is given: the first 12 digits of a digest of its contents, so that a stale image cannot be
    /// mistaken for it. That of one program is the program's.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The machine it is for.
    pub fn architecture(&self) -> &Arch {
        &self.architecture
    }

    /// The program or folder that it is made from, and the programs beside a folder.
    pub fn origins(&self) -> &[PathBuf] {
        &self.origins
    }

    /// Libraries that files of a folder or a runtime need and this machine does not have. What needs them works as well as it does here.
    pub fn left_out(&self) -> &[MissingLibrary] {
        &self.left_out
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// [`Image::created`] in seconds since 1970.
    pub(crate) fn created_s(&self) -> u64 {
        u64::try_from(self.created.as_second()).unwrap_or_default()
    }
}
