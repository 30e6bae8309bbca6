//! The description of an image: name, user, command line, labels.

use jiff::Timestamp;

use crate::error::ImageError;
use crate::name::ImageName;
use crate::program::Program;

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

/// An image of one static program, `/tmp` and an `/etc/passwd` that names the user. Change the fields before [`Image::archive`].
#[derive(Debug)]
pub struct Image {
    /// The only program in it.
    pub program: Program,
    /// The name under which it is loaded; [`ImageName::default_for`] at first.
    pub name: ImageName,
    /// Arguments of the program when the container is given none (Docker's `Cmd`); none at first.
    pub command: Vec<String>,
    /// The program's version, for the label `org.opencontainers.image.version`; unknown at first.
    pub version: Option<String>,
    /// The timestamp of the image and its files, no earlier than 1970; 1970 at first, so that the same program gives the same
    /// image.
    pub created: Timestamp,
    file_name: String,
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
        let name = ImageName::default_for(&program, file_name);
        Ok(Image {
            program,
            name,
            command: Vec::new(),
            version: None,
            created: Timestamp::UNIX_EPOCH,
            file_name: file_name.to_owned(),
        })
    }

    /// The program's name in the image's root folder.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// [`Image::created`] in seconds since 1970.
    pub(crate) fn created_s(&self) -> u64 {
        u64::try_from(self.created.as_second()).unwrap_or_default()
    }
}
