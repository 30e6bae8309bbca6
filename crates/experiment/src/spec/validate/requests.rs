//! The request mix: methods, paths, headers and weights that HTTP/1.1 can carry (RFC 9110, RFC 9112).

use super::services::DefaultPaths;
use crate::spec::RequestSpec;
use crate::spec::draft::{Located, RequestDraft, RequestFields, Text};
use crate::spec::error::{Complaint, Problems, suggestion};
use crate::spec::units::parse_count;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Headers that follow from the connection, the address or the body; the engine sets them.
const OWN_HEADERS: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "te", "upgrade"];

/// The mix; without a draft one GET of the default path.
pub(super) fn requests(
    draft: Option<&Located<Vec<RequestDraft>>>,
    defaults: &DefaultPaths,
    problems: &mut Problems,
) -> Vec<RequestSpec> {
    let Some(draft) = draft else { return vec![get(defaults.request.to_owned())] };
    if draft.value.is_empty() {
        let help = "write one, as in `GET /`, or leave the key out";
        problems.add(&draft.place, Complaint::new("the list of requests is empty").help(help));
    }
    draft
        .value
        .iter()
        .filter_map(|request| match request {
            RequestDraft::Line(line) => line.read(problems, line_of),
            RequestDraft::Fields(fields) => request_of(fields, problems),
        })
        .collect()
}

fn get(path: String) -> RequestSpec {
    RequestSpec { method: "GET".to_owned(), path, headers: Vec::new(), body: None, weight: 1 }
}

/// Reads `GET /path`, or the path alone.
fn line_of(text: &str) -> Result<RequestSpec, Complaint> {
    let text = text.trim();
    if text.starts_with('/') {
        return Ok(get(path(text)?));
    }
    let Some((first, rest)) = text.split_once(char::is_whitespace) else {
        let complaint = Complaint::new(format!("`{text}` is not a request"));
        return Err(complaint.help("write `GET /path`, a path starts with `/`"));
    };
    Ok(RequestSpec { method: method(first)?, ..get(path(rest)?) })
}

fn request_of(fields: &RequestFields, problems: &mut Problems) -> Option<RequestSpec> {
    let before = problems.count();
    let method = fields.method.as_ref().and_then(|text| text.read(problems, method));
    let weight = fields.weight.as_ref().and_then(|text| text.read(problems, weight));
    let path = fields.path.as_ref().and_then(|text| text.read(problems, path));
    let headers = headers(fields.headers.as_deref().unwrap_or_default(), problems);
    if fields.path.is_none() {
        problems.add(&fields.place, Complaint::new("a request without its path").help("write `path: /`"));
    }
    let request = RequestSpec {
        method: method.unwrap_or_else(|| "GET".to_owned()),
        path: path?,
        headers,
        body: fields.body.as_ref().map(|body| body.value.clone()),
        weight: weight.unwrap_or(1),
    };
    (problems.count() == before).then_some(request)
}

/// A token as RFC 9110, 5.6.2 has it.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn method(text: &str) -> Result<String, Complaint> {
    let text = text.trim();
    if !is_token(text) {
        return Err(
            Complaint::new(format!("`{text}` is not a method")).help("write GET, POST or another method")
        );
    }
    if text == "CONNECT" {
        return Err(Complaint::new("CONNECT makes a tunnel, not a request").help("use another method"));
    }
    if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        let complaint = Complaint::new(format!("`{text}` is not a method: they are written in capitals"));
        return Err(complaint.help(suggestion(text, &METHODS)));
    }
    Ok(text.to_owned())
}

/// Reads a path with its query, also that of `ready`.
pub(super) fn path(text: &str) -> Result<String, Complaint> {
    let path = text.trim();
    if !path.starts_with('/') {
        let message = format!("the path `{path}` doesn't start with a slash");
        return Err(Complaint::new(message).help(format!("write /{path}")));
    }
    if let Some(odd) = path.chars().find(|c| !c.is_ascii_graphic()) {
        let shown = odd.escape_default();
        let complaint = Complaint::new(format!("a path can't hold `{shown}`"));
        return Err(complaint.help("percent-encode it: a space is %20"));
    }
    if path.contains('#') {
        let complaint = Complaint::new("a fragment is never sent to a server");
        return Err(complaint.help("remove `#` and what follows, or write %23"));
    }
    Ok(path.to_owned())
}

fn headers(draft: &[(Text, Text)], problems: &mut Problems) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, value) in draft {
        let complaint = if !is_token(&name.value) {
            Complaint::new(format!("`{}` is not a header's name", name.value))
                .help("write letters, digits and `-`")
        } else if OWN_HEADERS.contains(&name.value.to_ascii_lowercase().as_str()) {
            let message = format!("the header {} is set by loadline", name.value);
            Complaint::new(message)
                .help("leave it out: it follows from the address, the connection or the body")
        } else if value.value.chars().any(|c| c.is_control() && c != '\t') {
            let message = format!("the value of the header {} holds a line break", name.value);
            Complaint::new(message).help("write it on one line")
        } else {
            headers.push((name.value.clone(), value.value.trim().to_owned()));
            continue;
        };
        let place =
            if is_token(&name.value) && value.value.contains(char::is_control) { value } else { name };
        problems.add(&place.place, complaint);
    }
    headers
}

fn weight(text: &str) -> Result<u32, Complaint> {
    let count = parse_count(text, "a weight", 1, 1_000_000)?;
    u32::try_from(count).map_err(|_| Complaint::new("the weight is too large"))
}
