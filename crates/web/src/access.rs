//! Who may ask, and from where: a request must be for a name of this server, so that a name of somebody else that resolves to this
//! address gets nothing (DNS rebinding); it must show the token; and one that changes anything must come from a page of this server, or
//! show the token in a way that a browser doesn't by itself (cross-site request forgery).

use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// Random bytes of a token: as hard to guess as a key of AES-128.
const TOKEN_BYTES: usize = 16;
/// The parameter of an address that brings the token into a browser, which keeps it as a cookie.
const PARAMETER: &str = "token=";

/// What a user must show.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token that nobody knows yet.
    ///
    /// # Errors
    /// When the kernel has no random bytes.
    pub fn random() -> std::io::Result<Token> {
        let mut bytes = [0; TOKEN_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(BASE64_URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// A token that the user chose: 16 letters, digits, `-` or `_` at least.
    pub fn chosen(text: &str) -> Option<Token> {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        (is_plain && text.len() >= TOKEN_BYTES).then(|| Token(text.to_owned()))
    }

    /// Compares digests, so that how long it takes says nothing of where they differ.
    fn is(&self, shown: &str) -> bool {
        Sha256::digest(shown) == Sha256::digest(&self.0)
    }
}

/// What a request is held against.
pub(crate) struct Access {
    token: Token,
    /// `127.0.0.1:8088`, in small letters; the first is for the user.
    hosts: Vec<String>,
    /// The port of a server that listens on all addresses of its machine, each of which is a name of it.
    on_all: Option<u16>,
    scheme: &'static str,
    /// Cookies are those of a host with all its ports: each server has its own.
    cookie: String,
}

impl Access {
    /// For a server at `address` that is also known by these names.
    pub(crate) fn new(address: SocketAddr, names: &[String], scheme: &'static str, token: Token) -> Access {
        let (ip, port) = (address.ip(), address.port());
        let is_on_all = ip.is_unspecified();
        let mut known: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        known.push(match ip {
            IpAddr::V4(_) if is_on_all => written(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(_) if is_on_all => written(Ipv6Addr::LOCALHOST.into()),
            ip => written(ip),
        });
        if ip.is_loopback() || is_on_all {
            known.push("localhost".to_owned());
        }
        let hosts = known.iter().map(|name| format!("{name}:{port}"));
        let short = known.iter().filter(|_| port == usual_port(scheme)).cloned();
        Access {
            token,
            hosts: hosts.chain(short).collect(),
            on_all: is_on_all.then_some(port),
            scheme,
            cookie: format!("loadline-{port}"),
        }
    }

    /// The address to open in a browser, with the token.
    pub(crate) fn url(&self) -> String {
        let host = self.hosts.first().map_or("", String::as_str);
        format!("{}://{host}/?{PARAMETER}{}", self.scheme, self.token.0)
    }

    /// A page of somebody else may have a name that resolves to this server. An address resolves to nothing: a request for one is for this
    /// server, on all of whose addresses it listens.
    fn knows(&self, host: &str) -> bool {
        self.hosts.contains(&host.to_ascii_lowercase())
            || self.on_all.is_some_and(|port| self.is_address(host, port))
    }

    /// Whether this is an IP address with that port, or without one where browsers leave it out.
    fn is_address(&self, host: &str, port: u16) -> bool {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        match host.parse::<SocketAddr>() {
            Ok(address) => address.port() == port,
            Err(_) => port == usual_port(self.scheme) && bare.parse::<IpAddr>().is_ok(),
        }
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).any(|(_, value)| self.token.is(value))
    }

    fn has_header(&self, headers: &HeaderMap) -> bool {
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        header.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|shown| self.token.is(shown))
    }

    /// Whether the page that made the request is one of this server's, had by the host that the request is for. Browsers name it whenever
    /// something is sent (Fetch Standard, "append a request `Origin` header").
    fn is_own_page(&self, headers: &HeaderMap, asked: &str) -> bool {
        let origin = headers.get(ORIGIN).and_then(|value| value.to_str().ok());
        let host = origin.and_then(|origin| origin.strip_prefix(self.scheme)?.strip_prefix("://"));
        host.is_some_and(|host| host.eq_ignore_ascii_case(asked))
    }

    /// Takes the token out of the address: it would stay in the browser's history.
    fn take_token(&self, request: &Request) -> Option<Response> {
        let query = request.uri().query()?;
        let shown = query.split('&').find_map(|pair| pair.strip_prefix(PARAMETER))?;
        if request.method() != Method::GET || !self.token.is(shown) {
            return None;
        }
        let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with(PARAMETER)).collect();
        // The path begins with one slash: two would be another host.
        let path = format!("/{}", request.uri().path().trim_start_matches('/'));
        let to = if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) };
        let secure = if self.scheme == "https" { "; Secure" } else { "" };
        let cookie = format!("{}={shown}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie);
        Some((StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response())
    }

    fn refusal(&self, request: &Request) -> Option<Failure> {
        let headers = request.headers();
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let Some(host) = host.filter(|host| self.knows(host)) else {
            let sentence = "this server is not known by that name; --name gives it another";
            return Some(Failure::new(StatusCode::MISDIRECTED_REQUEST, sentence));
        };
        let by_header = self.has_header(headers);
        if !by_header && !self.has_cookie(headers) {
            let sentence =
                "open the address that `loadline ui` printed, or send its token as `Authorization: Bearer`";
            return Some(Failure::new(StatusCode::UNAUTHORIZED, sentence));
        }
        let only_reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let is_foreign = match headers.contains_key(ORIGIN) {
            true => !self.is_own_page(headers, host),
            false => !by_header,
        };
        (!only_reads && is_foreign).then(|| {
            Failure::new(StatusCode::FORBIDDEN, "this can only be asked for by a page of this server")
        })
    }
}

