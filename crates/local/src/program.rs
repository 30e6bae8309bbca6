//! The program of a service: its file, arguments and environment.

use std::{
    ffi::{OsStr, OsString},
    net::SocketAddrV4,
    path::{Path, PathBuf},
};

use loadline_machine::{ErrorContext, Launch, Variables, tool};
use loadline_platform::Service;

use crate::error::LocalError;

/// The file, the arguments and the environment of a service, with placeholders filled in.
pub(crate) fn of(service: &Service, listen: SocketAddrV4) -> Result<Launch, LocalError> {
    let (host, port) = (listen.ip().to_string(), listen.port());
    let fill = |text: &String| OsString::from(service.fill(text, &host, port));
    let own_path =
        service.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    let name = service.argv.first().ok_or(LocalError::EmptyCommand)?;
    let path = find(name, own_path)?;

    let mut variables: Variables = std::env::vars_os().collect();
    variables.insert("HOST".into(), (&host).into());
    variables.insert("PORT".into(), port.to_string().into());
    variables.extend(service.env.iter().map(|(name, value)| (name.into(), fill(value))));
    let arguments = service.argv.iter().map(fill).collect();
    Ok(Launch { path, arguments, variables, working_dir: service.working_dir.clone(), third: None })
}

/// The file of a command: with a slash a path relative to loadline's working directory, otherwise the first match in PATH.
fn find(name: &str, path: Option<&OsStr>) -> Result<PathBuf, LocalError> {
    let not_found = |searched| LocalError::CommandNotFound { command: name.to_owned(), searched };
    if name.contains('/') {
        let file = std::path::absolute(name).with_context(|| format!("make {name} an absolute path"))?;
        return if tool::is_executable(&file) {
            Ok(file)
        } else if file.exists() {
            Err(LocalError::NotExecutable { path: file })
        } else {
            Err(not_found("there is no such file".to_owned()))
        };
    }
    let path = path.map(OsStr::to_owned).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let files = || std::env::split_paths(&path).map(|dir| dir.join(name));
    if let Some(file) = files().find(|file| tool::is_executable(file)) {
        return Ok(file);
    }
    match files().find(|file| Path::is_file(file)) {
        Some(path) => Err(LocalError::NotExecutable { path }),
        None => Err(not_found(format!("searched PATH: {}", path.to_string_lossy()))),
    }
}
