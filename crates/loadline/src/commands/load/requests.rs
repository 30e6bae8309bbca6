//! What to send and what to expect of the answers, from the flags.

use std::path::Path;

use loadline_engine::{FileContents, Request, ResponseCheck, Traffic};
use loadline_spec::Complaint;
use loadline_spec::http::{WITH_BODY, check_header, check_not_own, method, request_line, split_header};
use loadline_spec::url::HttpUrl;

use super::reader::{Reader, complaint};
use crate::arguments::{Format, LoadArguments};

/// wrk counts a response as failed from status 400 on.
const SUCCESS_OF_WRK: ResponseCheck = ResponseCheck::Status { from: 200, to: 399 };

/// Reads the requests and what is expected of their responses. Whether TLS is spoken is not said yet.
pub fn traffic(arguments: &LoadArguments, url: &HttpUrl, reader: &mut Reader) -> Option<Traffic> {
    let requests = requests(arguments, url, reader);
    let feed = match &arguments.feed {
        Some(path) => Some(reader.file("--feed", path, contents)?),
        None => None,
    };
    let expect = expectation(arguments, reader);
    Some(Traffic { feed, expect: expect?, ..Traffic::of(requests?) })
}

fn contents(path: &Path) -> Result<FileContents, String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(FileContents { path: path.to_owned(), bytes: bytes.into() }),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

fn expectation(arguments: &LoadArguments, reader: &mut Reader) -> Option<Vec<ResponseCheck>> {
    if arguments.expect.is_empty() && arguments.format == Format::Wrk {
        return Some(vec![SUCCESS_OF_WRK]);
    }
    let mut checks = Vec::with_capacity(arguments.expect.len());
    for text in &arguments.expect {
        checks.push(reader.read("--expect", text, |text| text.parse().map_err(complaint)));
    }
    checks.into_iter().collect()
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
    // What scripts for wrk say of the connection is theirs to say.
    if !name.eq_ignore_ascii_case("connection") {
        check_not_own(name)?;
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn body(arguments: &LoadArguments, reader: &mut Reader) -> Option<Vec<u8>> {
    match (&arguments.body, &arguments.body_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(path)) => {
            let read = |path: &Path| {
                std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
            };
            reader.file("--body-file", path, read)
        }
        (None, None) => Some(Vec::new()),
    }
}
