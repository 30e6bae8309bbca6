//! nginx as a sidecar (nginx.org/en/docs, version 1.19.5 or later).

use std::{path::Path, process::Command};

use loadline_machine::ErrorContext;

use super::{AUTHORITY_FILE, Hop, IDENTITY_FILE, ProxyConfig, SERVICE, Tls};
use crate::error::LocalError;

/// Modules that create a folder for temporary files even when unused, by the name of the build option that excludes each.
const TEMPORARIES: [&str; 4] = ["proxy", "fastcgi", "uwsgi", "scgi"];

/// The build options that `nginx -V` prints.
pub(super) fn build_options(nginx: &Path) -> Result<String, LocalError> {
    let output =
        Command::new(nginx).arg("-V").output().with_context(|| format!("start {}", nginx.display()))?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A single process: with a master, the worker would outlive it if loadline were killed, and would run as another user, which does not
/// exist in a user namespace.
pub(super) fn proxy_config(hop: &Hop, built: &str) -> ProxyConfig {
    let Hop { listen, next, tls, connections } = hop;
    let files = 2 * connections;
    let is_built = |module: &&str| !built.contains(&format!("--without-http_{module}_module"));
    let temporaries: String = TEMPORARIES
        .into_iter()
        .filter(is_built)
        .map(|module| format!("    {module}_temp_path {module};\n"))
        .collect();
    let shown = |prefix: &str| {
        format!(
            "{prefix}ssl_certificate {IDENTITY_FILE}; {prefix}ssl_certificate_key {IDENTITY_FILE}; {prefix}ssl_protocols TLSv1.3;"
        )
    };
    let (listens_with, accepts) = match tls {
        Tls::Accepts => (
            " ssl",
            format!("        {} ssl_client_certificate {AUTHORITY_FILE}; ssl_verify_client on;\n", shown("")),
        ),
        _ => ("", String::new()),
    };
    let (scheme, connects) = match tls {
        Tls::Connects => (
            "https",
            format!(
                "            {} proxy_ssl_trusted_certificate {AUTHORITY_FILE}; proxy_ssl_verify on;\n            \
                 proxy_ssl_name {SERVICE}; proxy_ssl_server_name on;\n",
                shown("proxy_")
            ),
        ),
        _ => ("http", String::new()),
    };
    // Both limits on requests per connection are 1,000 by default.
    let text = format!(
        "daemon off;
master_process off;
pid nginx.pid;
lock_file nginx.lock;
error_log stderr warn;
events {{ worker_connections {files}; }}
http {{
    access_log off;
    client_body_temp_path body;
{temporaries}    client_max_body_size 0;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    upstream next {{
        server {next};
        keepalive {connections};
        keepalive_requests 1000000000;
        keepalive_timeout 1h;
    }}
    server {{
        listen {listen}{listens_with};
{accepts}        location / {{
            proxy_pass {scheme}://next;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection \"\";
            proxy_read_timeout 1h;
            proxy_max_temp_file_size 0;
{connects}        }}
    }}
}}
"
    );
    ProxyConfig { file: "nginx.conf", text, arguments: &["-e", "stderr", "-p", "./", "-c", "nginx.conf"] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_was_not_built_is_not_configured() {
        let hop = Hop {
            listen: "127.0.0.1:1".parse().unwrap(),
            next: "127.0.0.1:2".parse().unwrap(),
            tls: Tls::None,
            connections: 1,
        };
        let text =
            proxy_config(&hop, "configure arguments: --without-http_scgi_module --with-http_ssl_module").text;
        assert!(
            text.contains("uwsgi_temp_path") && !text.contains("scgi_temp_path scgi;\n    scgi"),
            "{text}"
        );
        assert!(!text.contains("    scgi_temp_path"), "{text}");
    }
}
