//! Whether layers can be had at all on this machine and by this user, found out by making them where nobody sees it.

use loadline_machine::{Environment, Node, RunName};
use loadline_model::platform::{Layer, Layers};
use loadline_platform::Service;

use crate::{error::LocalError, layers, path};

/// Lays a path of these layers on a node of its own in scratch namespaces, which nothing survives, and says why it can't be had:
/// [`LocalError::LayerMissing`] for what this kernel or user lacks, [`loadline_machine::Error::ToolMissing`] for a program, and whatever else
/// [`Local`](crate::Local) would fail with. `None` is a path that can be had. A wish for a cgroup that is left out is a lack here.
///
/// The attempt is registered as a run is: whatever ends it, nothing of it stays. The kernel may load modules for it.
pub fn missing(layers: &[Layer]) -> Option<LocalError> {
    attempt(layers).err()
}

fn attempt(layers: &[Layer]) -> Result<(), LocalError> {
    let layers = Layers::check(layers, true)?;
    let environment = Environment::prepare_apart(RunName::random())?;
    let slot = environment.next_slot()?;
    if layers.cgroup {
        layers::cgroup::attempt(&environment, &slot.owner, layers.quota)?;
    }
    let node = Node::make(environment.client(), &slot)?;
    path::lay(&node, &layers, &Service::default(), environment.folder())?;
    drop(node);
    Ok(environment.remove()?)
}
