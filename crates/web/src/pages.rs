//! The pages that are not reports: an empty one, which the app fills from the API, by the path that it finds itself at; and what a browser is
//! told instead of a report that there is not.

use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, html};

use crate::failure::Failure;

const SHELL: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>loadline</title>
<link rel="stylesheet" href="/app.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="app"><noscript><main><p>These pages need JavaScript; reports, at /runs/1, do not.</p></main></noscript></div>
<script src="/app.js"></script>
</body>
</html>
"#;
const SCRIPT: &str = include_str!("../../../ui/dist/app.js");
const STYLE: &str = include_str!("../../../ui/dist/app.css");

pub(crate) async fn shell() -> Html<&'static str> {
    Html(SHELL)
}

pub(crate) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

pub(crate) async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

/// A refusal, where a page was asked for.
pub(crate) struct NoReport(Failure);

impl From<Failure> for NoReport {
    fn from(failure: Failure) -> NoReport {
        NoReport(failure)
    }
}

impl IntoResponse for NoReport {
    fn into_response(self) -> Response {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "loadline: no report" }
                    link rel="stylesheet" href="/app.css";
                    link rel="icon" href="data:,";
                }
                body {
                    main {
                        h1 { "No report" }
                        pre.alert role="alert" tabindex="0" { (self.0.sentence()) }
                        p { a href="/" { "All runs" } }
                    }
                }
            }
        };
        (self.0.status(), Html(page.into_string())).into_response()
    }
}
