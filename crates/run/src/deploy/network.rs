//! The network of a run: with a wire between client and node where this user may create one, without it where an ordinary user has to
//! reach containers, clusters or URLs.

use loadline_model::platform::{Capabilities, PortsOf, Starts};

use loadline_model::experiment::{Nodes, Platform};

/// The network of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// This machine's, with a wire from the client to it: needs root.
    Wired,
    /// The same inside a user namespace, to be entered before any thread is started. Nothing outside is reachable from there.
    WiredInUserNamespace,
    /// This machine's, unchanged: the client is on the node itself.
    WithoutWire,
}

/// What an ordinary user cannot measure.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot measure {what} without root: {why}")]
pub struct NeedsRoot {
    what: String,
    why: &'static str,
}

impl Network {
    /// The network that fits the platforms that are used, where services share what they need or not.
    ///
    /// # Errors
    /// When there is none, for an ordinary user.
    pub fn choose<'a>(
        is_root: bool,
        mut platforms: impl Iterator<Item = &'a Platform> + Clone,
        nodes: Nodes,
        shared_needs: bool,
    ) -> Result<Network, NeedsRoot> {
        let is_outside = |platform: &Platform| !capabilities(platform, nodes).fits_user_namespace;
        if is_root {
            Ok(Network::Wired)
        } else if platforms.clone().any(is_outside) {
            platforms.try_for_each(|platform| check_without_wire(platform, nodes, shared_needs))?;
            Ok(Network::WithoutWire)
        } else {
            Ok(Network::WiredInUserNamespace)
        }
    }
}

fn capabilities(platform: &Platform, nodes: Nodes) -> Capabilities {
    platform.kind.capabilities(nodes == Nodes::Own)
}

/// Rejects what needs root: links, rules or folders; and an address of this machine that leads here from a container, too.
fn check_without_wire(platform: &Platform, nodes: Nodes, shared_needs: bool) -> Result<(), NeedsRoot> {
    let capabilities = capabilities(platform, nodes);
    if shared_needs && capabilities.starts == Starts::Image && capabilities.ports == PortsOf::Service {
        let what = format!("`{}` with a shared need", platform.name);
        let why = "the need would be on this machine's loopback, and a container or pod has one of its own. Run loadline as root, or leave \
                   `shared` out";
        return Err(NeedsRoot { what, why });
    }
    let Some(needs) = capabilities.needs_root else { return Ok(()) };
    let what = match needs.option {
        Some(option) => option.to_owned(),
        None => format!("`{}` together with containers, clusters or URLs", platform.name),
    };
    Err(NeedsRoot { what, why: needs.why })
}

#[cfg(test)]
mod tests {
    use loadline_model::platform::{Docker, DockerNetwork, Kubernetes, Layer};

    use super::*;
    use loadline_model::experiment::PlatformKind;

    fn chosen(is_root: bool, kinds: &[PlatformKind]) -> Result<Network, String> {
        let platform = |kind: &PlatformKind| Platform::new("pod", kind.clone());
        let platforms: Vec<Platform> = kinds.iter().map(platform).collect();
        Network::choose(is_root, platforms.iter(), Nodes::Shared, false).map_err(|error| error.to_string())
    }

    fn host() -> PlatformKind {
        PlatformKind::Host
    }

    fn local() -> PlatformKind {
        PlatformKind::Local(vec![Layer::Veth])
    }

    fn docker(network: DockerNetwork) -> PlatformKind {
        PlatformKind::Docker(Docker { network, ..Docker::default() })
    }

    fn kubernetes(static_pod: bool) -> PlatformKind {
        PlatformKind::Kubernetes(Kubernetes { static_pod, ..Kubernetes::default() })
    }

    fn external() -> PlatformKind {
        PlatformKind::External {
            url: "http://192.0.2.1".to_owned(),
            address: "192.0.2.1:80".parse().unwrap(),
            authority: "192.0.2.1".to_owned(),
        }
    }

    #[test]
    fn root_has_a_wire_to_everything() {
        let everything = [host(), local(), docker(DockerNetwork::Macvlan), kubernetes(true), external()];
        assert_eq!(chosen(true, &everything), Ok(Network::Wired));
    }

    #[test]
    fn an_ordinary_user_has_a_wire_in_a_user_namespace_as_long_as_everything_is_in_it() {
        assert_eq!(chosen(false, &[host(), local()]), Ok(Network::WiredInUserNamespace));
        for outside in
            [docker(DockerNetwork::Bridge), docker(DockerNetwork::Host), kubernetes(false), external()]
        {
            assert_eq!(chosen(false, &[host(), outside.clone()]), Ok(Network::WithoutWire), "{outside:?}");
        }
    }

    #[test]
    fn a_host_on_its_own_node_needs_root_beside_what_is_outside() {
        let platform = |kind| Platform::new("any", kind);
        let platforms = [platform(host()), platform(external())];
        assert!(Network::choose(false, platforms.iter(), Nodes::Own, false).is_err());
        assert_eq!(Network::choose(false, platforms.iter(), Nodes::Shared, false), Ok(Network::WithoutWire));
    }

    #[test]
    fn a_shared_need_takes_root_where_a_service_has_a_loopback_of_its_own() {
        let chosen = |kind| {
            let platforms = [Platform::new("any", host()), Platform::new("other", kind)];
            Network::choose(false, platforms.iter(), Nodes::Shared, true).map_err(|error| error.to_string())
        };
        for apart in [docker(DockerNetwork::Bridge), kubernetes(false)] {
            let message = chosen(apart).unwrap_err();
            assert!(
                message.contains("`other` with a shared need") && message.contains("as root"),
                "{message}"
            );
        }
        assert_eq!(chosen(docker(DockerNetwork::Host)), Ok(Network::WithoutWire));
        assert_eq!(chosen(host()), Ok(Network::WiredInUserNamespace));
    }

    #[test]
    fn what_needs_root_is_rejected_by_name_with_an_alternative() {
        for (kinds, name, way) in [
            ([local(), kubernetes(false)], "`pod`", "beside `host` alone"),
            ([local(), external()], "`pod`", "beside `host` alone"),
            ([host(), docker(DockerNetwork::Macvlan)], "{network: macvlan}", "`network: bridge`"),
            ([host(), docker(DockerNetwork::NoneWithWire)], "{network: none-with-wire}", "`network: host`"),
            ([host(), kubernetes(true)], "{static: true}", "leave `static` out"),
        ] {
            let message = chosen(false, &kinds).unwrap_err();
            assert!(
                message.contains(name) && message.contains(way) && message.contains("as root"),
                "{message}"
            );
        }
    }
}
