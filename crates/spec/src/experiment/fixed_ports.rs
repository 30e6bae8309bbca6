//! Ports that services, and what they need, insist on: each is free, and only one of them at a time wants it.

use loadline_model::plan::Plan;
use loadline_model::platform::PortsOf;

use super::ExperimentKeys;
use super::services::{self, need_places, port_place};
use crate::error::{Complaint, Place, Problems};
use crate::machine::Machine;
use crate::options::Written;
use crate::{Experiment, Isolation, Nodes, Platform, Service};

const HELP: &str =
    "leave `port` out and let the service take {port} or $PORT, or write `isolation: exclusive`";
/// Where they are there at the same time whatever the isolation is.
const HELP_BESIDE: &str = "leave `port` out of one of the two, and let that take {port} or $PORT";
const HELP_NEED: &str =
    "leave `port` out and let it take {port} or $PORT, or write `shared: true` or `isolation: exclusive`";

/// Something that insists on a port.
struct Wish<'a> {
    port: u16,
    name: &'a str,
    /// The service that it is, or that needs it.
    service: usize,
    /// Whether there could be one for all services.
    may_be_shared: bool,
    /// Whether there is one of it until the run ends, on this machine.
    shared: bool,
    place: &'a Place,
}

/// The deployments of a service, with what each of them needs.
struct Deployments {
    /// How many of them listen among the ports of a node.
    on_node: usize,
    /// Whether one of these nodes is surely this machine.
    here: bool,
    twin: bool,
}

/// Notes the ports that are in use, and those that are wanted more than once at the same time.
pub(super) fn fixed_ports(
    experiment: &Experiment,
    keys: &Written<ExperimentKeys>,
    machine: &Machine,
    problems: &mut Problems,
) {
    let at_once = experiment.plan.isolation == Isolation::Shared;
    let written = services::written(&keys.value);
    let mut granted: Vec<Wish> = Vec::new();
    for (at, (service, written)) in experiment.services.iter().zip(&written).enumerate() {
        let deployments = deployments(experiment, at);
        for wish in wishes(at, service, port_place(written), need_places(&written.value)) {
            let is_same = |other: &Wish| wish.shared && other.shared && wish.name == other.name;
            if !wish.shared && deployments.on_node == 0 || granted.iter().any(is_same) {
                continue;
            }
            let port = wish.port;
            let mut refuse = |message: String, help: &str| {
                problems.add(wish.place, Complaint::new(message).help(help));
            };
            if (wish.shared || deployments.here) && (machine.listens)(port) {
                let help = "stop what listens there: `ss -ltnp` names it";
                refuse(format!("port {port} is in use on this machine"), help);
            }
            let is_beside = |other: &Wish| wish.shared || other.shared || wish.service == other.service;
            let conflicts = |other: &&Wish| other.port == port && (at_once || is_beside(other));
            if at_once && !wish.shared && deployments.on_node > 1 {
                let twin = if deployments.twin { ", the baseline's twin included" } else { "" };
                let count = deployments.on_node;
                let message = format!("{count} deployments need port {port} at the same time{twin}");
                refuse(message, if wish.may_be_shared { HELP_NEED } else { HELP });
            } else if let Some(other) = granted.iter().find(conflicts) {
                let message = format!("port {port} is needed by `{}` at the same time", other.name);
                refuse(message, if is_beside(other) { HELP_BESIDE } else { HELP });
            }
            granted.push(wish);
        }
    }
}

/// The ports that a service and its needs insist on.
fn wishes<'a>(
    at: usize,
    service: &'a Service,
    place: &'a Place,
    need_places: impl Iterator<Item = &'a Place>,
) -> Vec<Wish<'a>> {
    let own = service.port.map(|port| Wish {
        port,
        name: &service.name,
        service: at,
        may_be_shared: false,
        shared: false,
        place,
    });
    let needs = service.needs.iter().zip(need_places).filter_map(|(need, place)| {
        let port = need.port?;
        let may_be_shared = !need.proxy;
        Some(Wish { port, name: &need.name, service: at, may_be_shared, shared: need.shared, place })
    });
    own.into_iter().chain(needs).collect()
}

fn deployments(experiment: &Experiment, service: usize) -> Deployments {
    let own_nodes = experiment.plan.nodes == Nodes::Own;
    let has_own_node =
        |platform: &Platform| own_nodes && platform.kind.capabilities(own_nodes).takes_own_node;
    let sites = Plan::new(experiment).sites;
    let sites: Vec<_> = sites
        .iter()
        .filter(|site| site.service.0 == service)
        .map(|site| (site, experiment.platform(site.platform)))
        .collect();
    let on_node = |platform: &Platform| !has_own_node(platform) && shares_the_nodes_ports(platform);
    Deployments {
        on_node: sites.iter().filter(|(_, platform)| on_node(platform)).count(),
        here: sites.iter().any(|(_, platform)| !has_own_node(platform) && is_surely_here(platform)),
        twin: sites.iter().any(|(site, _)| site.twin),
    }
}

/// Whether a service there listens among the ports of a node; behind a veth it has a network namespace of its own.
fn shares_the_nodes_ports(platform: &Platform) -> bool {
    platform.kind.capabilities(false).ports != PortsOf::Service
}

/// Whether its ports are this machine's: the node of a pod may be any other, and is asked once it is known.
fn is_surely_here(platform: &Platform) -> bool {
    platform.kind.capabilities(false).ports == PortsOf::Machine
}
