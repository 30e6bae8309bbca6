//! What all deployments of a run share: the node, the client's namespace, and the wire between them.
//! The client is modelled as remote, so that `host` isn't flattered by loopback and NAT acts where it does for others; only who may lay
//! no wire has the client on the node itself.

use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    Error, Netns, Registry, RunName,
    addresses::{Block, Subnet},
    cgroup, clean,
    error::Doing,
    iptables,
    kubernetes::Clusters,
    netlink::{self, Netlink},
    nftables,
    owner::{Owner, Role},
    ports::Ports,
    registry::{RunFolder, Surroundings},
    slots::{Slot, Slots},
    spawner::Spawner,
};

/// The shared ground of one run. Dropping it removes everything that carries the run's name, deployments included,
/// and kills every service still running; [`Ground::remove`] does the same and says what failed.
pub struct Ground {
    run: RunName,
    node: Netns,
    client: Netns,
    wire: Option<Subnet>,
    block: Block,
    folder: Arc<RunFolder>,
    cgroups: Option<cgroup::Tree>,
    spawner: Spawner,
    ports: Arc<Ports>,
    clusters: Clusters,
    program: Option<PathBuf>,
    slots: Arc<Slots>,
    docker: Option<String>,
    removed: bool,
}

impl Ground {
    /// Registers the run with the user's [`Registry`] and lays the wire. The node is the network namespace of the
    /// calling thread.
    pub fn prepare(run: RunName) -> Result<Ground, Error> {
        Ground::prepare_in(&Registry::of_this_user()?, run)
    }

    /// As [`Ground::prepare`], with another registry.
    pub fn prepare_in(registry: &Registry, run: RunName) -> Result<Ground, Error> {
        let mut ground = Ground::register_apart(registry, run)?;
        let wire = ground.block.wire();
        ground.wire = Some(wire);
        ground.lay(&wire)?;
        let owner = Owner::run(run);
        ground.node.run(|| iptables::pass_own_links(&owner))?;
        Ok(ground)
    }

    /// As [`Ground::prepare`] for an ordinary user in the machine's own network namespace: the client is on the node itself, `host` listens
    /// on loopback, and neither links nor rules are made. Layers that are made of those, and what stands on the wire, can't be had there.
    pub fn prepare_without_wire(run: RunName) -> Result<Ground, Error> {
        let node = Netns::current()?;
        let around = Surroundings { occupied: Vec::new(), iptables_tables: Vec::new() };
        Ground::register(&Registry::of_this_user()?, run, node.clone(), node, &around)
    }

    /// A ground without a wire, for what is laid in namespaces of its own behind the client's.
    pub(crate) fn prepare_apart(run: RunName) -> Result<Ground, Error> {
        Ground::register_apart(&Registry::of_this_user()?, run)
    }

    fn register_apart(registry: &Registry, run: RunName) -> Result<Ground, Error> {
        let node = Netns::current()?;
        let around = Surroundings {
            occupied: netlink::talk(&node, async |net: &Netlink| net.destinations().await)?,
            iptables_tables: node.run(nftables::ipv4_tables)?,
        };
        Ground::register(registry, run, node, Netns::new()?, &around)
    }

    fn register(
        registry: &Registry,
        run: RunName,
        node: Netns,
        client: Netns,
        around: &Surroundings,
    ) -> Result<Ground, Error> {
        let (cgroups, spawner) = (cgroup::Tree::detect()?, Spawner::start()?);
        let folder = registry.register(run, around)?;
        Ok(Ground {
            run,
            node,
            client,
            wire: None,
            block: folder.state().block,
            folder: Arc::new(folder),
            cgroups,
            spawner,
            ports: Arc::default(),
            clusters: Clusters::default(),
            program: None,
            slots: Arc::default(),
            docker: None,
            removed: false,
        })
    }

    /// Has containers made by the Docker daemon whose API is at `endpoint`, `unix:///PATH` or `tcp://HOST:PORT`. Otherwise DOCKER_HOST says
    /// where it is, or it is looked for at the usual sockets of Docker and Podman. It must be in the node's network namespace.
    pub fn use_docker_at(&mut self, endpoint: impl Into<String>) {
        self.docker = Some(endpoint.into());
    }

