//! The image of a pod: its name in the nodes' stores, whether it may be pulled, and how to load it otherwise.

use std::{fs::File, path::Path};

use loadline_image::Program;
use serde::Deserialize;

use loadline_model::platform::{Image, ImageSource};
use loadline_platform::Service;

use crate::error::ClusterError;

/// An image as a pod names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodImage {
    pub name: String,
    /// Whether nodes may pull it; an image built on this machine is in no registry.
    pub pulled: bool,
    /// The program of the image that is started, if not the image's own.
    pub entrypoint: Option<Vec<String>>,
    /// How to load it on the nodes.
    pub hint: String,
}

impl PodImage {
    /// The image of a service.
    pub fn of_service(service: &Service) -> Result<PodImage, ClusterError> {
        let image = service.image.as_ref().ok_or_else(|| {
            let what = "cannot start a pod without an image: name the service's image, or make one from its static program with `loadline image`";
            ClusterError::Unfit(what.to_owned())
        })?;
        PodImage::of(image)
    }

    pub fn of(image: &Image) -> Result<PodImage, ClusterError> {
        let entrypoint = image.entrypoint.clone();
        match &image.source {
            ImageSource::Name(name) => {
                let hint = format!(
                    "check the name, and that the nodes can pull it from its registry; or `docker save -o image.tar {name}`, then {}",
                    import("image.tar")
                );
                Ok(PodImage { name: name.clone(), pulled: true, entrypoint, hint })
            }
            ImageSource::Archive(path) => {
                let hint = import(&path.display().to_string());
                Ok(PodImage { name: name_in_archive(path)?, pulled: false, entrypoint, hint })
            }
            ImageSource::Program(path) => {
                let program = Program::find(path).map_err(ClusterError::Program)?;
                Ok(PodImage { entrypoint, ..PodImage::of_program(program, path)? })
            }
        }
    }

    /// The image that `loadline image` builds of a program.
    pub fn of_program(program: Program, path: &Path) -> Result<PodImage, ClusterError> {
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let image = loadline_image::Image::new(program, &title).map_err(ClusterError::Program)?;
        let hint = format!(
            "`loadline image -o {title}.tar {}`, then {}",
            path.display(),
            import(&format!("{title}.tar"))
        );
        Ok(PodImage { name: image.name.to_string(), pulled: false, entrypoint: None, hint })
    }

    /// The value of `imagePullPolicy`.
    pub fn pull_policy(&self) -> &'static str {
        if self.pulled { "IfNotPresent" } else { "Never" }
    }
}

fn import(archive: &str) -> String {
    format!(
        "`ctr -n k8s.io images import {archive}` on each node, `kind load image-archive {archive}` for kind, or push it to a registry that the nodes can reach and use that name"
    )
}

/// One image of `manifest.json`, which both Docker's and loadline's archives have
/// (<https://github.com/moby/docker-image-spec/blob/main/v1.2.md>).
#[derive(Deserialize)]
struct ArchivedImage {
    #[serde(rename = "RepoTags", default)]
    names: Option<Vec<String>>,
}

fn name_in_archive(path: &Path) -> Result<String, ClusterError> {
    let bad = |why: String| ClusterError::Archive { path: path.to_owned(), why };
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let mut archive = tar::Archive::new(file);
    for entry in archive.entries().map_err(|error| bad(error.to_string()))? {
        let entry = entry.map_err(|error| bad(error.to_string()))?;
        if entry.path().is_ok_and(|inside| inside == Path::new("manifest.json")) {
            let images: Vec<ArchivedImage> =
                serde_json::from_reader(entry).map_err(|error| bad(format!("manifest.json: {error}")))?;
            let name = images.into_iter().flat_map(|image| image.names.unwrap_or_default()).next();
            let named =
                name.ok_or_else(|| bad("its image has no name: save it by name, not by id".to_owned()))?;
            return Ok(in_full(&named));
        }
    }
    Err(bad("it contains no manifest.json".to_owned()))
}

/// A name as containerd imports it: with a registry, Docker Hub's if there is none
/// (<https://pkg.go.dev/github.com/distribution/reference#ParseNormalizedNamed>).
fn in_full(name: &str) -> String {
    match name.split_once('/') {
        None => format!("docker.io/library/{name}"),
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => name.to_owned(),
        Some(_) => format!("docker.io/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(entries: &[(&str, &str)]) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image.tar");
        let mut builder = tar::Builder::new(File::create(&path).unwrap());
        for (name, text) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        builder.finish().unwrap();
        (dir, path)
    }

    #[test]
    fn an_archives_image_has_its_full_name() {
        for (tag, full) in [
            ("orders:1", "docker.io/library/orders:1"),
            ("me/orders:1", "docker.io/me/orders:1"),
            ("localhost/orders:1", "localhost/orders:1"),
            ("registry:5000/orders:1", "registry:5000/orders:1"),
        ] {
            let manifest = format!(r#"[{{"Config": "c", "RepoTags": ["{tag}"], "Layers": []}}]"#);
            let (_dir, path) = archive(&[("layer.tar", "x"), ("manifest.json", &manifest)]);
            assert_eq!(name_in_archive(&path).unwrap(), full);
        }
    }

    #[test]
    fn an_archive_without_an_image_name_is_rejected_with_its_path() {
        for entries in [
            &[("manifest.json", r#"[{"RepoTags": null}]"#)][..],
            &[("manifest.json", "{")],
            &[("readme", "no image")],
        ] {
            let (_dir, path) = archive(entries);
            let message = name_in_archive(&path).unwrap_err().to_string();
            assert!(message.contains("image.tar is not an image archive: "), "{message}");
        }
        assert!(name_in_archive(Path::new("/nowhere.tar")).unwrap_err().to_string().contains("No such file"));
    }

    #[test]
    fn a_service_without_an_image_is_rejected_with_what_a_pod_needs() {
        let message = PodImage::of_service(&Service::default()).unwrap_err().to_string();
        assert!(message.contains("cannot start a pod without an image"), "{message}");
    }

    #[test]
    fn what_was_made_here_is_never_pulled() {
        let (_dir, path) = archive(&[("manifest.json", r#"[{"RepoTags": ["localhost/x:1"]}]"#)]);
        let image = |source| PodImage::of(&Image { source, entrypoint: None }).unwrap();
        assert_eq!(image(ImageSource::Archive(path)).pull_policy(), "Never");
        assert_eq!(image(ImageSource::Name("nginx:1.27".to_owned())).pull_policy(), "IfNotPresent");
    }
}
