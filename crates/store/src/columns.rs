//! What SQLite has no type for: JSON, ids and histograms in columns.

use loadline_model::{CellId, RunState, SiteId, SparseHistogram};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A column of JSON text; a missing value reads as JSON's `null`.
struct Json<T>(T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str_or_null()?.unwrap_or("null");
        serde_json::from_str(text).map(Json).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A column with an encoded histogram.
struct Times(SparseHistogram);

impl FromSql for Times {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let histogram = SparseHistogram::decode(value.as_blob()?);
        histogram.map(Times).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A column with the name of a state.
struct State(RunState);

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        let state = RunState::ALL.into_iter().find(|state| state.name() == name);
        state.map(State).ok_or(FromSqlError::InvalidType)
    }
}

/// JSON text for a column.
pub fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Only maps with non-string keys, or a failing Serialize, could fail here; the rows have neither.
    serde_json::to_string(value).expect("rows serialise")
}

pub fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    row.get(column).map(|Json(value)| value)
}

pub fn times(row: &Row<'_>, column: &str) -> rusqlite::Result<SparseHistogram> {
    row.get(column).map(|Times(histogram)| histogram)
}

pub fn state(row: &Row<'_>) -> rusqlite::Result<RunState> {
    row.get("state").map(|State(state)| state)
}

pub fn site(row: &Row<'_>) -> rusqlite::Result<SiteId> {
    row.get("site").map(SiteId)
}

pub fn cell(row: &Row<'_>) -> rusqlite::Result<CellId> {
    row.get("cell").map(CellId)
}
