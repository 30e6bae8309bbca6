//! The result as JSON, and the schema that describes it. `docs/result.schema.json` is kept equal to the latter.

use std::io::Write;

use loadline_model::result::RunResult;

use crate::ReportError;
use crate::words::worded;

/// The whole result model, indented, ending with a line break.
///
/// # Errors
/// When `out` does not take it.
pub fn json(result: &RunResult, out: &mut dyn Write) -> Result<(), ReportError> {
    serde_json::to_writer_pretty(&mut *out, &worded(result))?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// The JSON Schema (draft 2020-12) of what [`json`] writes.
pub fn result_schema() -> serde_json::Value {
    schemars::schema_for!(RunResult).to_value()
}
