//! The image of a service in Docker's store: already present, pulled, or loaded from an archive.
//! What a run loads is registered beforehand and removed with the run; what it pulls stays, as after `docker run`.

use std::{
    fs::File,
    io::Seek,
    path::{Path, PathBuf},
};

use loadline_image::Program;

use loadline_machine::{ErrorContext, RunFolder};
use loadline_model::platform::ImageSource;

use crate::{archive, cleaner::DockerSection, client::Client, error::DockerError, transfer};

/// An image in Docker's store.
pub(crate) struct LocalImage {
    /// Its name, or its id.
    pub reference: String,
    /// Its size in Docker's store, unpacked.
    pub bytes: Option<u64>,
}

/// Makes sure that the image is present.
pub(crate) fn ensure(
    client: &Client,
    run: &RunFolder,
    source: &ImageSource,
    progress: &mut dyn FnMut(&str),
) -> Result<LocalImage, DockerError> {
    let (reference, found) = match source {
        ImageSource::Name(name) => from_name(client, name, progress)?,
        ImageSource::Archive(path) => from_archive(client, run, path, progress)?,
        ImageSource::Program(path) => from_program(client, run, path, progress)?,
    };
    Ok(LocalImage { reference, bytes: found.size.and_then(|bytes| u64::try_from(bytes).ok()) })
}

type Found = (String, bollard::models::ImageInspect);

fn from_name(client: &Client, name: &str, progress: &mut dyn FnMut(&str)) -> Result<Found, DockerError> {
    let name = full_name(name)?;
    if let Some(found) = inspect(client, &name)? {
        return Ok((name, found));
    }
    progress(&format!("pulling {name}"));
    let refused = |reason| DockerError::NoSuchImage { name: name.clone(), reason };
    match transfer::pull(client, &name, progress) {
        Ok(()) => {}
        Err(DockerError::Refused { message, .. }) => return Err(refused(message)),
        Err(error) => return Err(error),
    }
    let found =
        inspect(client, &name)?.ok_or_else(|| refused("Docker pulled it but does not list it".to_owned()))?;
    Ok((name, found))
}

fn from_archive(
    client: &Client,
    run: &RunFolder,
    path: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Found, DockerError> {
    let contents = archive::read(path)?;
    let name = contents.reference;
    if let Some(found) = inspect(client, &name)? {
        let is_the_same = found.id.as_ref().is_some_and(|id| contents.ids.contains(id));
        // Ids differ where containerd converts what it loads; but the names that runs loaded are registered.
        if !(belongs_to_runs(run, &name)? || is_the_same) {
            return Err(DockerError::ImageNameTaken { path: path.to_owned(), name });
        }
        return Ok((name, found));
    }
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let shown = path.file_name().unwrap_or_default().to_string_lossy();
    load(client, run, name, file, &shown, progress)
}

fn from_program(
    client: &Client,
    run: &RunFolder,
    path: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Found, DockerError> {
    let shown = path.file_name().unwrap_or_default().to_string_lossy();
    let program = Program::find(path).map_err(DockerError::from)?;
    let image = loadline_image::Image::new(program, &shown).map_err(DockerError::from)?;
    // The name contains a hash of the program.
    let name = image.name.to_string();
    if let Some(found) = inspect(client, &name)? {
        belongs_to_runs(run, &name)?;
        return Ok((name, found));
    }
    progress(&format!("making an image of {shown}"));
    let mut file = tempfile::tempfile().with_context(|| "create a temporary file for an image")?;
    let written = image.archive().and_then(|archive| archive.write(&file));
    written.map_err(DockerError::from)?;
    file.rewind().with_context(|| "read a temporary file")?;
    load(client, run, name, file, &shown, progress)
}

fn load(
    client: &Client,
    run: &RunFolder,
    name: String,
    file: File,
    shown: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Found, DockerError> {
    run.update(|section: &mut DockerSection| record(&mut section.images, &name))?;
    transfer::load(client, file, shown, progress)?;
    let found = inspect(client, &name)?.ok_or_else(|| DockerError::BadArchive {
        path: PathBuf::from(shown),
        reason: format!("Docker loaded it but has no {name}"),
    })?;
    Ok((name, found))
}

/// Whether a run loaded the image. If another run did, it belongs to this one as well from now on: the first of them that ends while no
/// container uses it removes it, and the other one loads it again.
fn belongs_to_runs(run: &RunFolder, name: &str) -> Result<bool, DockerError> {
    let ours = |images: &[String]| images.iter().any(|image| image == name);
    if ours(&run.section::<DockerSection>().images) {
        return Ok(true);
    }
    if !run.sections_of_others::<DockerSection>()?.iter().any(|other| ours(&other.images)) {
        return Ok(false);
    }
    run.update(|section: &mut DockerSection| record(&mut section.images, name))?;
    Ok(true)
}

fn record(images: &mut Vec<String>, name: &str) {
    if !images.iter().any(|image| image == name) {
        images.push(name.to_owned());
    }
}

fn inspect(client: &Client, name: &str) -> Result<Option<bollard::models::ImageInspect>, DockerError> {
    client.find(&format!("inspect the image {name}"), |api| api.inspect_image(name))
}

/// The name with a tag: without one, Docker's API pulls all tags.
fn full_name(name: &str) -> Result<String, DockerError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    // It becomes part of a URL path.
    if name.is_empty()
        || !name.bytes().all(allowed)
        || name.split('/').any(|part| part.is_empty() || part.starts_with('.'))
    {
        return Err(DockerError::BadImageName(name.to_owned()));
    }
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_id = name.starts_with("sha256:");
    Ok(if last.contains([':', '@']) || is_id { name.to_owned() } else { format!("{name}:latest") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_tag_means_the_latest() {
        for (given, full) in [
            ("nginx", "nginx:latest"),
            ("nginx:1.27", "nginx:1.27"),
            ("registry.example.org:5000/team/orders", "registry.example.org:5000/team/orders:latest"),
            ("localhost:5000/orders:1.0", "localhost:5000/orders:1.0"),
            ("orders@sha256:0a1b", "orders@sha256:0a1b"),
            ("sha256:0a1b", "sha256:0a1b"),
        ] {
            assert_eq!(full_name(given).unwrap(), full);
        }
    }

    #[test]
    fn a_name_that_could_change_the_path_is_rejected() {
        for name in ["", "../containers", "a/../b", "a?force=1", "a b", "a//b", "/a", "a#b", "ä"] {
            assert!(matches!(full_name(name), Err(DockerError::BadImageName(_))), "{name}");
        }
    }
}
