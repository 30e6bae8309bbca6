//! The request mix: requests on one line or in their parts, each checked by the rules of [`http`].

use super::services::DefaultPaths;
use crate::RequestSpec;
use crate::draft::{Located, RequestDraft, RequestFields, Text};
use crate::error::{Complaint, Problems};
use crate::http;

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
    RequestSpec { method: get_method(), path, headers: Vec::new(), body: None, weight: 1 }
}

fn line_of(text: &str) -> Result<RequestSpec, Complaint> {
    let line = http::request_line(text)?;
    Ok(RequestSpec { method: line.method.unwrap_or_else(get_method), weight: line.weight, ..get(line.path) })
}

fn get_method() -> String {
    "GET".to_owned()
}

fn request_of(fields: &RequestFields, problems: &mut Problems) -> Option<RequestSpec> {
    let before = problems.count();
    let method = fields.method.as_ref().and_then(|text| text.read(problems, http::method));
    let weight = fields.weight.as_ref().and_then(|text| text.read(problems, http::weight));
    let path = fields.path.as_ref().and_then(|text| text.read(problems, http::path));
    let headers = headers(fields.headers.as_deref().unwrap_or_default(), problems);
    if fields.path.is_none() {
        problems.add(&fields.place, Complaint::new("a request without its path").help("write `path: /`"));
    }
    let request = RequestSpec {
        method: method.unwrap_or_else(get_method),
        path: path?,
        headers,
        body: fields.body.as_ref().map(|body| body.value.clone()),
        weight: weight.unwrap_or(1),
    };
    (problems.count() == before).then_some(request)
}

fn headers(draft: &[(Text, Text)], problems: &mut Problems) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, value) in draft {
        let checked_name =
            http::check_header(&name.value, "").and_then(|()| http::check_not_own(&name.value));
        let is_fine = problems.note(&name.place, checked_name).is_some()
            && problems.note(&value.place, http::check_header(&name.value, &value.value)).is_some();
        if is_fine {
            headers.push((name.value.clone(), value.value.trim().to_owned()));
        }
    }
    headers
}
