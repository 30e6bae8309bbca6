//! URLs: where to connect, what to call it, and what to ask of it.

use url::{Host, Url};

use crate::error::Complaint;
use crate::http;

/// The parts of an HTTP URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl {
    /// Whether TLS is used.
    pub https: bool,
    /// Name or address, an IPv6 address without its brackets.
    pub host: String,
    /// TCP port, 1 to 65535.
    pub port: u16,
    /// Value of the `Host` header: host, and port unless it is the scheme's own.
    pub authority: String,
    /// Path and query as they were written; `/` if there is none.
    pub path: String,
}

const HELP: &str = "write http://127.0.0.1:8080";

/// Reads `http://…` and `https://…`.
pub fn parse_http_url(text: &str) -> Result<HttpUrl, Complaint> {
    let text = text.trim();
    let complain = |message: String| Complaint::new(message).help(HELP);
    let (https, rest) = match text.split_once("://") {
        Some(("http", rest)) => (false, rest),
        Some(("https", rest)) => (true, rest),
        Some((scheme, _)) => {
            return Err(complain(format!("`{scheme}` is not a supported scheme")));
        }
        None => return Err(complain(format!("`{text}` is not a URL")).help(format!("write http://{text}"))),
    };
    if rest.starts_with(['/', '?', '#']) || rest.is_empty() {
        return Err(complain("the URL has no host".to_owned()));
    }
    let url = Url::parse(text).map_err(|error| complain(format!("the URL is not valid: {error}")))?;
    let usual = if https { 443 } else { 80 };
    let port = url.port().unwrap_or(usual);
    if port == 0 {
        return Err(complain("cannot connect to port 0".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(complain("a URL cannot contain a user name or password here".to_owned())
            .help("set an Authorization header on the requests"));
    }
    let (host, shown) = match url.host() {
        Some(Host::Domain(name)) => (name.to_owned(), name.to_owned()),
        Some(Host::Ipv4(address)) => (address.to_string(), address.to_string()),
        Some(Host::Ipv6(address)) => (address.to_string(), format!("[{address}]")),
        None => return Err(complain("the URL has no host".to_owned())),
    };
    let authority = if port == usual { shown } else { format!("{shown}:{port}") };
    // As it was written, and not as a browser would send it: placeholders in braces are to survive.
    let path = match rest.find(['/', '?', '#']) {
        Some(at) if rest[at..].starts_with('/') => http::path(&rest[at..])?,
        Some(at) => http::path(&format!("/{}", &rest[at..]))?,
        None => "/".to_owned(),
    };
    Ok(HttpUrl { https, host, port, authority, path })
}

/// Reads the URL of a platform that is already running: `http://host[:port]` or `https://…`, as the paths are the requests'.
pub(super) fn parse_platform_url(text: &str) -> Result<HttpUrl, Complaint> {
    let url = parse_http_url(text)?;
    if url.path != "/" {
        return Err(
            Complaint::new("a platform's URL must not have a path").help("put the path into the requests")
        );
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_parts_are_taken_from_the_url() {
        for (text, https, host, port, authority, path) in [
            ("http://127.0.0.1:8080", false, "127.0.0.1", 8080, "127.0.0.1:8080", "/"),
            ("http://shop.example/", false, "shop.example", 80, "shop.example", "/"),
            ("https://shop.example/a?b", true, "shop.example", 443, "shop.example", "/a?b"),
            ("https://shop.example:80?q", true, "shop.example", 80, "shop.example:80", "/?q"),
            ("http://[::1]:81/{{id}}/../x", false, "::1", 81, "[::1]:81", "/{{id}}/../x"),
        ] {
            let (host, authority, path) = (host.to_owned(), authority.to_owned(), path.to_owned());
            assert_eq!(parse_http_url(text), Ok(HttpUrl { https, host, port, authority, path }), "{text}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_is_refused() {
        for text in [
            "",
            "http://",
            "http:///x",
            "ftp://x",
            "localhost:8080",
            "http://x:0",
            "http://x:65536",
            "http://x:port",
            "http://me@x",
            "http://a b",
            "http://x/a b",
            "http://x/#a",
            "http://[::1",
        ] {
            assert!(parse_http_url(text).is_err(), "{text}");
            assert!(parse_platform_url(text).is_err(), "{text}");
        }
        assert!(parse_platform_url("https://x").is_ok_and(|url| url.https));
        for text in ["https://x/path", "http://x/path", "http://x?q"] {
            assert!(parse_http_url(text).is_ok() && parse_platform_url(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}") {
            let _ = parse_http_url(&text);
            let _ = parse_http_url(&format!("http://{text}"));
        }
    }
}
