//! The result of a load as JSON, and the schema that describes it. `docs/load.schema.json` is kept equal to the latter.

use std::io::Write;

use loadline_model::result::load::LoadResult;

use crate::ReportError;
use crate::words::word;

/// The whole result with every histogram in full, indented, ending with a line break.
///
/// # Errors
/// When `out` does not take it.
pub fn json(result: &LoadResult, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut result = result.clone();
    for doubt in &mut result.trust.doubts {
        doubt.accusation.iter_mut().for_each(word);
        word(&mut doubt.text);
        word(&mut doubt.remedy);
    }
    serde_json::to_writer_pretty(&mut *out, &result)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// The JSON Schema (draft 2020-12) of what [`json`] writes.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(LoadResult).to_value()
}
