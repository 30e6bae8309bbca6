//! Whether layers are available on this machine and to this user, determined by creating them in scratch namespaces.

use loadline_machine::{Environment, Node, RunName};
use loadline_model::platform::{Layer, Layers};
use loadline_platform::Service;

use crate::{error::LocalError, layers, path};

/// Builds a path of these layers on a node of its own in scratch namespaces, which vanish, and returns why it is not available:
/// [`LocalError::LayerMissing`] for what this kernel or user lacks, [`loadline_machine::Error::ToolMissing`] for a program, and whatever
/// else [`Local`](crate::Local) would fail with. `None` is a path that is available. A cgroup that would be left out is an error here. The
/// The attempt is registered as a run is: however it ends, nothing of it remains. The kernel may load modules for it.
pub fn missing(layers: &[Layer]) -> Option<LocalError> {
    try_create(layers).err()
}

fn try_create(layers: &[Layer]) -> Result<(), LocalError> {
    let layers = Layers::check(layers, true)?;
    let environment = Environment::prepare_isolated(RunName::random())?;
    let slot = environment.next_slot()?;
    if layers.cgroup {
        layers::cgroup::try_create(&environment, &slot.owner, layers.quota)?;
    }
    let node = Node::create(environment.client(), &slot)?;
    path::build(&node, &layers, &Service::default(), environment.folder())?;
    drop(node);
    Ok(environment.remove()?)
}
