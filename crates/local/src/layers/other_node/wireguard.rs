//! WireGuard: one device per node with keys generated for this deployment, configured by the `wg` program, and a route across it.

use std::{path::Path, process::Command};

use rtnetlink::LinkWireguard;

use loadline_machine::{Netlink, tool};

use super::{End, LINK_MTU_BYTES};
use crate::{
    error::LocalError,
    layers::{
        Layer,
        unavailable::{or_unavailable, unavailable},
    },
};

/// Where the tool reads a key that must not appear among its arguments; `/dev/stdin`, if it exists, links to it.
const STDIN: &str = "/proc/self/fd/0";
/// The port of WireGuard's own examples.
const PORT: u16 = 51820;
/// What WireGuard's own tools reserve for headers, whether the outer one is IPv4 or IPv6: 40 + 8 + 32.
const HEADERS_BYTES: u32 = 80;

/// Creates both ends and returns the tunnel's MTU in bytes.
pub(super) fn create(ends: &[End; 2], layer: &Layer) -> Result<u32, LocalError> {
    let mtu_bytes = LINK_MTU_BYTES - HEADERS_BYTES;
    let name = layer.to_string();
    let device = |end: &End| {
        let made = end.netns.with_netlink(async |net: &Netlink| {
            net.add(&name, LinkWireguard::new(&name).mtu(mtu_bytes).build()).await
        });
        or_unavailable(made, layer, "wireguard", "CONFIG_WIREGUARD").map(drop)
    };
    ends.iter().try_for_each(device)?;
    let wg = tool::find("wg")
        .ok_or_else(|| unavailable(layer, "the program `wg` is not installed (package `wireguard-tools`)"))?;
    let keys = [Keys::make(&wg)?, Keys::make(&wg)?];
    for (end, here, there) in [(&ends[0], &keys[0], &keys[1]), (&ends[1], &keys[1], &keys[0])] {
        let (to, prefix) = end.beyond;
        let allowed = format!("{}/32,{to}/{prefix}", end.there_inside);
        let mut configure = Command::new(&wg);
        configure
            .args(["set", &name, "listen-port", &PORT.to_string(), "private-key", STDIN])
            .args(["peer", &there.public, "endpoint", &format!("{}:{PORT}", end.there)])
            .args(["allowed-ips", &allowed]);
        end.netns.run(|| tool::run(&mut configure, &here.private).map(drop))?;
        end.netns.with_netlink(async |net: &Netlink| {
            let index = net.index_of(&name).await?;
            net.add_address(index, end.here_inside, 32).await?;
            net.set_up(index).await?;
            net.add_route(index, end.there_inside, 32, None).await?;
            net.add_route(index, to, prefix, None).await
        })?;
    }
    Ok(mtu_bytes)
}

/// A key pair in the tool's own format (base64 and a newline).
struct Keys {
    private: String,
    public: String,
}

impl Keys {
    fn make(wg: &Path) -> Result<Keys, LocalError> {
        let private = tool::run(Command::new(wg).arg("genkey"), "")?;
        let public = tool::run(Command::new(wg).arg("pubkey"), &private)?.trim().to_owned();
        Ok(Keys { private, public })
    }
}
