//! What to send and what to expect of the answers, from the flags.

use std::path::Path;

use loadline_engine::{Endpoint, Expectation, Feed, Mix, MixOptions, Request, Wire};
use loadline_spec::Complaint;
use loadline_spec::http::{check_header, check_not_own, method, request_line, split_header};
use loadline_spec::url::HttpUrl;

use super::reader::{Reader, complaint};
use crate::arguments::{Format, LoadArguments};

/// wrk counts a response as failed from status 400 on.
const SUCCESS_OF_WRK: &str = "status=200..399";

/// Methods whose requests get the body, where several requests share one.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// Reads the requests. Only the endpoint's authority and scheme matter here.
pub fn mix(
    arguments: &LoadArguments,
    url: &HttpUrl,
    endpoint: &Endpoint,
    wire: Wire,
    reader: &mut Reader,
) -> Option<Mix> {
    let requests = requests(arguments, url, reader);
    let feed = match &arguments.feed {
        Some(path) => Some(reader.file("--feed", path, Feed::read)?),
        None => None,
    };
    let requests = requests?;
    // Which flag a request came from is said by its name in the complaint.
    let flag = if arguments.request.is_empty() { "URL" } else { "--request" };
    let shown =
        if arguments.request.is_empty() { arguments.url.clone() } else { arguments.request.join(" ") };
    reader
        .read(flag, &shown, |_| Mix::with(&requests, endpoint, &MixOptions { wire, feed }).map_err(complaint))
}

/// Reads what is expected of a response.
pub fn expectation(arguments: &LoadArguments, reader: &mut Reader) -> Option<Expectation> {
    if arguments.expect.is_empty() && arguments.format == Format::Wrk {
        return Expectation::parse([SUCCESS_OF_WRK]).ok();
    }
    let mut is_fine = true;
    for text in &arguments.expect {
        is_fine &=
            reader.read("--expect", text, |text| Expectation::parse([text]).map_err(complaint)).is_some();
    }
    if is_fine { Expectation::parse(&arguments.expect).ok() } else { None }
}

fn requests(arguments: &LoadArguments, url: &HttpUrl, reader: &mut Reader) -> Option<Vec<Request>> {
    let headers = headers(&arguments.header, reader);
    let body = body(arguments, reader);
    let method = reader.read_if_given("--method", arguments.method.as_ref(), method);
    if arguments.request.is_empty() {
        let (headers, body) = (headers?, body?);
        let method = method?.unwrap_or_else(|| if body.is_empty() { "GET" } else { "POST" }.to_owned());
        return Some(vec![Request { method, path: url.path.clone(), headers, body, weight: 1 }]);
    }
    if url.path != "/" {
        let both = Complaint::new("the URL has a path, and so have the requests");
        reader.refuse("--request", &arguments.request[0], both.help("end the URL with its host and port"));
    }
    let mut lines = Vec::with_capacity(arguments.request.len());
    for text in &arguments.request {
        lines.push(reader.read("--request", text, request_line));
    }
    let (lines, headers, body) = (lines.into_iter().collect::<Option<Vec<_>>>()?, headers?, body?);
    let request = |line: loadline_spec::http::RequestLine| {
        let method = line.method.unwrap_or_else(|| "GET".to_owned());
        let body = if WITH_BODY.contains(&method.as_str()) { body.clone() } else { Vec::new() };
        Request { method, path: line.path, headers: headers.clone(), body, weight: line.weight }
    };
    Some(lines.into_iter().map(request).collect())
}

fn headers(lines: &[String], reader: &mut Reader) -> Option<Vec<(String, String)>> {
    let mut headers = Vec::with_capacity(lines.len());
    for line in lines {
        headers.push(reader.read("--header", line, header));
    }
    headers.into_iter().collect()
}

fn header(line: &str) -> Result<(String, String), Complaint> {
    let (name, value) = split_header(line)?;
    check_header(name, value)?;
    // These two are the user's to set: a name of the service's own, and what scripts for wrk say of the connection.
    if !["host", "connection"].iter().any(|allowed| name.eq_ignore_ascii_case(allowed)) {
        check_not_own(name)?;
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn body(arguments: &LoadArguments, reader: &mut Reader) -> Option<Vec<u8>> {
    match (&arguments.body, &arguments.body_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(path)) => {
            let read = |path: &Path| {
                std::fs::read(path).map_err(|error| format!("can't read {}: {error}", path.display()))
            };
            reader.file("--body-file", path, read)
        }
        (None, None) => Some(Vec::new()),
    }
}
