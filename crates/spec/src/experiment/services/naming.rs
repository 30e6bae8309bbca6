//! What a service without a name is called.

use std::path::Path;

use loadline_model::platform::{Image, ImageSource};

use super::{ServiceKeys, UNNAMED};
use crate::options::Written;
use crate::words::join;
use crate::{Service, Start};

/// The built-in's name with its arguments, or the file name of the program or image.
pub(super) fn short_name(start: Option<&Start>, image: Option<&Image>) -> String {
    match start {
        Some(Start::Builtin { name, args }) if args.is_empty() => name.clone(),
        Some(Start::Builtin { name, args }) => format!("{name} {}", join(args)),
        Some(Start::Command(words)) => {
            let program = words.first().map(Path::new).and_then(Path::file_name);
            program.map_or_else(|| UNNAMED.to_owned(), |name| name.to_string_lossy().into_owned())
        }
        None => image.map_or_else(|| UNNAMED.to_owned(), |image| file_name(&image.source)),
    }
}

fn file_name(image: &ImageSource) -> String {
    match image {
        ImageSource::Name(name) => name.rsplit('/').next().unwrap_or(name).to_owned(),
        ImageSource::Archive(file) | ImageSource::Program(file) => {
            file.file_name().unwrap_or_default().to_string_lossy().into_owned()
        }
    }
}

/// Names commands of the same program by their whole line, where no name was given.
pub(super) fn name_apart(services: &mut [Service], written: &[&Written<ServiceKeys>]) {
    let names: Vec<String> = services.iter().map(|service| service.name.clone()).collect();
    for (service, written) in services.iter_mut().zip(written) {
        if let (None, Some(line)) = (&written.value.name, command_line(service))
            && names.iter().filter(|name| **name == service.name).count() > 1
        {
            service.name = line;
        }
    }
}

/// The whole command of a service that has one.
pub(super) fn command_line(service: &Service) -> Option<String> {
    match &service.start {
        Some(Start::Command(words)) => Some(join(words)),
        _ => None,
    }
}
