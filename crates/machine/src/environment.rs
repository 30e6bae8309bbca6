//! What all deployments of a run share: the node, the client's namespace, and the wire between them.
//! The client is modelled as remote, so that `host` is not flattered by loopback and NAT acts where it does for real
//! clients; only without the permission to create a wire is the client on the node itself.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fs,
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};

use loadline_model::platform::Limits;

use crate::{
    addresses::{Block, Subnet},
    cgroup::{self, NOT_WRITABLE},
    clean,
    error::{Error, ErrorContext},
    iptables,
    netlink::Netlink,
    netns::Netns,
    nftables,
    owner::{Owner, Role},
    ports::Ports,
    registry::{HostNetworkState, Registry, RunFolder},
    run_name::RunName,
    slots::{Slot, Slots},
    spawner::Spawner,
};

/// What the deployments of one run share. Dropping it removes everything that carries the run's name, deployments
/// included, and kills every service still running; [`Environment::remove`] does the same and reports what failed.
pub struct Environment {
    run: RunName,
    node: Netns,
    client: Netns,
    wire: Option<Subnet>,
    block: Block,
    folder: Arc<RunFolder>,
    cgroups: Option<cgroup::Tree>,
    spawner: Spawner,
    ports: Arc<Ports>,
    slots: Arc<Slots>,
    shared: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    removed: bool,
}

/// A wire from the client into another network namespace. Dropping it removes it; both ends also vanish with either namespace.
pub struct ClientWire {
    client: Netns,
    link: String,
    addresses: Subnet,
}

impl ClientWire {
    /// The client's address on it.
    pub fn client_address(&self) -> Ipv4Addr {
        self.addresses.far
    }

    /// Routes the client's packets for `host` over the wire.
    pub fn lead_to(&self, host: Ipv4Addr) -> Result<(), Error> {
        self.client.with_netlink(async |net: &Netlink| {
            net.add_route(net.index_of(&self.link).await?, host, 32, Some(self.addresses.node)).await
        })
    }
}

impl Drop for ClientWire {
    fn drop(&mut self) {
        let removed = self.client.with_netlink(async |net: &Netlink| {
            net.delete(net.index_of(&self.link).await?, &self.link).await
        });
        if let Err(error) = removed {
            tracing::warn!("cannot remove the link {}: {error}", self.link);
        }
    }
}

impl Environment {
    /// Registers the run with the user's [`Registry`] and creates the wire. The node is the network namespace of the
    /// calling thread.
    pub fn prepare(run: RunName) -> Result<Environment, Error> {
        Environment::prepare_in(&Registry::of_this_user()?, run)
    }

    /// As [`Environment::prepare`], with another registry.
    pub fn prepare_in(registry: &Registry, run: RunName) -> Result<Environment, Error> {
        let mut environment = Environment::register_isolated(registry, run)?;
        let wire = environment.block.wire();
        environment.wire = Some(wire);
        environment.create_wire(&wire)?;
        let owner = Owner::run(run);
        environment.node.run(|| iptables::accept_own_links(&owner))?;
        Ok(environment)
    }

    /// As [`Environment::prepare`] for an ordinary user in the machine's own network namespace: the client is on the
    /// node itself, `host` listens on loopback, and neither links nor rules are created. Layers that need links or
    /// rules, and what needs the wire, are not available there.
    pub fn prepare_without_wire(run: RunName) -> Result<Environment, Error> {
        let node = Netns::current()?;
        let host = HostNetworkState { occupied: Vec::new(), iptables_tables: Vec::new() };
        Environment::register(&Registry::of_this_user()?, run, node.clone(), node, &host)
    }

    /// An environment without a wire, for paths that are built in namespaces of their own behind the client's.
    pub fn prepare_isolated(run: RunName) -> Result<Environment, Error> {
        Environment::register_isolated(&Registry::of_this_user()?, run)
    }

    fn register_isolated(registry: &Registry, run: RunName) -> Result<Environment, Error> {
        let node = Netns::current()?;
        let host = HostNetworkState {
            occupied: node.with_netlink(async |net: &Netlink| net.destinations().await)?,
            iptables_tables: node.run(nftables::ipv4_tables)?,
        };
        Environment::register(registry, run, node, Netns::new()?, &host)
    }

    fn register(
        registry: &Registry,
        run: RunName,
        node: Netns,
        client: Netns,
        host: &HostNetworkState,
    ) -> Result<Environment, Error> {
        let (cgroups, spawner) = (cgroup::Tree::detect()?, Spawner::start()?);
        let folder = registry.register(run, host)?;
        Ok(Environment {
            run,
            node,
            client,
            wire: None,
            block: folder.state().block,
            folder: Arc::new(folder),
            cgroups,
            spawner,
            ports: Arc::default(),
            slots: Arc::default(),
            shared: Mutex::default(),
            removed: false,
        })
    }

    /// The run's name.
    pub fn run(&self) -> RunName {
        self.run
    }

    /// The network namespace in which load threads run.
    pub fn client(&self) -> &Netns {
        &self.client
    }

