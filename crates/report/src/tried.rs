//! Requests that were sent once, with what came back, as text.

use loadline_model::{Tried, TriedRequest, printable};

use crate::figures::time;

/// Each service on each platform, with its requests and responses.
pub fn tried(all: &[Tried]) -> String {
    let mut text = String::new();
    for tried in all {
        let Tried { service, platform, requests } = tried;
        for request in requests {
            text.push_str(&format!(
                "{} on {}: {}\n\n",
                printable(service),
                printable(platform),
                outcome(request)
            ));
            text.push_str(&message(&request.sent, '>'));
            text.push('\n');
            text.push_str(&message(&request.received, '<'));
            if request.left_out_bytes > 0 {
                text.push_str(&format!("… and {} bytes more\n", request.left_out_bytes));
            }
            text.push('\n');
        }
    }
    text
}

/// The head with a mark before each line, the body as it is.
fn message(text: &str, mark: char) -> String {
    // HTTP/1.1 ends its lines with a CR as well; a body may hold either.
    let ends = ["\r\n\r\n", "\n\n"].into_iter().filter_map(|end| text.split_once(end));
    let (head, body) =
        ends.min_by_key(|(head, _)| head.len()).unwrap_or((text.trim_end_matches(['\r', '\n']), ""));
    let mut shown: String = head.lines().map(|line| format!("{mark} {}\n", printable(line))).collect();
    if !body.is_empty() {
        shown.push('\n');
        shown.push_str(&printable(body));
        if !body.ends_with('\n') {
            shown.push('\n');
        }
    }
    shown
}

fn outcome(request: &TriedRequest) -> String {
    let came = request.status.map(|status| format!("{status} after {}", time(request.took_ns as f64)));
    match (came, &request.problem) {
        (Some(came), None) => format!("{came}, as expected"),
        (Some(came), Some(problem)) => format!("{came}: {}", printable(problem)),
        (None, problem) => printable(problem.as_deref().unwrap_or("no response")).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(received: &str, status: Option<u16>, problem: Option<&str>) -> TriedRequest {
        TriedRequest {
            sent: "GET /api/orders HTTP/1.1\r\nhost: 127.0.0.1:8080\r\n\r\n".to_owned(),
            received: received.to_owned(),
            left_out_bytes: 0,
            took_ns: 412_000,
            status,
            problem: problem.map(str::to_owned),
        }
    }

    fn shown(requests: Vec<TriedRequest>) -> String {
        tried(&[Tried { service: "orders".to_owned(), platform: "host".to_owned(), requests }])
    }

    #[test]
    fn heads_are_marked_and_bodies_are_not() {
        let text = shown(vec![request(
            "HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"orders\": []}",
            Some(200),
            None,
        )]);
        let expected = "orders on host: 200 after 412 µs, as expected\n\n\
            > GET /api/orders HTTP/1.1\n> host: 127.0.0.1:8080\n\n\
            < HTTP/1.1 200 OK\n< content-length: 14\n\n{\"orders\": []}\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_not_as_expected_is_said_first_and_nothing_raw_is_shown() {
        let refused = request(
            "HTTP/1.1 404 \u{1b}[31m\r\n\r\n",
            Some(404),
            Some("the status 404 is not what is expected"),
        );
        let text = shown(vec![refused]);
        assert!(
            text.starts_with("orders on host: 404 after 412 µs: the status 404 is not what is expected\n"),
            "{text}"
        );
        assert!(text.contains("< HTTP/1.1 404 \\u{1b}[31m\n") && !text.contains('\u{1b}'), "{text}");
        let silent = shown(vec![request("", None, Some("no complete response within 10s"))]);
        assert!(silent.starts_with("orders on host: no complete response within 10s\n"), "{silent}");
    }
}
