//! `loadline image`: the archive of an image that holds one static program, loadline's own or the user's, or a folder of the user's with the
//! programs that run it.

mod destination;

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;
use clap::Subcommand;
use jiff::Timestamp;
use loadline_image::{Archive, Image, ImageError, ImageName, MissingLibrary, PORT, Program};

use crate::arguments::{ImageArguments, ServeCommand};
use crate::commands::serve;
use crate::exit::{Exit, UsageError};
use crate::outputs::is_stdout;
use crate::streams::{print, tell};
use destination::Destination;

/// The name of loadline's own program in an image, and of the argument that asks for it alone.
const SELF: &str = "loadline";

pub fn image(arguments: &ImageArguments) -> Result<Exit> {
    let image = described(arguments)?;
    let archive = image.archive()?;
    let exit = Destination::open(&arguments.output, image.origins())?.write(&archive)?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    if let Some(note) = note(image.left_out()) {
        tell(note);
    }
    let text = summary(&image, &archive, &arguments.output);
    if is_stdout(&arguments.output) {
        tell(text);
    } else {
        print(text)?;
    }
    Ok(Exit::Done)
}

/// The image that was asked for. Whatever is wrong with it is wrong with what was typed.
fn described(arguments: &ImageArguments) -> Result<Image, UsageError> {
    let is_own = |word: &str| word == SELF || ServeCommand::has_subcommand(word);
    let is_folder = arguments.program.is_dir() && !arguments.program.to_str().is_some_and(is_own);
    if !is_folder && !arguments.with.is_empty() {
        let shown = arguments.program.display();
        return Err(UsageError(format!(
            "--with adds programs to the image of a folder, and {shown} is none: name the folder that the service is in"
        )));
    }
    let mut image = match arguments.program.to_str() {
        Some(SELF) => own(arguments.arguments.clone())?,
        Some(service) if ServeCommand::has_subcommand(service) => {
            let mut given = vec!["--listen".to_owned(), format!("0.0.0.0:{PORT}")];
            given.extend(arguments.arguments.iter().cloned());
            serve::check(service, &given).map_err(|why| UsageError(format!("{service}: {why}")))?;
            own(["serve".to_owned(), service.to_owned()].into_iter().chain(given).collect())?
        }
        _ if is_folder => {
            Image::of_folder(&arguments.program, &arguments.with, &arguments.arguments).map_err(refused)?
        }
        _ => {
            let program =
                Program::open(&arguments.program).map_err(|error| unknown(&arguments.program, error))?;
            let name = arguments.program.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
            let mut image = Image::new(program, &name).map_err(refused)?;
            image.command.clone_from(&arguments.arguments);
            image
        }
    };
    if let Some(name) = &arguments.name {
        image.name = ImageName::parse(name, image.tag()).map_err(refused)?;
    }
    image.created = created()?;
    Ok(image)
}

/// This very program, with the arguments that it gets in a container.
fn own(command: Vec<String>) -> Result<Image, UsageError> {
    let mut image = Image::new(Program::running().map_err(refused)?, SELF).map_err(refused)?;
    image.version = Some(env!("CARGO_PKG_VERSION").to_owned());
    image.command = command;
    Ok(image)
}

fn refused(error: ImageError) -> UsageError {
    UsageError(error.to_string())
}

/// A bare word that is no file may be a service misspelt.
fn unknown(program: &Path, error: ImageError) -> UsageError {
    let is_missing =
        matches!(&error, ImageError::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
    if is_missing && program.components().count() == 1 {
        let serve = ServeCommand::augment_subcommands(clap::Command::new("serve"));
        let services: Vec<&str> = serve.get_subcommands().map(clap::Command::get_name).collect();
        let services = services.join(", ");
        return UsageError(format!(
            "{error}; built-in services are {services}, and {SELF} is the program itself"
        ));
    }
    refused(error)
}

/// 1970, or what SOURCE_DATE_EPOCH says (reproducible-builds.org/specs/source-date-epoch): seconds since then.
fn created() -> Result<Timestamp, UsageError> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(Timestamp::UNIX_EPOCH) };
    let time = text.to_str().and_then(|text| text.parse().ok()).and_then(|s| Timestamp::from_second(s).ok());
    time.filter(|time| *time >= Timestamp::UNIX_EPOCH).ok_or_else(|| {
        UsageError(format!("SOURCE_DATE_EPOCH={}: it should be seconds since 1970, or unset", text.display()))
    })
}

/// What was written and how to load it, a line each.
fn summary(image: &Image, archive: &Archive, output: &Path) -> String {
    let megabytes = archive.size_bytes() as f64 / 1e6;
    let mut lines = vec![
        image.name.to_string(),
        format!("{megabytes:.1} MB · linux/{} · {}", image.architecture(), archive.image_id()),
    ];
    if archive.layers().count() > 1 {
        lines
            .extend(archive.layers().map(|(title, bytes)| format!("  {:.1} MB {title}", bytes as f64 / 1e6)));
    }
    // A name that shells can't have is shown as it is.
    let shown = output.display().to_string();
    let file = shlex::try_quote(&shown).map_or(shown.clone(), Into::into);
    if !is_stdout(output) {
        let loaders =
            ["docker load -i", "podman load -i", "ctr -n k8s.io images import", "kind load image-archive"];
        lines.extend(loaders.map(|loader| format!("  {loader} {file}")));
    }
    lines.join("\n")
}

/// What could be missed in a container, if it is used at all; the libraries with the first file that needs each.
fn note(left_out: &[MissingLibrary]) -> Option<String> {
    let mut libraries: Vec<String> = Vec::new();
    let mut last = None;
    for missing in left_out {
        if last != Some(&missing.library) {
            libraries.push(format!("{} ({})", missing.library, missing.needed_by.display()));
            last = Some(&missing.library);
        }
    }
    let note = "note: not in the image, as this machine does not have them either:";
    (!libraries.is_empty()).then(|| format!("{note} {}", libraries.join(", ")))
}
