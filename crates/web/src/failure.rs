//! What an answer says when there is none: a status, and a sentence that names the remedy.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loadline_report::ReportError;
use loadline_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::program::NoHistory;

/// A refusal.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    sentence: String,
}

/// Why not.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// What is wrong, and what to do; as the command line says it.
    error: String,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Failure {
        Failure { status, sentence: sentence.into() }
    }

    pub(crate) fn not_found(sentence: impl Into<String>) -> Failure {
        Failure::new(StatusCode::NOT_FOUND, sentence)
    }

    /// For what was asked for and cannot be: an experiment with a mistake.
    pub(crate) fn unprocessable(sentence: impl Into<String>) -> Failure {
        Failure::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
    }

    pub(crate) fn internal(sentence: impl Into<String>) -> Failure {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn sentence(&self) -> &str {
        &self.sentence
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match error {
            StoreError::NoRun { .. } => Failure::not_found(error.to_string()),
            StoreError::NoName(_) => Failure::unprocessable(error.to_string()),
            _ => Failure::internal(error.to_string()),
        }
    }
}

impl From<NoHistory> for Failure {
    fn from(error: NoHistory) -> Failure {
        match error {
            NoHistory::Metric(why) => Failure::unprocessable(why),
            NoHistory::Store(error) => error.into(),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        Failure::internal(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(Refusal { error: self.sentence })).into_response()
    }
}