    /// The run's name.
    pub fn run(&self) -> RunName {
        self.run
    }

    /// Where load threads belong.
    pub fn client(&self) -> &Netns {
        &self.client
    }

    /// The node's address on the wire, or on loopback without one: where the client finds `host` services and node ports.
    pub fn node_address(&self) -> Ipv4Addr {
        self.wire.map_or(Ipv4Addr::LOCALHOST, |wire| wire.node)
    }

    /// The client's address on the wire, or on loopback without one.
    pub fn client_address(&self) -> Ipv4Addr {
        self.wire.map_or(Ipv4Addr::LOCALHOST, |wire| wire.far)
    }

    /// Names the program that clusters run as `loadline agent`, from an image that holds nothing else. Without this it is the one
    /// that is running.
    pub fn set_program(&mut self, path: impl Into<PathBuf>) {
        self.program = Some(path.into());
    }

    /// Removes everything that carries the run's name and strikes it off the registry. What failed stays registered,
    /// for [`crate::clean`].
    pub fn remove(mut self) -> Result<(), Error> {
        self.tear_down()
    }

    pub(crate) fn node(&self) -> &Netns {
        &self.node
    }

    pub(crate) fn has_wire(&self) -> bool {
        self.wire.is_some()
    }

    pub(crate) fn block(&self) -> Block {
        self.block
    }

    pub(crate) fn folder(&self) -> &Arc<RunFolder> {
        &self.folder
    }

    pub(crate) fn cgroups(&self) -> Option<&cgroup::Tree> {
        self.cgroups.as_ref()
    }

    pub(crate) fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    pub(crate) fn docker(&self) -> Option<&str> {
        self.docker.as_deref()
    }

    pub(crate) fn ports(&self) -> &Arc<Ports> {
        &self.ports
    }

    pub(crate) fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    pub(crate) fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The name and the addresses of a further deployment.
    pub(crate) fn next_slot(&self) -> Result<Slot, Error> {
        self.slots.next(self.run, self.block)
    }

    fn lay(&self, wire: &Subnet) -> Result<(), Error> {
        let owner = Owner::run(self.run);
        let (near, far) = (owner.link(Role::Wire), owner.link(Role::Peer));
        netlink::talk(&self.node, async |net: &Netlink| {
            let index = net.add_veth(&near, &far, &self.client, "eth0").await?;
            net.add_address(index, wire.node, wire.prefix).await?;
            net.up(index).await
        })?;
        // A service that closes each connection leaves the client's end waiting for a minute (tcp(7), TIME_WAIT): thousands of
        // requests a second would run out of ports. Neither setting leaves the client's namespace.
        set(&self.client, "ip_local_port_range", "1024 65535")?;
        set(&self.client, "tcp_tw_reuse", "1")?;
        netlink::talk(&self.client, async |net: &Netlink| {
            let index = net.index_of("eth0").await?;
            net.add_address(index, wire.far, wire.prefix).await?;
            net.up(index).await?;
            // Everything: a container or a cluster has addresses of its own.
            net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, Some(wire.node)).await
        })?;
        forward_from(&self.node, &near)
    }

    fn tear_down(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        clean::remove_run(&self.folder.state(), &self.node, &mut Vec::new())?;
        self.folder.remove()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Err(error) = self.tear_down() {
            tracing::warn!("run {} was not removed wholly: {error}", self.run);
        }
    }
}

/// Writes a setting of the namespace (Documentation/networking/ip-sysctl.rst).
fn set(namespace: &Netns, name: &str, value: &str) -> Result<(), Error> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    namespace.run(|| fs::write(&path, value).doing(|| format!("write {value} to {path}")))
}

/// Lets the node forward what comes in by `link`. The kernel looks at the flag of the incoming link, so the
/// machine's own setting stays as it is, and this one vanishes with the link.
pub(crate) fn forward_from(node: &Netns, link: &str) -> Result<(), Error> {
    let setting = format!("/proc/sys/net/ipv4/conf/{link}/forwarding");
    node.run(|| fs::write(&setting, "1").doing(|| format!("write 1 to {setting}")))
}
