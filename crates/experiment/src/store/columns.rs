//! What SQLite has no type for: JSON and histograms in columns.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RunState;

/// A column of JSON text; a missing value reads as JSON's `null`.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str_or_null()?.unwrap_or("null");
        serde_json::from_str(text).map(Json).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A column that holds a histogram in [`encode`]'s form.
pub struct Times(pub Histogram<u64>);

impl FromSql for Times {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut value.as_blob()?)
            .map_err(|error| FromSqlError::Other(Box::new(error)))?;
        let ours = loadline_engine::new_histogram();
        let bounds = |histogram: &Histogram<u64>| (histogram.low(), histogram.high(), histogram.sigfig());
        if bounds(&histogram) != bounds(&ours) {
            return Err(FromSqlError::Other("a histogram with other bounds than loadline's".into()));
        }
        Ok(Times(histogram))
    }
}

impl FromSql for RunState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        RunState::ALL.into_iter().find(|state| state.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for RunState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

/// JSON text for a column.
pub fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Only maps with keys that are no strings, or a failing Serialize, could fail here; the rows have neither.
    serde_json::to_string(value).expect("rows serialise")
}

/// HdrHistogram's V2 encoding, uncompressed: runs of zero counts are short in it already.
pub fn encode(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The only errors are those of the writer, and a Vec has none, and of counts beyond 63 bits.
    V2Serializer::new().serialize(histogram, &mut bytes).expect("histograms serialise to memory");
    bytes
}
