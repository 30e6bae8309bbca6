//! What an HTTP request may be made of: method, path and headers (RFC 9110, RFC 9112), and a request written on one line.

use crate::error::{Complaint, suggestion};
use crate::units::parse_count;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Headers that follow from the connection or the body; the engine sets them. It sets `Host` as well, unless somebody else does.
const OWN_HEADERS: [&str; 5] = ["content-length", "transfer-encoding", "connection", "te", "upgrade"];

/// Methods whose requests get the body, where several requests share one.
pub const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// A request as it is written on one line: `GET /path`, the path alone, or with its weight before it, `3 POST /path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// Share of the mix relative to the others' weights; 1 if none is written.
    pub weight: u32,
    /// `None` if none is written.
    pub method: Option<String>,
    /// Path and query.
    pub path: String,
}

/// Reads a [`RequestLine`].
pub fn request_line(text: &str) -> Result<RequestLine, Complaint> {
    let text = text.trim();
    let (written_weight, request) = match text.split_once(char::is_whitespace) {
        Some((first, rest)) if first.bytes().all(|byte| byte.is_ascii_digit()) => {
            (weight(first)?, rest.trim_start())
        }
        _ => (1, text),
    };
    let (written_method, written_path) = match request.split_once(char::is_whitespace) {
        _ if request.starts_with('/') => (None, request),
        Some((first, rest)) => (Some(method(first)?), rest),
        None => {
            let complaint = Complaint::new(format!("`{text}` is not a request"));
            return Err(complaint.help("write `GET /path`; a path starts with `/`"));
        }
    };
    Ok(RequestLine { weight: written_weight, method: written_method, path: path(written_path)? })
}

/// Reads a method.
pub fn method(text: &str) -> Result<String, Complaint> {
    let text = text.trim();
    if !is_token(text) {
        return Err(
            Complaint::new(format!("`{text}` is not a method")).help("write GET, POST or another method")
        );
    }
    if text == "CONNECT" {
        return Err(Complaint::new("CONNECT opens a tunnel and is not a request").help("use another method"));
    }
    if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        let complaint = Complaint::new(format!("`{text}` is not a method: methods are in capitals"));
        return Err(complaint.help(suggestion(text, &METHODS)));
    }
    Ok(text.to_owned())
}

/// Reads a path with its query.
pub fn path(text: &str) -> Result<String, Complaint> {
    let path = text.trim();
    if !path.starts_with('/') {
        let message = format!("the path `{path}` does not start with a slash");
        return Err(Complaint::new(message).help(format!("write /{path}")));
    }
    if let Some(odd) = path.chars().find(|c| !c.is_ascii_graphic()) {
        let shown = odd.escape_default();
        let complaint = Complaint::new(format!("a path cannot contain `{shown}`"));
        return Err(complaint.help("percent-encode it: a space is %20"));
    }
    if path.contains('#') {
        let complaint = Complaint::new("a fragment is never sent to a server");
        return Err(complaint.help("remove `#` and what follows, or write %23"));
    }
    Ok(path.to_owned())
}

/// Reads `Name: value`; says nothing yet of whether the header can be set.
pub fn split_header(line: &str) -> Result<(&str, &str), Complaint> {
    let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    parts.ok_or_else(|| {
        Complaint::new(format!("`{}` is not a header", line.trim())).help("write 'Name: value'")
    })
}

/// Checks that a header can be sent as it is written.
pub fn check_header(name: &str, value: &str) -> Result<(), Complaint> {
    if !is_token(name) {
        return Err(
            Complaint::new(format!("`{name}` is not a header name")).help("write letters, digits and `-`")
        );
    }
    if value.chars().any(|c| c.is_control() && c != '\t') {
        let message = format!("the value of the header {name} contains a line break");
        return Err(Complaint::new(message).help("write it on one line"));
    }
    Ok(())
}

/// Checks that a header is not one of those that the engine sets.
pub fn check_not_own(name: &str) -> Result<(), Complaint> {
    if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(Complaint::new(format!("the header {name} is set by loadline"))
            .help("leave it out: it follows from the connection or the body"));
    }
    Ok(())
}

/// Reads a weight.
pub fn weight(text: &str) -> Result<u32, Complaint> {
    let count = parse_count(text, "a weight", 1, 1_000_000)?;
    u32::try_from(count).map_err(|_| Complaint::new("the weight is too large"))
}

/// A token as RFC 9110, 5.6.2 has it.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_read_with_or_without_weight_and_method() {
        for (text, weight, method, path) in [
            ("/", 1, None, "/"),
            ("GET /a?b=c", 1, Some("GET"), "/a?b=c"),
            (" 3 POST  /a ", 3, Some("POST"), "/a"),
            ("20 /a", 20, None, "/a"),
        ] {
            let expected = RequestLine { weight, method: method.map(str::to_owned), path: path.to_owned() };
            assert_eq!(request_line(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_as_a_request() {
        for text in
            ["", "GET", "get /", "0 GET /", "GET a", "GET /a b", "3", "-1 GET /", "CONNECT /", "GET /#a"]
        {
            assert!(request_line(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_header_is_split_at_its_first_colon() {
        assert_eq!(split_header("Location: http://x"), Ok(("Location", "http://x")));
        assert_eq!(split_header("Empty:"), Ok(("Empty", "")));
        assert!(split_header("no colon").is_err());
        assert!(check_header("a b", "c").is_err());
        assert!(check_header("a", "b\r\nc: d").is_err());
        assert!(check_not_own("Content-Length").is_err());
        assert!(check_not_own("Accept").is_ok() && check_not_own("Host").is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}") {
            let _ = request_line(&text);
            let _ = split_header(&text).and_then(|(name, value)| check_header(name, value));
        }
    }
}
