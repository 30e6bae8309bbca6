//! What a container platform starts: an image by its name, or from an archive.

use std::path::PathBuf;

use loadline_model::platform::{Image, ImageSource};
use serde_json::json;

use crate::error::{Complaint, Problems};
use crate::kinds::{CommandLine, Scalar, Short, parsed};
use crate::node::Text;
use crate::options::{Table, Written};

use super::WHAT;

/// What is written of an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ImageKeys {
    name: Option<String>,
    archive: Option<PathBuf>,
    entrypoint: Option<Vec<Text>>,
}

pub(super) fn kind() -> Short<ImageKeys> {
    Short {
        definition: "Image",
        description: "An image: its name, or its parts.",
        line_schema: json!({ "type": "string" }),
        read: |text, problems| {
            let name = text.read(problems, reference)?;
            Some(ImageKeys { name: Some(name), ..ImageKeys::default() })
        },
        write: |image| image.name.clone().filter(|_| image.entrypoint.is_none()),
        table: table(),
    }
}

fn table() -> Table<ImageKeys> {
    let archive = Scalar::new(file, |path| path.display().to_string(), json!({ "type": "string" }));
    Table::<ImageKeys>::new("ImageFields", "image", "An image in its parts")
        .key(
            "name",
            parsed(reference).placeholder("NAME|FILE"),
            "Image that container platforms start: its name, such as nginx:1.27, or a file that `loadline image` or `docker save` wrote, \
            such as ./service.tar. Its own program gets the arguments of the command",
            |image| &mut image.name,
        )
        .flag("--image", WHAT)
        .default("made from the service's program, which must be statically linked")
        .key("archive", archive, "A file that `docker save` or `loadline image` wrote", |image| {
            &mut image.archive
        })
        .key("entrypoint", CommandLine, "Program to start in the image, if not the image's own: node", |image| {
            &mut image.entrypoint
        })
        .flag("--entrypoint", WHAT)
}

/// A reference of an image; registries know what else is wrong with it.
fn reference(text: &str) -> Result<String, Complaint> {
    let name = text.trim();
    match name.is_empty() || name.contains(char::is_whitespace) || name.starts_with('-') {
        true => Err(Complaint::new(format!("`{name}` is not an image name")).help("write nginx:1.27")),
        false => Ok(name.to_owned()),
    }
}

/// Whether it is the file of an archive: no reference begins like that, and none that is in use ends like that.
fn is_file_name(name: &str) -> bool {
    name.starts_with(['.', '/']) || name.ends_with(".tar")
}

fn file(text: &str) -> Result<PathBuf, Complaint> {
    let path = PathBuf::from(text.trim());
    match path.is_file() {
        true => Ok(path),
        false => Err(Complaint::new(format!("there is no file {}", path.display()))
            .help("`loadline image -o FILE` or `docker save` writes one")),
    }
}

impl ImageKeys {
    /// What is written of an image of an experiment.
    pub fn of(image: &Image) -> ImageKeys {
        let entrypoint = image.entrypoint.as_ref().map(|words| super::texts(words));
        match &image.source {
            ImageSource::Name(name) => ImageKeys { name: Some(name.clone()), archive: None, entrypoint },
            // A program is made into an image by the platform; an experiment names it as the service's command.
            ImageSource::Archive(file) | ImageSource::Program(file) => {
                ImageKeys { name: None, archive: Some(file.clone()), entrypoint }
            }
        }
    }
}

pub(super) fn image(written: &Written<ImageKeys>, problems: &mut Problems) -> Option<Image> {
    let ImageKeys { name, archive, entrypoint } = &written.value;
    let source = match (name, archive) {
        (Some(name), None) if is_file_name(name) => {
            ImageSource::Archive(problems.note(written.place_of("name"), file(name))?)
        }
        (Some(name), None) => ImageSource::Name(name.clone()),
        (None, Some(archive)) => ImageSource::Archive(archive.clone()),
        _ => {
            let complaint = Complaint::new("an image needs either a name or an archive");
            let help = "--image nginx:1.27 or --image ./service.tar; in a file `image: nginx:1.27`";
            problems.add(&written.place, complaint.help(help));
            return None;
        }
    };
    Some(Image { source, entrypoint: entrypoint.as_deref().map(super::strings) })
}
