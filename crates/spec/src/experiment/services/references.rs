//! The reference services of `services/`, as `make services` leaves them: for each a folder of files that run where they are, an image of
//! it, and a document that says how it is started.

use std::path::{Path, PathBuf};

use loadline_model::platform::{Image, ImageSource};
use serde::Deserialize;

use crate::error::{Complaint, suggestion};

/// A reference service that was built.
#[derive(Debug, Deserialize)]
pub struct Reference {
    /// Its thread models; the first is the default.
    pub modes: Vec<String>,
    /// Where its files are.
    pub directory: PathBuf,
    /// Program and arguments on this machine.
    pub command: Vec<String>,
}

/// What loadline asks of a mode unless the experiment says otherwise.
pub fn request(mode: &str) -> String {
    format!("/hello/{mode}?key=42")
}

/// Where every reference service says that it is ready.
pub const READY: &str = "/healthz";
/// The environment variable that chooses the mode.
pub const MODE: &str = "MODE";

impl Reference {
    /// Whether one of this name was built.
    pub fn is_built(services: &Path, name: &str) -> bool {
        built(services).iter().any(|built| built == name)
    }

    /// Reads what was built of a service.
    pub fn find(services: &Path, name: &str) -> Result<Reference, Complaint> {
        let folder = services.display();
        let refuse = |complaint: String, help: String| Err(Complaint::new(complaint).help(help));
        if !Reference::is_built(services, name) {
            let built = built(services);
            let known: Vec<&str> = built.iter().map(String::as_str).collect();
            let complaint = format!("the reference service `{name}` is not in {folder}");
            let build = "`make services` builds them; LOADLINE_SERVICES names another folder";
            return match known[..] {
                [] => refuse(complaint, build.to_owned()),
                _ => refuse(complaint, format!("{} ({build})", suggestion(name, &known))),
            };
        }
        let path = services.join(format!("{name}.json"));
        let read = std::fs::read(&path).map_err(|error| error.to_string());
        read.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string())).or_else(
            |why| {
                refuse(
                    format!("cannot read {}: {why}", path.display()),
                    format!("`make services SERVICES={name}` writes it anew"),
                )
            },
        )
    }

    /// The mode that is asked for, or the first.
    pub fn mode<'a>(&'a self, name: &str, asked: Option<&'a str>) -> Result<&'a str, Complaint> {
        match asked {
            None => Ok(self.modes.first().map_or("", String::as_str)),
            Some(mode) if self.modes.iter().any(|known| known == mode) => Ok(mode),
            Some(mode) => {
                let known: Vec<&str> = self.modes.iter().map(String::as_str).collect();
                let complaint = Complaint::new(format!("`{name}` has no mode `{mode}`"));
                Err(complaint.help(suggestion(mode, &known)))
            }
        }
    }

    /// Its image, if one was made.
    pub fn image(services: &Path, name: &str) -> Option<Image> {
        let archive = services.join(format!("{name}.tar"));
        archive.is_file().then_some(Image { source: ImageSource::Archive(archive), entrypoint: None })
    }
}

/// Each service in the folder with each of its modes: `quarkus virtual`. One that cannot be read is left out.
pub fn lines(services: &Path) -> Vec<String> {
    let lines = |name: String| {
        let modes = Reference::find(services, &name).map_or_else(|_| Vec::new(), |found| found.modes);
        modes.into_iter().map(move |mode| format!("{name} {mode}"))
    };
    built(services).into_iter().flat_map(lines).collect()
}

/// The services in the folder, by name.
fn built(services: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(services).into_iter().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .collect();
    names.sort();
    names
}