/// Lets a request pass, or answers it.
pub(crate) async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    if let Some(failure) = access.refusal(&request) {
        let is_ours = failure.status() == StatusCode::UNAUTHORIZED;
        return is_ours
            .then(|| access.take_token(&request))
            .flatten()
            .unwrap_or_else(|| failure.into_response());
    }
    match access.take_token(&request) {
        Some(redirection) => redirection,
        None => next.run(request).await,
    }
}

/// As the host of an address.
fn written(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// The scheme's own port, which browsers leave out.
fn usual_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str, scheme: &'static str) -> Access {
        let token = Token::chosen("a-token-of-the-tests-own").expect("a token");
        Access::new(address.parse().expect("an address"), &["Shop.test".to_owned()], scheme, token)
    }

    #[test]
    fn a_server_on_all_addresses_is_known_by_each_of_them_and_by_no_other_name() {
        let usual = at("0.0.0.0:443", "https");
        for known in ["192.0.2.7", "192.0.2.7:443", "[2001:db8::7]", "shop.test", "localhost:443"] {
            assert!(usual.knows(known), "{known}");
        }
        for strange in ["192.0.2.7:80", "evil.example", "192.0.2.7.evil.example", "", "["] {
            assert!(!usual.knows(strange), "{strange}");
        }
        assert!(!at("[::]:7667", "http").knows("192.0.2.7"), "its port is missing");
        assert!(!at("127.0.0.1:7667", "http").knows("192.0.2.7:7667"), "it listens there alone");
    }

    #[test]
    fn the_address_for_a_browser_is_the_servers_name_or_one_of_this_machine() {
        assert!(at("0.0.0.0:7667", "http").url().starts_with("http://shop.test:7667/?token="));
        let token = Token::chosen("a-token-of-the-tests-own").expect("a token");
        let nameless = Access::new("[::]:7667".parse().expect("an address"), &[], "http", token);
        assert!(nameless.url().starts_with("http://[::1]:7667/?token="), "{}", nameless.url());
    }
}
