//! `publish: userland-proxy`: the published port is carried by the process docker-proxy, which accepts on the node and
//! connects to the container. Docker starts it for every port, but its own rules keep packets from outside away from it; on loopback, where
//! the port is without a wire, they don't (moby, libnetwork/drivers/bridge: `! -d 127.0.0.0/8`).

use std::{fs, net::SocketAddrV4};

use loadline_machine::{Environment, Owner, Role, is_in, nftables};

use crate::error::DockerError;

/// Leads the client's packets for `published` to the process, past Docker's translation of addresses.
pub(crate) fn lead_to(
    environment: &Environment,
    owner: &Owner,
    published: SocketAddrV4,
) -> Result<(), DockerError> {
    if !is_carried(environment, published.port()) {
        return Err(DockerError::NoUserlandProxy);
    }
    if !environment.has_wire() {
        return Ok(());
    }
    let wire = Owner::run(owner.run).link(Role::Wire);
    Ok(environment.node().run(|| nftables::install(&rules(owner, &wire, published)))?)
}

/// Translated to where it goes anyway, before Docker's rules: what is translated once isn't translated again (kernel,
/// net/netfilter/nf_nat_core.c, `nf_nat_inet_fn`), whichever kind of rules the others are.
fn rules(owner: &Owner, wire: &str, published: SocketAddrV4) -> String {
    format!(
        "table ip {} {{ chain to-docker-proxy {{ type nat hook prerouting priority dstnat - 10; \
         iifname \"{wire}\" ip daddr {} tcp dport {} dnat to {published}; }}; }}\n",
        owner.label(),
        published.ip(),
        published.port(),
    )
}

/// Whether a docker-proxy of the node carries the port (moby, cmd/docker-proxy; `-host-port PORT`).
fn is_carried(environment: &Environment, port: u16) -> bool {
    let pids = fs::read_dir("/proc").into_iter().flatten();
    let mut pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.any(|pid| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // An ordinary user isn't told where root's processes are.
        carries(&command, port) && is_in(environment.node(), pid).unwrap_or(!environment.has_wire())
    })
}

fn carries(command: &[u8], port: u16) -> bool {
    let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
    let is_proxy = words.first().is_some_and(|program| program.ends_with(b"docker-proxy"));
    is_proxy && words.windows(2).any(|pair| pair == [&b"-host-port"[..], port.to_string().as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Vec<u8> {
        words.iter().flat_map(|word| word.bytes().chain([0])).collect()
    }

    #[test]
    fn the_proxy_of_a_port_is_known_by_its_arguments() {
        let words =
            ["/usr/sbin/docker-proxy", "-proto", "tcp", "-host-port", "49153", "-container-port", "8080"];
        assert!(carries(&command(&words), 49153));
        assert!(!carries(&command(&words), 8080) && !carries(&command(&words), 4915));
        assert!(!carries(&command(&["grep", "-host-port", "49153"]), 49153));
        assert!(!carries(b"", 49153));
    }
}
