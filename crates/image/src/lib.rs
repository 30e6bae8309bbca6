//! An archive of an image that holds one static program, or a folder and the programs that run it with their libraries: what Docker, Podman,
//! containerd and kind load without a registry. The same files give the same bytes, wherever and whenever the archive is written.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use loadline_image::{Image, Program};
//!
//! let mut image = Image::new(Program::open("./server".as_ref())?, "server")?;
//! image.command = vec!["--port".to_owned(), "8080".to_owned()];
//! let archive = image.archive()?;
//! archive.write(std::fs::File::create("server.tar")?)?;
//! println!("{} is {}", image.name, archive.image_id());
//! # Ok(())
//! # }
//! ```

mod application;
mod archive;
mod default_folders;
mod documents;
mod elf;
mod error;
mod find;
mod folder;
mod image;
mod layer;
mod libraries;
mod linkage;
mod name;
mod program;
mod runtime;
mod sha256;
mod source;
mod tarball;
mod tree;

pub use archive::Archive;
pub use elf::UnsuitableProgram;
pub use error::{ImageError, MissingLibrary};
pub use image::{BINARY_SHA256_LABEL, Image, PORT, USER};
pub use name::ImageName;
pub use oci_spec::image::Arch as Architecture;
pub use program::Program;
