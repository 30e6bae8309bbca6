//! `publish: userland-proxy`: docker-proxy handles the published port: it accepts on the node and connects to the container. Docker starts it for every port, but its own rules keep packets from outside away from it; on loopback, where the port is without a wire, they do not (moby, libnetwork/drivers/bridge: `! -d 127.0.0.0/8`).

use std::{fs, net::SocketAddrV4};

use loadline_machine::{Environment, Owner, Role, is_in, nftables};

use crate::error::DockerError;

/// Redirects the client's packets for `published` to docker-proxy, past Docker's address translation.
pub(crate) fn redirect_to_proxy(
    environment: &Environment,
    owner: &Owner,
    published: SocketAddrV4,
) -> Result<(), DockerError> {
    if !is_proxied(environment, published.port()) {
        return Err(DockerError::NoUserlandProxy);
    }
    if !environment.has_wire() {
        return Ok(());
    }
    let wire = Owner::run(owner.run).link(Role::Wire);
    Ok(environment.node().run(|| nftables::install(&rules(owner, &wire, published)))?)
}

/// Translates them to their own destination, before Docker's rules: what is translated once is not translated again (kernel,
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

/// Whether a docker-proxy on the node handles the port (moby, cmd/docker-proxy; `-host-port PORT`).
fn is_proxied(environment: &Environment, port: u16) -> bool {
    let pids = fs::read_dir("/proc").into_iter().flatten();
    let mut pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.any(|pid| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // An ordinary user cannot see the namespaces of root's processes.
        is_proxy_of(&command, port) && is_in(environment.node(), pid).unwrap_or(!environment.has_wire())
    })
}

fn is_proxy_of(command: &[u8], port: u16) -> bool {
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
    fn the_proxy_of_a_port_is_recognised_by_its_arguments() {
        let words =
            ["/usr/sbin/docker-proxy", "-proto", "tcp", "-host-port", "49153", "-container-port", "8080"];
        assert!(is_proxy_of(&command(&words), 49153));
        assert!(!is_proxy_of(&command(&words), 8080) && !is_proxy_of(&command(&words), 4915));
        assert!(!is_proxy_of(&command(&["grep", "-host-port", "49153"]), 49153));
        assert!(!is_proxy_of(b"", 49153));
    }
}
