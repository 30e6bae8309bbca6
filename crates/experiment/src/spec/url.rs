//! URLs of platforms that already run: where to connect, and what to call it.
//!
//! Only `http://host[:port]` makes sense here: the paths are the requests', and TLS comes with a later version.

use url::{Host, Url};

use super::error::Complaint;

/// The parts of a URL that a connection needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Name or address, an IPv6 address without its brackets.
    pub host: String,
    /// TCP port, 1 to 65535.
    pub port: u16,
    /// Value of the `Host` header: host, and port unless it is 80.
    pub authority: String,
}

const HELP: &str = "write http://127.0.0.1:8080";

/// Reads the URL of an external platform.
pub(super) fn parse_url(text: &str) -> Result<Target, Complaint> {
    let text = text.trim();
    let complain = |message: String| Complaint::new(message).help(HELP);
    match text.split_once("://") {
        Some(("http", rest)) if rest.starts_with(['/', '?', '#']) || rest.is_empty() => {
            return Err(complain("the URL has no host".to_owned()));
        }
        Some(("http", _)) => {}
        Some(("https", _)) => {
            return Err(Complaint::new("TLS comes with a later version")
                .help("measure the plain HTTP port: write http://…"));
        }
        Some((scheme, _)) => {
            return Err(complain(format!("`{scheme}` is not a scheme that can be measured")));
        }
        None => return Err(complain(format!("`{text}` is not a URL")).help(format!("write http://{text}"))),
    }
    let url = Url::parse(text).map_err(|error| complain(format!("the URL is not valid: {error}")))?;
    let port = url.port().unwrap_or(80);
    if port == 0 {
        return Err(complain("port 0 can't be connected to".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(complain("a platform's URL can't carry a user name or password".to_owned())
            .help("put an Authorization header into the requests"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(complain("a platform's URL ends with its host and port".to_owned())
            .help("put the path into the requests"));
    }
    let (host, shown) = match url.host() {
        Some(Host::Domain(name)) => (name.to_owned(), name.to_owned()),
        Some(Host::Ipv4(address)) => (address.to_string(), address.to_string()),
        Some(Host::Ipv6(address)) => (address.to_string(), format!("[{address}]")),
        None => return Err(complain("the URL has no host".to_owned())),
    };
    let authority = if port == 80 { shown } else { format!("{shown}:{port}") };
    Ok(Target { host, port, authority })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_taken_from_the_url() {
        for (text, host, port, authority) in [
            ("http://127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080"),
            ("http://shop.example/", "shop.example", 80, "shop.example"),
            ("http://[::1]:81", "::1", 81, "[::1]:81"),
        ] {
            let target = Target { host: host.to_owned(), port, authority: authority.to_owned() };
            assert_eq!(parse_url(text), Ok(target), "{text}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_is_refused() {
        for text in [
            "",
            "http://",
            "http:///x",
            "https://x",
            "ftp://x",
            "localhost:8080",
            "http://x:0",
            "http://x:65536",
            "http://x:port",
            "http://me@x",
            "http://x/path",
            "http://x?q",
            "http://a b",
            "http://[::1",
        ] {
            assert!(parse_url(text).is_err(), "{text}");
        }
    }
}
