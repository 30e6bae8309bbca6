//! The pages that are not reports: an empty one, which the app fills from the API, by the path that it finds itself at.

use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse};

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
