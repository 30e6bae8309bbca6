//! Facts that are visible only on the node itself, when it is this machine: kube-proxy's mode, the plugins' settings, the rules.

use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;

use loadline_machine::{Netns, tool};

use super::Cni;

/// Where kube-proxy answers by default (`--metrics-bind-address`).
const PROXY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 10249);
const PROXY_TIMEOUT: Duration = Duration::from_secs(1);
/// The default paths of the plugins' settings, and of containerd's own.
const PLUGINS: &str = "/etc/cni/net.d";
const RUNTIME_CONFIG: &str = "/etc/containerd/config.toml";
const RUNTIME_SOCKET: &str = "/run/containerd/containerd.sock";

/// kube-proxy's mode, as it reports itself (kubernetes, cmd/kube-proxy/app/server.go, `/proxyMode`).
pub(crate) fn proxy_mode(node: &Netns) -> Option<String> {
    let asked = node.run(|| {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect_timeout(&SocketAddr::from(PROXY), PROXY_TIMEOUT)?;
            stream.set_read_timeout(Some(PROXY_TIMEOUT))?;
            stream.write_all(b"GET /proxyMode HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        Ok(ask().ok())
    });
    let answer = asked.ok().flatten()?;
    let (head, mode) = answer.split_once("\r\n\r\n")?;
    (head.contains(" 200 ") && !mode.trim().is_empty()).then(|| mode.trim().to_owned())
}

/// The plugins of the runtime that this machine's kubelet uses.
pub(crate) fn cni(node: &Netns, kubelet_config: &Value) -> Option<Cni> {
    let socket = kubelet_config["containerRuntimeEndpoint"].as_str()?.trim_start_matches("unix://");
    let network = node.run(|| Ok(fs::read_link("/proc/thread-self/ns/net").ok())).ok()??;
    let processes = fs::read_dir("/proc").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let in_network =
        |process: &PathBuf| fs::read_link(process.join("ns/net")).is_ok_and(|own| own == network);
    let dir = processes.filter(in_network).find_map(|process| plugins_of(&process, socket))?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // The runtime uses the first by name.
    files.sort();
    let is_config = |path: &&PathBuf| path.extension().is_some_and(|e| e == "conflist" || e == "conf");
    of_config(&fs::read_to_string(files.iter().find(is_config)?).ok()?)
}

/// The folder with the plugins' settings of the process, if it is the containerd that listens at `socket`. Its root folder may differ from
/// ours.
fn plugins_of(process: &Path, socket: &str) -> Option<PathBuf> {
    let line = fs::read_to_string(process.join("cmdline")).ok()?;
    let words: Vec<&str> = line.split('\0').collect();
    (Path::new(words.first()?).file_name()? == "containerd").then_some(())?;
    let option = |names: [&str; 2]| {
        words.iter().position(|word| names.contains(word)).and_then(|at| words.get(at + 1))
    };
    let inside = |path: &str| process.join("root").join(path.trim_start_matches('/'));
    let config =
        fs::read_to_string(inside(option(["--config", "-c"]).unwrap_or(&RUNTIME_CONFIG))).unwrap_or_default();
    let said = setting(&config, "address");
    let listens =
        option(["--address", "-a"]).copied().or(said.as_deref()).unwrap_or(RUNTIME_SOCKET).to_owned();
    let bare = |path: &str| path.trim_start_matches("/var").to_owned();
    (bare(&listens) == bare(socket))
        .then(|| inside(setting(&config, "conf_dir").as_deref().unwrap_or(PLUGINS)))
}

/// The first `NAME = "VALUE"` of the settings, which for these names is the only one.
fn setting(config: &str, name: &str) -> Option<String> {
    let values = config.lines().filter_map(|line| line.trim().strip_prefix(name)?.trim().strip_prefix('='));
    let value =
        values.map(|value| value.trim().trim_matches(['"', '\''])).find(|value| value.starts_with('/'))?;
    Some(value.to_owned())
}

/// The plugins that a file chains (<https://www.cni.dev/docs/spec/#configuration-format>).
fn of_config(text: &str) -> Option<Cni> {
    let config: Value = serde_json::from_str(text).ok()?;
    let kind = |plugin: &Value| plugin["type"].as_str().map(str::to_owned);
    let chained: Vec<String> = match config["plugins"].as_array() {
        Some(plugins) => plugins.iter().filter_map(kind).collect(),
        None => kind(&config).into_iter().collect(),
    };
    (!chained.is_empty()).then(|| Cni { name: chained.join(" + "), mode: None })
}

/// The number of rules in iptables and nftables. Those of `iptables-nft` are also nftables'.
pub(crate) fn rules(node: &Netns) -> Option<u64> {
    let count = node.run(|| {
        let nft = output("nft", &["-a", "list", "ruleset"]).map(|text| nft_rules(&text));
        let legacy = output("iptables-legacy-save", &[])
            .map(|text| text.lines().filter(|l| l.starts_with("-A")).count());
        Ok(nft.map(|rules| rules + legacy.unwrap_or_default()))
    });
    count.ok().flatten().map(|rules| rules as u64)
}

fn output(name: &str, arguments: &[&str]) -> Option<String> {
    tool::run(Command::new(tool::find(name)?).args(arguments), "").ok()
}

/// Lines with a handle that do not begin a block.
fn nft_rules(listing: &str) -> usize {
    listing.lines().filter(|line| line.contains("# handle ") && !line.contains("{ # handle ")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugins_are_named_in_their_order() {
        let list = r#"{"name": "pods", "plugins": [{"type": "bridge"}, {"type": "portmap"}]}"#;
        assert_eq!(of_config(list).unwrap().name, "bridge + portmap");
        assert_eq!(of_config(r#"{"type": "ptp"}"#).unwrap().name, "ptp");
        assert_eq!(of_config("{}"), None);
    }

    #[test]
    fn the_runtimes_settings_are_read_line_by_line() {
        let config = "[grpc]\n  address = \"/run/c.sock\"\n[debug]\n  address = \"\"\n\
            [plugins.\"io.containerd.grpc.v1.cri\".cni]\n  bin_dir = \"/usr/lib/cni\"\n  conf_dir = \"/opt/net.d\"\n";
        assert_eq!(setting(config, "conf_dir").as_deref(), Some("/opt/net.d"));
        assert_eq!(setting(config, "address").as_deref(), Some("/run/c.sock"));
        assert_eq!(setting("version = 2", "conf_dir"), None);
    }

    #[test]
    fn rules_are_distinguished_from_chains_and_tables() {
        let listing = "table ip nat { # handle 1\n\
            \tset ips { # handle 7\n\t\ttype ipv4_addr\n\t}\n\
            \tchain POSTROUTING { # handle 2\n\
            \t\ttype nat hook postrouting priority srcnat; policy accept;\n\
            \t\tip daddr @ips counter packets 0 bytes 0 masquerade # handle 3\n\
            \t\tct mark 0x1 vmap { 0x1 : accept } # handle 4\n\t}\n}\n";
        assert_eq!(nft_rules(listing), 2);
    }
}
