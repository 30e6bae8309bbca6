//! Network namespaces beside ours: those of other programs on this machine that see the same processes as we do.

use std::{collections::HashSet, fs, net::IpAddr, os::unix::fs::MetadataExt, path::Path};

use crate::{error::Error, netlink::Netlink, netns::Netns};

/// The network namespace other than `own` that has this address and a process that sees the same processes as we do, which one in a container
/// does not. Only a program in the machine's own network has neighbours. Namespaces that this user may not enter are passed over.
pub fn neighbour(address: IpAddr, own: &Netns) -> Option<Netns> {
    let (network, processes) = (rustix::fs::fstat(own).ok()?.st_ino, inode(Path::new("/proc/self/ns/pid"))?);
    if inode(Path::new("/proc/1/ns/net"))? != network {
        return None;
    }
    let mut without = HashSet::from([network]);
    let pids = fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.into_iter().find_map(|pid: u32| {
        let namespaces = Path::new("/proc").join(pid.to_string()).join("ns");
        let network = inode(&namespaces.join("net"))?;
        if without.contains(&network) || inode(&namespaces.join("pid"))? != processes {
            return None;
        }
        let found = Netns::of_process(pid).ok()?;
        if has(&found, address).ok()? {
            return Some(found);
        }
        without.insert(network);
        None
    })
}

/// Descriptors of one namespace have one inode (`namespaces(7)`).
fn inode(path: &Path) -> Option<u64> {
    Some(fs::metadata(path).ok()?.ino())
}

fn has(network: &Netns, address: IpAddr) -> Result<bool, Error> {
    Ok(network.with_netlink(async |net: &Netlink| net.addresses().await)?.contains(&address))
}
