//! Real plugins create a pod's network on a node of its own, and release what they allocate elsewhere: at the end of a deployment, when it
//! fails, and after a run that was killed.

use std::{
    fs,
    net::IpAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use loadline_local::{CLEANERS, Local, missing};
use loadline_machine::{Environment, Registry};
use loadline_model::platform::Layer;
use loadline_platform::{Deployment, Platform, PlatformError};
use loadline_test_support::{
    Node, caller_seen, held_run, helper, inventory, processes_of, wait_until, who_called,
};
use serde_json::{Value, json};

/// A configuration in the test's folder.
fn network(node: &Node, config: &Value) -> PathBuf {
    let file = node.dir.path().join("network.conflist");
    fs::write(&file, config.to_string()).unwrap();
    file
}

fn list(plugins: Value) -> Value {
    json!({"cniVersion": "1.0.0", "name": "pods", "plugins": plugins})
}

/// Addresses from 10.77.0.2 on, written down in the test's folder.
fn ipam(node: &Node) -> Value {
    json!({
        "type": "host-local",
        "dataDir": node.dir.path().join("addresses"),
        "subnet": "10.77.0.0/24",
        "routes": [{"dst": "0.0.0.0/0"}],
    })
}

/// The addresses that host-local has given out and not got back.
fn given_out(node: &Node) -> Vec<String> {
    let files = fs::read_dir(node.dir.path().join("addresses/pods")).into_iter().flatten().flatten();
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut addresses: Vec<String> = names.filter(|name| name.parse::<IpAddr>().is_ok()).collect();
    addresses.sort();
    addresses
}

fn deploy(environment: &Environment, layers: &[Layer]) -> Result<Box<dyn Deployment>, PlatformError> {
    Local { layers: layers.to_vec(), own_node: true }.deploy(environment, &who_called(), &mut |_| {})
}

/// Deploys on the network, asks from the client, and checks that nothing stays. Returns whom the service saw.
fn carries(node: &Node, config: &Value, more: &[Layer]) -> IpAddr {
    let file = network(node, config);
    let before = inventory("");
    let environment = node.environment();
    let layers = [&[Layer::Cni(file)], more].concat();
    let deployment = deploy(&environment, &layers).unwrap();
    let caller = caller_seen(&environment, deployment.address());
    deployment.stop().unwrap();
    assert_eq!(given_out(node), Vec::<String>::new());
    environment.remove().unwrap();
    loadline_test_support::assert_same(&inventory(""), &before);
    caller
}

fn bridge(node: &Node) -> Value {
    list(json!([
        {"type": "bridge", "bridge": "pods0", "isGateway": true, "ipam": ipam(node)},
        {"type": "portmap", "capabilities": {"portMappings": true}},
    ]))
}

#[test]
fn a_bridge_with_addresses_from_a_store_and_a_chained_plugin() {
    let node = Node::enter_new();
    let caller = carries(&node, &bridge(&node), &[]);
    assert!(caller.to_string().starts_with("198.18."), "{caller}");
}

#[test]
fn a_single_plugin_by_an_older_version() {
    let node = Node::enter_new();
    let config = json!({"cniVersion": "0.3.1", "name": "pods", "type": "ptp", "ipam": ipam(&node)});
    carries(&node, &config, &[]);
}

#[test]
fn a_link_on_the_wire_itself() {
    let node = Node::enter_new();
    carries(&node, &list(json!([{"type": "macvlan", "master": "eth0", "ipam": ipam(&node)}])), &[]);
}

#[test]
fn other_layers_stand_on_it() {
    let node = Node::enter_new();
    let nodeport: Layer = serde_json::from_str(r#"{"nodeport": {"backend": "nftables"}}"#).unwrap();
    let caller = carries(&node, &bridge(&node), &[Layer::Cgroup, nodeport]);
    assert_eq!(caller.to_string(), "10.77.0.1");
    let caller = carries(&node, &bridge(&node), &[Layer::UserlandProxy]);
    assert_eq!(caller.to_string(), "10.77.0.1");
}

#[test]
fn several_pods_of_one_network_have_addresses_of_their_own() {
    let node = Node::enter_new();
    let layers = [Layer::Cni(network(&node, &bridge(&node)))];
    let environment = node.environment();
    let [one, two] = [0, 1].map(|_| deploy(&environment, &layers).unwrap());
    assert_eq!(given_out(&node), ["10.77.0.2", "10.77.0.3"]);
    caller_seen(&environment, one.address());
    one.stop().unwrap();
    caller_seen(&environment, two.address());
    drop(two);
    assert_eq!(given_out(&node), Vec::<String>::new());
}

#[test]
fn availability_is_determined_without_keeping_anything() {
    let node = Node::enter_new();
    let layers = [Layer::Cni(network(&node, &bridge(&node)))];
    assert!(missing(&layers).is_none());
    assert_eq!(given_out(&node), Vec::<String>::new());
}

#[test]
fn what_a_failed_chain_allocated_is_released() {
    let node = Node::enter_new();
    // `tuning` sets what no kernel has.
    let config = list(json!([
        {"type": "ptp", "ipam": ipam(&node)},
        {"type": "tuning", "sysctl": {"net.ipv4.no_such_setting": "1"}},
    ]));
    let layers = [Layer::Cni(network(&node, &config))];
    let environment = node.environment();
    let Err(error) = deploy(&environment, &layers) else { panic!("there is such a setting") };
    let message = error.to_string();
    assert!(message.contains("`tuning`") && message.contains("ADD"), "{message}");
    assert!(message.contains("no_such_setting") && message.contains("(code "), "{message}");
    assert_eq!(given_out(&node), Vec::<String>::new());
}

#[test]
fn invalid_networks_are_reported() {
    let node = Node::enter_new();
    let environment = node.environment();
    let mut no_route = ipam(&node);
    no_route["routes"] = json!([]);
    let full = json!({"type": "host-local", "dataDir": node.dir.path(), "subnet": "10.77.0.0/24",
        "rangeStart": "10.77.0.300"});
    for (config, why) in [
        (list(json!([{"type": "no-such-plugin"}])), "the plugin `no-such-plugin`"),
        (list(json!([{"type": "no-such-plugin"}])), "/usr/lib/cni"),
        (list(json!([])), "empty list of `plugins`"),
        (list(json!([{"type": "bridge", "isGateway": true, "ipam": no_route}])), "no route to the client"),
        (list(json!([{"type": "ptp", "ipam": full}])), "10.77.0.300"),
    ] {
        let layers = [Layer::Cni(network(&node, &config))];
        let Err(error) = deploy(&environment, &layers) else { panic!("{config} was accepted") };
        assert!(error.to_string().contains(why), "{config}: {error}");
    }
    let file = node.dir.path().join("network.conflist");
    fs::write(&file, "{\n  \"name\": }").unwrap();
    let layers = [Layer::Cni(file)];
    let Err(error) = deploy(&environment, &layers) else { panic!("it was accepted") };
    assert!(error.to_string().contains("line 2 column 11"), "{error}");
    assert_eq!(given_out(&node), Vec::<String>::new());
}

/// A plugin that records its input, and answers as the specification requires.
fn witness(folder: &Path) {
    let script = r#"#!/bin/sh
config=$(cat)
folder=$(dirname "$0")
echo "$CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME $CNI_PATH netns=$CNI_NETNS inode=$(stat -Lc %i "$CNI_NETNS" 2>/dev/null) own=$(stat -Lc %i /proc/self/ns/net)" >> "$folder/told"
echo "$config" >> "$folder/configs"
[ "$CNI_COMMAND" = DEL ] && exit 0
echo '{"cniVersion": "1.0.0", "ips": [{"address": "10.1.0.2/24"}], "dns": {"domain": "said-by-witness"}}'
"#;
    let file = folder.join("witness");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn plugins_get_what_the_specification_says() {
    let node = Node::enter_new();
    let folder = node.dir.path();
    witness(folder);
    let plugins =
        json!([{"type": "witness", "first": true, "capabilities": {"bandwidth": true}}, {"type": "witness"}]);
    let file = network(&node, &list(plugins));
    // In a process of its own, because the environment is everybody's.
    let output = Command::new(helper())
        .args(["missing", &json!([{"cni": file}]).to_string()])
        .env("CNI_PATH", folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("find the link eth0"), "{said}");

    let told = fs::read_to_string(folder.join("told")).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    let commands: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(commands, ["ADD", "ADD", "DEL", "DEL"], "{told}");
    for line in &lines {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(words[1].starts_with("loadline-"), "{line}");
        assert_eq!(words[2..4], ["eth0", &folder.display().to_string()]);
        let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)).unwrap();
        assert!(!value("inode=").is_empty() && value("inode=") != value("own="), "{line}");
    }
    let configs = fs::read_to_string(folder.join("configs")).unwrap();
    let configs: Vec<Value> = configs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(configs.iter().all(|config| config["name"] == "pods" && config["cniVersion"] == "1.0.0"));
    let firsts: Vec<bool> = configs.iter().map(|config| config["first"] == true).collect();
    assert_eq!(firsts, [true, false, false, true], "{configs:?}");
    let results: Vec<bool> =
        configs.iter().map(|config| config["prevResult"]["dns"]["domain"] == "said-by-witness").collect();
    assert_eq!(results, [false, true, true, true], "{configs:?}");
    assert!(configs.iter().all(|config| config["capabilities"].is_null()), "{configs:?}");
}

#[test]
fn cleaning_a_killed_run_releases_its_addresses() {
    let node = Node::enter_new();
    let file = network(&node, &bridge(&node));
    let run = "04dead";
    let layers = json!([{"cni": file}, "userland-proxy"]).to_string();
    let (mut killed, caller) = held_run(&["hold", "own", &node.registry_path(), run, &layers]);
    assert_eq!(caller.to_string(), "10.77.0.1");
    assert_eq!(given_out(&node), ["10.77.0.2"]);
    // The configuration may be gone or changed by the time of the cleaning.
    fs::remove_file(&file).unwrap();
    assert!(node.registry.clean(CLEANERS).unwrap().is_empty(), "a living run was cleaned");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(given_out(&node), ["10.77.0.2"]);

    let removed = node.registry.clean(CLEANERS).unwrap();
    let attachment = removed.iter().find(|thing| thing.kind == "cni attachment");
    assert_eq!(attachment.map(|thing| thing.name.as_str()), Some("loadline-04dead-1"), "{removed:?}");
    assert_eq!(given_out(&node), Vec::<String>::new());
    assert!(processes_of(run).is_empty());
    assert!(node.registry.clean(CLEANERS).unwrap().is_empty());
}

#[test]
fn a_killed_attempt_to_find_out_is_cleaned_up_after_like_a_run() {
    let node = Node::enter_new();
    let folder = node.dir.path();
    let stuck = folder.join("stuck");
    fs::write(&stuck, "#!/bin/sh\n[ $CNI_COMMAND = DEL ] || { : > \"$0-started\"; sleep 60; }\n").unwrap();
    fs::set_permissions(&stuck, fs::Permissions::from_mode(0o755)).unwrap();
    let config = list(json!([{"type": "ptp", "ipam": ipam(&node)}, {"type": "stuck"}]));
    let layers = json!([{"cni": network(&node, &config)}, "cgroup"]).to_string();
    let mut attempt = Command::new(helper())
        .args(["missing", &layers])
        .env("CNI_PATH", format!("{}:/usr/lib/cni", folder.display()))
        .spawn()
        .unwrap();
    // Until a child has started its program, it holds the lock of the attempt as well.
    wait_until("the second plugin to start", || folder.join("stuck-started").exists());
    assert!(!given_out(&node).is_empty());
    attempt.kill().unwrap();
    attempt.wait().unwrap();

    let removed = Registry::of_this_user().unwrap().clean(CLEANERS).unwrap();
    let kinds: Vec<&str> = removed.iter().map(|thing| thing.kind).collect();
    assert!(kinds.contains(&"cni attachment") && kinds.contains(&"cgroup"), "{removed:?}");
    assert_eq!(given_out(&node), Vec::<String>::new());
}
