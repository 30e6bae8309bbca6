//! An examination as JSON, and the schema that describes it. `docs/doctor.schema.json` is kept equal to the latter.

use std::io::Write;

use loadline_model::result::doctor::DoctorResult;

use crate::ReportError;
use crate::words::word;

/// The whole result, indented, ending with a line break.
///
/// # Errors
/// When `out` does not take it.
pub fn json(result: &DoctorResult, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut result = result.clone();
    for advice in &mut result.advice {
        word(&mut advice.seen);
        word(&mut advice.change);
        word(&mut advice.why);
    }
    result.left_out.iter_mut().for_each(word);
    serde_json::to_writer_pretty(&mut *out, &result)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// The JSON Schema (draft 2020-12) of what [`json`] writes.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(DoctorResult).to_value()
}
