//! Envoy as a sidecar: a static bootstrap of its v3 API (envoyproxy.io/docs, api-v3), which may be written as JSON.

use serde_json::{Value, json};

use super::{AUTHORITY_FILE, CLIENT, Hop, IDENTITY_FILE, ProxyConfig, SERVICE, Tls};

/// One worker thread (`--concurrency 1`), no shared memory with an earlier Envoy (`--disable-hot-restart`), no admin port.
pub(super) fn proxy_config(hop: &Hop) -> ProxyConfig {
    let mut chain = json!({"filters": [{
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": typed("filters.network.http_connection_manager.v3.HttpConnectionManager", json!({
            "stat_prefix": "in",
            "stream_idle_timeout": "0s",
            "generate_request_id": false,
            "route_config": {"virtual_hosts": [{
                "name": "all",
                "domains": ["*"],
                "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "next", "timeout": "0s"}}],
            }]},
            "http_filters": [{
                "name": "envoy.filters.http.router",
                "typed_config": typed("filters.http.router.v3.Router", json!({"suppress_envoy_headers": true})),
            }],
        })),
    }]});
    let mut cluster = json!({
        "name": "next",
        "type": "STATIC",
        "connect_timeout": "10s",
        // All are 1,024 by default.
        "circuit_breakers": {"thresholds": [{
            "max_connections": hop.connections,
            "max_pending_requests": hop.connections,
            "max_requests": hop.connections,
        }]},
        "load_assignment": {
            "cluster_name": "next",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(hop.next)}}]}],
        },
    });
    match hop.tls {
        Tls::None => {}
        Tls::Accepts => {
            chain["transport_socket"] = tls(
                "DownstreamTlsContext",
                json!({"require_client_certificate": true, "common_tls_context": common(CLIENT)}),
            );
        }
        Tls::Connects => {
            cluster["transport_socket"] =
                tls("UpstreamTlsContext", json!({"sni": SERVICE, "common_tls_context": common(SERVICE)}));
        }
    }
    let bootstrap = json!({"static_resources": {
        "listeners": [{"name": "in", "address": address(hop.listen), "filter_chains": [chain]}],
        "clusters": [cluster],
    }});
    ProxyConfig {
        file: "envoy.json",
        text: bootstrap.to_string(),
        arguments: &[
            "--config-path",
            "envoy.json",
            "--concurrency",
            "1",
            "--disable-hot-restart",
            "--log-level",
            "warning",
        ],
    }
}

fn address(at: std::net::SocketAddrV4) -> Value {
    json!({"socket_address": {"address": at.ip().to_string(), "port_value": at.port()}})
}

/// TLS 1.3 with its own certificate; the peer must present one of the same authority in the name of `peer`.
fn common(peer: &str) -> Value {
    json!({
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_3", "tls_maximum_protocol_version": "TLSv1_3"},
        "tls_certificates": [{
            "certificate_chain": {"filename": IDENTITY_FILE},
            "private_key": {"filename": IDENTITY_FILE},
        }],
        "validation_context": {
            "trusted_ca": {"filename": AUTHORITY_FILE},
            "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": peer}}],
        },
    })
}

fn tls(context: &str, config: Value) -> Value {
    json!({
        "name": "envoy.transport_sockets.tls",
        "typed_config": typed(&format!("transport_sockets.tls.v3.{context}"), config),
    })
}

/// A message of Envoy's extensions with its type among its fields, as protobuf's `Any` is written in JSON.
fn typed(name: &str, mut config: Value) -> Value {
    config["@type"] = format!("type.googleapis.com/envoy.extensions.{name}").into();
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bootstrap(tls: Tls) -> Value {
        let hop = Hop {
            listen: "198.18.0.18:15006".parse().unwrap(),
            next: "198.18.0.18:8080".parse().unwrap(),
            tls,
            connections: 7,
        };
        serde_json::from_str(&proxy_config(&hop).text).unwrap()
    }

    fn at<'a>(bootstrap: &'a Value, path: &str) -> &'a Value {
        bootstrap.pointer(&format!("/static_resources/{path}")).unwrap_or(&Value::Null)
    }

    #[test]
    fn the_configuration_leads_from_one_address_to_the_other() {
        let plain = bootstrap(Tls::None);
        let listen = at(&plain, "listeners/0/address/socket_address");
        assert_eq!(*listen, json!({"address": "198.18.0.18", "port_value": 15006}));
        let next = at(
            &plain,
            "clusters/0/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address",
        );
        assert_eq!(*next, json!({"address": "198.18.0.18", "port_value": 8080}));
        let manager = "listeners/0/filter_chains/0/filters/0/typed_config";
        assert_eq!(
            at(&plain, &format!("{manager}/route_config/virtual_hosts/0/routes/0/route/cluster")),
            at(&plain, "clusters/0/name")
        );
        assert_eq!(at(&plain, "clusters/0/circuit_breakers/thresholds/0/max_connections"), 7);
        assert!(at(&plain, "listeners/0/filter_chains/0/transport_socket").is_null());
        assert!(at(&plain, "clusters/0/transport_socket").is_null());
    }

    #[test]
    fn each_side_of_mutual_tls_asks_for_the_others_certificate() {
        let peer = "common_tls_context/validation_context/match_typed_subject_alt_names/0/matcher/exact";
        let accepts = bootstrap(Tls::Accepts);
        let context = "listeners/0/filter_chains/0/transport_socket/typed_config";
        assert_eq!(at(&accepts, &format!("{context}/require_client_certificate")), true);
        assert_eq!(at(&accepts, &format!("{context}/{peer}")), CLIENT);
        assert!(at(&accepts, "clusters/0/transport_socket").is_null());

        let connects = bootstrap(Tls::Connects);
        let context = "clusters/0/transport_socket/typed_config";
        assert_eq!(at(&connects, &format!("{context}/sni")), SERVICE);
        assert_eq!(at(&connects, &format!("{context}/{peer}")), SERVICE);
        let kind = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
        assert_eq!(at(&connects, &format!("{context}/@type")), kind);
    }
}
