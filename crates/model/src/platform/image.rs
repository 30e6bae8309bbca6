//! Where a container takes its files from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An image, and what of it is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Where it comes from.
    pub source: ImageSource,
    /// The program in the image; `None` is the image's own.
    pub entrypoint: Option<Vec<String>>,
}

/// Where an image comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// A reference, such as `nginx:1.27`: already there, or pulled.
    Name(String),
    /// A file that `docker save` or `loadline image` wrote.
    Archive(PathBuf),
    /// A static program of this machine, made into an image as `loadline image` does it.
    Program(PathBuf),
}
