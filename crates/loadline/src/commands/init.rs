//! `loadline init`: a commented experiment for what is found here, which runs as it is.

mod find;

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};

use crate::arguments::InitArguments;
use crate::exit::{Exit, UsageError};
use crate::streams::print;
use find::{Found, find};

pub fn init(arguments: &InitArguments) -> Result<Exit> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let found = find(&here);
    let file = &arguments.file;
    write_new(file, &text(&here, &found))?;
    for line in found.lines() {
        print(format_args!("found {line}"))?;
    }
    let file = file.display();
    print(format_args!(
        "wrote {file}: loadline plan {file} shows what it does, loadline run {file} does it"
    ))?;
    Ok(Exit::Done)
}

/// A file that is there already stays as it is.
fn write_new(file: &Path, text: &str) -> Result<()> {
    let created = File::create_new(file);
    if created.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        let why = format!("{} is there already: name another file, or remove it", file.display());
        return Err(UsageError(why).into());
    }
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// The experiment. What needs something that is not known to be there is in comments.
fn text(here: &Path, found: &Found) -> String {
    let name = here.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
    let mut text = String::from(
        "# An experiment for loadline. Every key is described in docs/experiment-files.md, and by `loadline schema experiment`.\n",
    );
    text.push_str(&format!("name: {}\n\n", if name.is_empty() { "service" } else { &name }));
    match found.port {
        Some(_) => text.push_str(concat!(
            "service: # it runs already\n",
            "  name: service\n",
            "  requests: [GET /] # or 3 GET /a, with a weight\n",
        )),
        None => text.push_str(concat!(
            "service:\n",
            "  builtin: orders # until it is your own:\n",
            "  # command: ./server --port {port}\n",
            "  # requests: [GET /]\n",
        )),
    }
    if found.dockerfile {
        text.push_str(&format!("  # image: {name} # after docker build -t {name} .\n"));
    } else {
        text.push_str("  # image: ./service.tar # of loadline image, see docs/own-service.md\n");
    }
    text.push_str("  # limits: {cpu: 1, memory: 512Mi}\n\nplatforms: # the first is the baseline\n");
    match found.port {
        Some(port) => text.push_str(&format!("  - external: http://127.0.0.1:{port}\n  # - external: http://127.0.0.1:8081 # another version of it\n")),
        None => text.push_str("  - host\n  - pod # the path of a Kubernetes pod, built by loadline\n"),
    }
    text.push_str("  # - docker # needs the image\n");
    for manifest in &found.manifests {
        let find::Manifest { file, workload } = manifest;
        text.push_str(&format!(
            "  # - kubernetes: {{manifests: {}, workload: {workload}}}\n",
            file.display()
        ));
    }
    if found.manifests.is_empty() {
        text.push_str("  # - kubernetes # needs the image, and a kubeconfig\n");
    }
    text.push_str(concat!(
        "\nloads:\n",
        "  - {rate: 500/s}\n",
        "  # - {closed: true, connections: 32} # as much as it carries\n",
        "\n",
        "plan:\n",
        "  deployments: 8 # more of them make the intervals narrower\n",
        "\n",
        "# fail_if: [p99 slower by > 5%] # then the exit code is 4\n",
    ));
    text
}

#[cfg(test)]
mod tests {
    use loadline_spec::{Machine, from_yaml};

    use super::*;

    #[test]
    fn whatever_is_found_is_an_experiment() {
        let manifest =
            find::Manifest { file: "k8s/shop.yaml".into(), workload: "deployment/shop".to_owned() };
        for found in [
            Found::default(),
            Found { port: Some(8080), ..Found::default() },
            Found { dockerfile: true, manifests: vec![manifest], ..Found::default() },
        ] {
            for folder in ["/srv/shop", "/srv/a: b # c", "/"] {
                let text = text(folder.as_ref(), &found);
                from_yaml("loadline.yaml", text.as_bytes(), &Machine::this(&|_, _| Ok(())))
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
            }
        }
    }
}
