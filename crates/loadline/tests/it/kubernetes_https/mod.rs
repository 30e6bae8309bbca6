//! An agent in the cluster speaks TLS to a pod, HTTP/1.1 and HTTP/2, with a client's certificate and the tests' own authority.

use std::fs;

use crate::servers::certificates::Certificates;
use crate::support::cluster::cluster;
use crate::support::go;
use crate::support::leftovers;
use crate::support::place::{Place, ended};

/// A slice of each load; `expect` cannot differ from load to load, so the last one shows that the protocol is HTTP/2.
fn experiment(certificates: &Certificates, program: &str, expect: &str, load: &str) -> String {
    let pem = |path| serde_json::to_string(&fs::read_to_string(path).expect("PEM")).expect("text");
    format!(
        "
service:
  command: ['{program}', '{{host}}:{{port}}']
  env:
    CERTIFICATE: {}
    KEY: {}
    AUTHORITY: {}
  https: true
  tls: {{ca: '{}', cert: '{}', key: '{}', server_name: one.test}}
  expect: [status=200, 'body={expect} to CN=client']
platforms:
  - kubernetes: {{expose: podIP, load_from: cluster, placement: same-node}}
  - kubernetes: {{expose: podIP, load_from: cluster, placement: other-node}}
loads: [{{arrivals: uniform, {load}}}]
plan: {{slice: 200ms, blocks: 1, deployments: 1, warmup: 1s, repeats: 0, interleave: slices, twin: false}}
",
        pem(certificates.certificate("one")),
        pem(certificates.key("one")),
        pem(certificates.certificate("ca")),
        certificates.certificate("ca").display(),
        certificates.certificate("client").display(),
        certificates.key("client").display(),
    )
}

#[test]
fn an_agent_in_the_cluster_speaks_https_and_http2_with_a_clients_certificate() {
    let (cluster, place, certificates) = (&cluster(), Place::shared(), Certificates::make());
    let program = go::build(&place, "speaks-https", "kubernetes_https");
    let archive = place.path("image.tar").display().to_string();
    let made = place.run(["image", "-o", &archive, &program]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    cluster.script("load", &[&archive]);
    for (expect, load) in [
        ("HTTP/1.1", "rate: 100/s, connections: 4"),
        ("HTTP/1.1", "rate: 100/s, new_connections: true"),
        ("HTTP/2.0", "rate: 100/s, connections: 2, http2: true, streams: 4"),
    ] {
        place.write("experiment.yaml", &experiment(&certificates, &program, expect, load));
        let mut command = place.command(["run", "experiment.yaml", "--json", "-"]);
        let ended = ended(command.env("KUBECONFIG", &cluster.kubeconfig).output().expect("it starts"));
        ended.assert_measured();
        let result = ended.result();
        assert_eq!(result.cells.len(), 2, "{load}");
        for cell in &result.cells {
            assert!(cell.answered > 0 && cell.errors.is_empty(), "{load}, {}: {:?}", cell.label, cell.errors);
        }
        leftovers::assert_none(&place.store().label());
        assert!(!cluster.has_namespace_of(&place.store().label()));
    }
}
