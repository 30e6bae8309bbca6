//! Numbers in addresses, of runs and jobs: what is none names nothing that is there.

use axum::extract::{FromRequestParts, Path};
use axum::http::request;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::failure::Failure;

/// The number of a run in an address.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Number {
    /// The run's number in the store.
    pub id: i64,
}

/// The number of a job in an address.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct JobNumber {
    /// The job's number in the queue.
    pub job: u64,
}

/// Numbers of runs: `2,3`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Numbers(pub Vec<i64>);

impl TryFrom<String> for Numbers {
    type Error = String;

    fn try_from(text: String) -> Result<Numbers, String> {
        let number = |number: &str| {
            number
                .trim()
                .parse()
                .map_err(|_| format!("runs are numbers with commas between them, not '{text}'"))
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Numbers)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Number {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut request::Parts, state: &S) -> Result<Number, Failure> {
        number(parts, state, "run").await.map(|id| Number { id })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for JobNumber {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut request::Parts, state: &S) -> Result<JobNumber, Failure> {
        number(parts, state, "job").await.map(|job| JobNumber { job })
    }
}

async fn number<N: std::str::FromStr, S: Send + Sync>(
    parts: &mut request::Parts,
    state: &S,
    of: &str,
) -> Result<N, Failure> {
    let text: Result<Path<String>, _> = Path::from_request_parts(parts, state).await;
    let number = text.ok().and_then(|Path(text)| text.parse().ok());
    number.ok_or_else(|| Failure::not_found(format!("the number of a {of} is a whole number")))
}
