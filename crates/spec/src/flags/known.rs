//! Flags for a service that is known already: what they say of it wins over what is known, key by key.

use super::{Flags, place, tree};
use crate::Service;
use crate::error::{Complaint, Place, Problem, Problems};
use crate::experiment::service_as_written;
use crate::http;
use crate::machine::Machine;
use crate::node::{Node, Shape};

/// What the flags say, as a file would, with this service.
pub(super) fn tree_for(service: &Service, flags: &Flags, machine: &Machine) -> Result<Node, Vec<Problem>> {
    refuse_others(service, flags)?;
    let mut tree = tree(flags, machine)?;
    let mut known = service_as_written(&giving_way(service, flags));
    if let Some(image) = known.get_mut("image") {
        if let Shape::Scalar(_) = image.shape {
            *image = Node::map([("name", image.clone())], image.place.clone());
        }
        if flags.has("--image") {
            image.remove("archive");
        }
    }
    if let Some(Node { shape: Shape::List(mut given), .. }) = tree.take("services")
        && let Some(given) = given.pop()
    {
        known.merge(given);
    }
    tree.set("services", Node::list(vec![known], Place::CommandLine));
    Ok(tree)
}

/// Refuses flags that name a service.
fn refuse_others(service: &Service, flags: &Flags) -> Result<(), Vec<Problem>> {
    let mut problems = Problems::default();
    let naming = [("--service", &flags.services), ("--command", &flags.commands), ("--vary", &flags.vary)];
    for (flag, given) in naming {
        for line in given {
            let why = format!("`{}` is what is measured, so no other service can be named", service.name);
            problems.add(&place(flag, line), Complaint::new(why).help(format!("leave {flag} out")));
        }
    }
    problems.finish(Some(()))
}

/// The service without what is its own, or its requests' own, where the flags say something for all services or requests: what is common
/// counts only where nothing else is said.
fn giving_way(service: &Service, flags: &Flags) -> Service {
    let mut service = service.clone();
    if flags.has("--limit-cpu") {
        service.limits.cpus = None;
    }
    if flags.has("--limit-memory") {
        service.limits.memory_bytes = None;
    }
    if flags.has("--service-cpus") {
        service.cpus = None;
    }
    let headers: Vec<&str> =
        flags.headers.iter().filter_map(|line| http::split_header(line).ok()).map(|(name, _)| name).collect();
    for request in &mut service.requests {
        request.headers.retain(|(name, _)| !headers.iter().any(|given| given.eq_ignore_ascii_case(name)));
        if flags.body.is_some() && http::WITH_BODY.contains(&request.method.as_str()) {
            request.body = None;
        }
    }
    service
}
