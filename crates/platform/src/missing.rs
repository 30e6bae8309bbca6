//! Whether layers can be had at all on this machine and by this user, found out by making them where nobody sees it.

use crate::{
    Error, Ground, Layer, RunName, Service,
    layers::{self, Layers},
    node::Node,
    path,
};

/// Lays a path of these layers on a node of its own in scratch namespaces, which nothing survives, and says why it can't be had:
/// [`Error::LayerMissing`] for what this kernel or user lacks, [`Error::ToolMissing`] for a program, and whatever else
/// [`Local`](crate::Local) would fail with. `None` is a path that can be had. A wish for a cgroup that is left out is a lack here.
///
/// The attempt is registered as a run is: whatever ends it, nothing of it stays. The kernel may load modules for it.
pub fn missing(layers: &[Layer]) -> Option<Error> {
    attempt(layers).err()
}

fn attempt(layers: &[Layer]) -> Result<(), Error> {
    let layers = Layers::check(layers, true)?;
    let ground = Ground::prepare_apart(RunName::random())?;
    let slot = ground.next_slot()?;
    if layers.cgroup {
        layers::cgroup::attempt(&ground, &slot.owner, layers.quota)?;
    }
    let node = Node::make(ground.client(), &slot)?;
    path::lay(&node, &layers, &Service::default(), ground.folder())?;
    drop(node);
    ground.remove()
}