    /// The node's address on the wire, or on loopback without one: where the client finds `host` services and node
    /// ports.
    pub fn node_address(&self) -> Ipv4Addr {
        self.wire.map_or(Ipv4Addr::LOCALHOST, |wire| wire.node)
    }

    /// The client's address on the wire, or on loopback without one.
    pub fn client_address(&self) -> Ipv4Addr {
        self.wire.map_or(Ipv4Addr::LOCALHOST, |wire| wire.far)
    }

    /// Removes everything that carries the run's name and unregisters the run. What cannot be removed stays registered,
    /// for [`crate::clean`].
    pub fn remove(mut self) -> Result<(), Error> {
        self.tear_down()
    }

    /// The network namespace that the run's services share, unless they have nodes of their own.
    pub fn node(&self) -> &Netns {
        &self.node
    }

    /// Whether there is a wire between the client and the node. Without one they are the same.
    pub fn has_wire(&self) -> bool {
        self.wire.is_some()
    }

    /// The run's addresses.
    pub fn block(&self) -> Block {
        self.block
    }

    /// The run's folder in the registry.
    pub fn folder(&self) -> &Arc<RunFolder> {
        &self.folder
    }

    /// Ports handed out on the node.
    pub fn ports(&self) -> &Arc<Ports> {
        &self.ports
    }

    /// What a platform shares among all its deployments of the run: one value of each type, created when first
    /// requested.
    pub fn shared<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let value = shared.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }

    /// Whether this machine has cgroups with the CPU controllers at all.
    pub fn has_cgroups(&self) -> bool {
        self.cgroups.is_some()
    }

    /// Creates the owner's cgroup, registered before it exists. Where none can be created, it reports so instead of
    /// failing.
    ///
    /// # Errors
    /// When no kernel enforces a limit, or the kernel refuses for a reason other than a lack of permission.
    pub fn create_cgroup(
        &self,
        owner: &Owner,
        cpus: &[usize],
        limits: &Limits,
    ) -> Result<cgroup::Created, Error> {
        let Some(tree) = &self.cgroups else {
            return Ok(cgroup::Created { cgroup: None, left_out: vec![NOT_WRITABLE.to_owned()] });
        };
        let tops = tree.tops(owner.run);
        self.folder.update_state(|state| state.cgroups = tops)?;
        tree.make(owner, cpus, limits)
    }

    pub(crate) fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    /// The name and the addresses of another deployment.
    pub fn next_slot(&self) -> Result<Slot, Error> {
        self.slots.next(self.run, self.block)
    }

    /// Joins the client to another network namespace of this machine by a wire of its own, with the addresses of `slot`.
    pub fn join_client(&self, other: &Netns, slot: &Slot) -> Result<ClientWire, Error> {
        let (link, addresses) = (slot.owner.link(Role::Wire), slot.own().wire);
        self.client.with_netlink(async |net: &Netlink| net.add_veth(&link, other, &link).await)?;
        let wire = ClientWire { client: self.client.clone(), link: link.clone(), addresses };
        self.client.with_netlink(async |net: &Netlink| {
            let index = net.index_of(&link).await?;
            net.add_address(index, addresses.far, addresses.prefix).await?;
            net.set_up(index).await
        })?;
        other.with_netlink(async |net: &Netlink| {
            let index = net.index_of(&link).await?;
            net.add_address(index, addresses.node, addresses.prefix).await?;
            net.set_up(index).await
        })?;
        other.forward_from(&link)?;
        Ok(wire)
    }

    fn create_wire(&self, wire: &Subnet) -> Result<(), Error> {
        let owner = Owner::run(self.run);
        let near = owner.link(Role::Wire);
        self.node.with_netlink(async |net: &Netlink| {
            let index = net.add_veth(&near, &self.client, "eth0").await?;
            net.add_address(index, wire.node, wire.prefix).await?;
            net.set_up(index).await
        })?;
        // A service that closes each connection leaves the client's end waiting for a minute (tcp(7), TIME_WAIT):
        // thousands of requests a second would run out of ports. Neither setting leaves the client's namespace.
        set(&self.client, "ip_local_port_range", "1024 65535")?;
        set(&self.client, "tcp_tw_reuse", "1")?;
        self.client.with_netlink(async |net: &Netlink| {
            let index = net.index_of("eth0").await?;
            net.add_address(index, wire.far, wire.prefix).await?;
            net.set_up(index).await?;
            // Everything: a container or a cluster has addresses of its own.
            net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, Some(wire.node)).await
        })?;
        self.node.forward_from(&near)
    }

    fn tear_down(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        clean::remove_run(&self.folder, &self.node, &self.folder.cleaners(), &mut Vec::new())?;
        self.folder.remove()
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        if let Err(error) = self.tear_down() {
            tracing::warn!("cannot remove all of run {}: {error}", self.run);
        }
    }
}

/// Writes a setting of the namespace (Documentation/networking/ip-sysctl.rst).
fn set(namespace: &Netns, name: &str, value: &str) -> Result<(), Error> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    namespace.run(|| fs::write(&path, value).with_context(|| format!("write {value} to {path}")))
}
