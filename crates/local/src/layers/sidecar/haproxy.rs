//! HAProxy as a sidecar (its configuration manual, version 2.4 or later).

use super::{AUTHORITY_FILE, Hop, IDENTITY_FILE, ProxyConfig, SERVICE, Tls};

/// It stays in the foreground (`-db`) and logs nothing, because there is no `log` line.
pub(super) fn proxy_config(hop: &Hop) -> ProxyConfig {
    let Hop { listen, next, tls, connections } = hop;
    let identity =
        format!(" ssl crt {IDENTITY_FILE} ca-file {AUTHORITY_FILE} verify required ssl-min-ver TLSv1.3");
    let (accepts, connects) = match tls {
        Tls::None => (String::new(), String::new()),
        Tls::Accepts => (identity, String::new()),
        Tls::Connects => (String::new(), format!("{identity} sni str({SERVICE}) verifyhost {SERVICE}")),
    };
    // Idle connections to the service outlive the slices of other deployments.
    let text = format!(
        "global
    nbthread 1
    maxconn {connections}
defaults
    mode http
    option http-keep-alive
    http-reuse always
    timeout connect 10s
    timeout client 1h
    timeout server 1h
    timeout http-keep-alive 1h
frontend in
    bind {listen}{accepts}
    default_backend out
backend out
    server next {next} pool-purge-delay 1h{connects}
"
    );
    ProxyConfig { file: "haproxy.cfg", text, arguments: &["-db", "-f", "haproxy.cfg"] }
}
