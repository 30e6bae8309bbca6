//! The service that tests put into images, and what must be true of it in a container.

use std::fs::File;
use std::path::{Path, PathBuf};

use loadline_image::{Image, ImageName, Program};

use crate::runtimes::Contained;

/// The static service of `test-helper/main.rs`.
pub const SERVICE: &str = env!("CARGO_BIN_EXE_loadline-image-test-helper");

/// Where the service listens in its image.
pub const LISTEN: &str = "127.0.0.1:8080";

/// The service's archive, and what loaders should say of it.
pub struct Archived {
    pub path: PathBuf,
    pub name: String,
    pub id: String,
}

/// Writes the archive of the service into a folder.
pub fn archive(folder: &Path) -> Archived {
    let mut image =
        Image::new(Program::open(SERVICE.as_ref()).expect("a static program"), "service").expect("a name");
    image.command = [LISTEN, "as", "told by the image"].map(str::to_owned).to_vec();
    image.name = ImageName::parse("localhost/loadline-test", image.tag()).expect("a name");
    let path = folder.join("service.tar");
    let archive = image.archive().expect("an archive");
    archive.write(File::create(&path).expect("a file")).expect("written");
    Archived { path, name: image.name.to_string(), id: archive.image_id() }
}

/// Finds that the service answers in a container, as 1000 by its own account too, with a `/tmp` to write to and these arguments.
pub fn assert_served(contained: &Contained, arguments: &str) {
    let answer = contained.healthz();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let expected = format!("uid 1000 gid 1000 tmp writable arguments {arguments}\n");
    assert!(answer.ends_with(&expected), "{answer}");
}
