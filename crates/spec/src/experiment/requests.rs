//! The request mix: requests on one line or in their parts, each checked by the rules of [`http`].

use serde_json::json;

use crate::RequestSpec;
use crate::error::{Complaint, Place, Problems};
use crate::http;
use crate::kinds::{List, Pairs, Scalar, Short, parsed, text};
use crate::node::Text;
use crate::options::{Table, Written};

/// The method of a request that names none.
const GET: &str = "GET";

/// What is written of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestKeys(pub RequestSpec);

impl Default for RequestKeys {
    fn default() -> RequestKeys {
        RequestKeys(get(""))
    }
}

/// One GET of a path.
pub(super) fn get(path: &str) -> RequestSpec {
    RequestSpec { method: GET.to_owned(), path: path.to_owned(), headers: Vec::new(), body: None, weight: 1 }
}

pub(super) fn kind() -> List<Short<RequestKeys>> {
    let element = Short {
        definition: "Request",
        description: "One request of the mix: `GET /path`, or its parts.",
        line_schema: json!({ "type": "string", "pattern": r"^([A-Z]+\s+)?/" }),
        read: |text, problems| text.read(problems, line).map(RequestKeys),
        write: written_line,
        table: table(),
    };
    List { element, needs_one: true }
}

fn table() -> Table<RequestKeys> {
    let weight = Scalar::new(
        http::weight,
        u32::to_string,
        json!({ "type": "integer", "format": "uint32", "minimum": 1 }),
    );
    Table::<RequestKeys>::new("RequestFields", "request", "A request in its parts")
        .key("method", parsed(http::method), "The method", |request| &mut request.0.method)
        .key("path", parsed(http::path), "Path and query, beginning with `/`", |request| &mut request.0.path)
        .required("write `path: /`")
        .key(
            "headers",
            Pairs(header),
            "Header names and values. Content-Length and the like are set by loadline",
            |request| &mut request.0.headers,
        )
        .key("body", text(), "The body, sent with its length", |request| &mut request.0.body)
        .key("weight", weight, "Share of the mix relative to the other requests", |request| {
            &mut request.0.weight
        })
}

fn line(text: &str) -> Result<RequestSpec, Complaint> {
    let line = http::request_line(text)?;
    let method = line.method.unwrap_or_else(|| GET.to_owned());
    Ok(RequestSpec { method, weight: line.weight, ..get(&line.path) })
}

/// A request on one line, if it has neither headers nor body.
fn written_line(RequestKeys(request): &RequestKeys) -> Option<String> {
    let RequestSpec { method, path, headers, body, weight } = request;
    let weight = if *weight == 1 { String::new() } else { format!("{weight} ") };
    (headers.is_empty() && body.is_none()).then(|| format!("{weight}{method} {path}"))
}

/// The request where none is written.
pub(super) fn default(path: &str, has_body: bool) -> RequestSpec {
    let method = if has_body { "POST" } else { GET };
    RequestSpec { method: method.to_owned(), ..get(path) }
}

/// A request with what all of its service have in common, where it has nothing of its own.
pub(super) fn with_common(
    mut request: RequestSpec,
    headers: &[(String, String)],
    body: Option<&str>,
) -> RequestSpec {
    let own = std::mem::take(&mut request.headers);
    let is_own = |name: &str| own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    request.headers = headers.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
    request.headers.extend(own);
    if request.body.is_none() && http::WITH_BODY.contains(&request.method.as_str()) {
        request.body = body.map(str::to_owned);
    }
    request
}

pub(super) fn header(name: &Text, value: &Text, problems: &mut Problems) -> Option<(String, String)> {
    let checked_name = http::check_header(&name.value, "").and_then(|()| http::check_not_own(&name.value));
    problems.note(&name.place, checked_name)?;
    problems.note(&value.place, http::check_header(&name.value, &value.value))?;
    Some((name.value.clone(), value.value.trim().to_owned()))
}

/// The mix; one default request if nothing is written.
pub(super) fn requests(
    written: Option<&[Written<RequestKeys>]>,
    default: &RequestSpec,
    place: &Place,
    problems: &mut Problems,
) -> Vec<RequestSpec> {
    let Some(written) = written else { return vec![default.clone()] };
    if written.is_empty() {
        let help = "write one, as in `GET /`, or leave the key out";
        problems.add(place, Complaint::new("the list of requests is empty").help(help));
    }
    written.iter().map(|request| request.value.0.clone()).collect()
}
